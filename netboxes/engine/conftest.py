# SPDX-License-Identifier: GPL-2.0-or-later
from collections.abc import Iterator

import pytest

from tests.two_hosts import Lab, two_hosts


@pytest.fixture
def lab() -> Iterator[Lab]:
    with two_hosts() as hosts:
        yield hosts
