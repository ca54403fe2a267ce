# SPDX-License-Identifier: GPL-2.0-or-later
"""Which Dask cluster makes the runs of a campaign, and by which certificates it is reached."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from contracts.errors import WrongInput, printable

_EXAMPLE: Final = "tls://192.0.2.1:8786"


class BadScheduler(WrongInput):
    """No scheduler can be asked as the command line says."""


@dataclass(frozen=True)
class Cluster:
    """A scheduler's address, and PEM files. Those that are None are as Dask's own settings say."""

    scheduler: str
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def security(self) -> Any:
        """A `distributed.Security`. None: without TLS, which never leaves this machine. Raises BadScheduler.

        Peers of a Dask cluster execute whatever they send each other. So a peer has to have a certificate of the cluster's CA.
        """
        scheme, host = self._parts()
        named = {"--tls-ca-file": self.ca_file, "--tls-cert": self.certificate, "--tls-key": self.key}
        if scheme == "tcp":
            if not _is_loopback(host):
                raise BadScheduler(
                    f"{self.scheduler} is reached without TLS, so whoever is in between could have this machine execute "
                    f"anything; start the scheduler with TLS (docs/campaigns.md) and write tls://{host}:…"
                )
            if given := [option for option, file in named.items() if file is not None]:
                raise BadScheduler(f"{given[0]} is for TLS, and {self.scheduler} is reached without; write tls://…")
            return None
        from distributed import security

        # It has no types of its own.
        new = cast("Callable[..., Any]", security.Security)
        of_dask = new(require_encryption=True)
        ca = self.ca_file or of_dask.tls_ca_file
        certificate = self.certificate or of_dask.tls_client_cert
        # Dask takes a key that stands in the file of the certificate, too.
        key = self.key or (None if self.certificate else of_dask.tls_client_key)
        for option, file in (("--tls-ca-file", ca), ("--tls-cert", certificate)):
            if file is None:
                raise BadScheduler(
                    f"{self.scheduler} wants certificates, and {option} is missing: give --tls-ca-file, --tls-cert and "
                    "--tls-key, or say them in Dask's own settings (distributed.comm.tls)"
                )
        for file in filter(None, (ca, certificate, key)):
            try:
                Path(file).read_bytes()
            except OSError as error:
                raise BadScheduler(f"{printable(str(file))} cannot be read: {error.strerror}") from error
        return new(
            require_encryption=True,
            tls_ca_file=str(ca),
            tls_client_cert=str(certificate),
            tls_client_key=None if key is None else str(key),
        )

    def _parts(self) -> tuple[str, str]:
        """Scheme and host."""
        try:
            parts = urlsplit(self.scheduler)
            port = parts.port
        except ValueError:
            port = None
        if (
            port is None
            or parts.scheme not in ("tls", "tcp")
            or not parts.hostname
            or parts.path
            or parts.query
            or parts.username
        ):
            raise BadScheduler(f"{printable(self.scheduler)} is not the address of a scheduler; write {_EXAMPLE}")
        return parts.scheme, parts.hostname


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
