# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/performance.md: those of one bench, or of several, the first and what was measured again after it.

python -m bench.document results/bench/….md…     puts them there
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from contracts.installation import CHECKOUT

DOCUMENT = CHECKOUT / "docs/performance.md"
_PLACE = re.compile(r"(?<=<!-- bench -->\n).*?(?=<!-- end -->)", re.DOTALL)


def with_tables(document: str, tables: str) -> str:
    """The document with these tables in the place of those that it had. Raises ValueError when it has no such place."""
    if not _PLACE.search(document):
        raise ValueError("the document has no lines <!-- bench --> and <!-- end -->, between which the tables go")
    return _PLACE.sub(lambda _: f"\n{tables.strip()}\n\n", document, count=1)


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(), "\n\n".join(Path(file).read_text().strip() for file in sys.argv[1:])))
