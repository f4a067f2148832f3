"""A store on a PostgreSQL server, as far as this version knows one: does the server answer?"""

import socket
import struct
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, unquote

from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.setup.doctor import Patient
from schemory.storage.keeping import Finding, Inspection, Progress, Severity, unheard

_SCHEMES: Final = ("postgresql://", "postgres://")
_PATIENCE_SECONDS: Final = 3.0
_PORT: Final = 5432
_ASKS_FOR_TLS: Final = struct.pack("!ii", 8, 80877103)
"""The protocol's SSLRequest, which a PostgreSQL server answers before it knows who asks."""
_ANSWERS: Final = (b"S", b"N")
_OTHER_STORE: Final = "Give --db the path of a SQLite file."


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens; a host that starts with `/` is the folder of a Unix socket."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


class ServerStore:
    """A store that is named by a PostgreSQL URL; it can only be asked whether it answers.

    Args:
        url: With the password, which is neither shown nor sent.
        shown: The same without it, for people.
    """

    def __init__(self, url: str, shown: str) -> None:
        self._url = url
        self._shown = shown

    def inspect(self, progress: Progress = unheard) -> Inspection:
        """Ask every server that the URL names; nobody is logged in."""
        progress(0, None, "asking the database server")
        addresses = addresses_of(self._url)
        faults = {address: fault for address in addresses if (fault := _fault_of(address))}
        facts: dict[str, Json] = {
            "backend": "postgresql",
            "location": self._shown,
            "servers": [
                {"address": str(address), "answers": address not in faults} for address in addresses
            ],
        }
        findings = (self._unsupported(), *_unreachable(faults))
        exists = len(faults) < len(addresses)
        return Inspection(exists=exists, is_current=False, facts=facts, findings=findings)

    def _unsupported(self) -> Finding:
        return Finding(
            code="store.unsupported",
            severity=Severity.FATAL,
            what=f"this version stores in SQLite and JSONL files, not yet in {self._shown}",
            next_step=_OTHER_STORE,
        )

    def mend(self, findings: tuple[Finding, ...]) -> tuple[str, ...]:
        """Do nothing: a server is its operator's."""
        del findings
        return ()


def server_patients(url: str, *, shown: str) -> tuple[Patient, ...]:
    """Return the patient that a PostgreSQL URL names; none when it is another place."""
    if not url.startswith(_SCHEMES):
        return ()
    return (Patient(keeper=ServerStore(url, shown), read=lambda _progress: ()),)


def addresses_of(url: str) -> tuple[Address, ...]:
    """Return the servers that a PostgreSQL URL names, in its order; without one the local one.

    >>> [str(each) for each in addresses_of("postgresql://app:pw@db1,db2:6432/prod")]
    ['db1:5432', 'db2:6432']
    """
    rest = url.partition("://")[2]
    authority = rest
    for end in "/?#":
        authority = authority.partition(end)[0]
    query = dict(parse_qsl(rest.partition("?")[2].partition("#")[0]))
    named = query.get("host") or authority.rpartition("@")[2]
    ports = query.get("port", "").split(",")
    found = [_address(text) for text in named.split(",")]
    return tuple(
        Address(address.host, _port(ports[min(index, len(ports) - 1)], address.port))
        for index, address in enumerate(found)
    )


def _address(text: str) -> Address:
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        return Address(host, _port(port.lstrip(":"), _PORT))
    host, _, port = text.partition(":")
    return Address(unquote(host) or "localhost", _port(port, _PORT))


def _port(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and int(text) < 2**16 else default


def _fault_of(address: Address) -> str | None:
    """Return why a server cannot be used, None when it answers as PostgreSQL does."""
    try:
        with _connect(address) as server:
            server.settimeout(_PATIENCE_SECONDS)
            server.sendall(_ASKS_FOR_TLS)
            answer = server.recv(1)
    except TimeoutError:
        return "no answer"
    except OSError as fault:
        return (fault.strerror or "not reachable").lower()
    return None if answer in _ANSWERS else "what answers there is not PostgreSQL"


def _connect(address: Address) -> socket.socket:
    if not address.host.startswith("/"):
        return socket.create_connection((address.host, address.port), _PATIENCE_SECONDS)
    if not hasattr(socket, "AF_UNIX"):
        raise OSError(0, "this system has no Unix sockets")
    local = socket.socket(socket.AF_UNIX)
    local.settimeout(_PATIENCE_SECONDS)
    try:
        local.connect(f"{address.host}/.s.PGSQL.{address.port}")
    except BaseException:
        local.close()
        raise
    return local


def _unreachable(faults: dict[Address, str]) -> Iterator[Finding]:
    for address, fault in faults.items():
        yield Finding(
            code="store.unreachable",
            severity=Severity.FATAL,
            what=f"the database server {address} cannot be reached: {fault}",
            next_step="Start PostgreSQL there, or mend host, port, name service and firewall.",
        )
