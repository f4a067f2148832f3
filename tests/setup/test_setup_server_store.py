"""A store on a database server: what the doctor can say of it, against real sockets."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schemory.setup.server_store import ServerStore, addresses_of

SHOWN = "postgresql://app:***@somewhere/prod"


@contextmanager
def listening(answer: bytes, heard: list[bytes], family: int = socket.AF_INET) -> Iterator[str]:
    """Answer one caller on a loopback port with these bytes."""
    with socket.socket(family) as listener:
        listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        listener.listen()

        def serve() -> None:
            caller, _ = listener.accept()
            with caller:
                heard.append(caller.recv(64))
                caller.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield str(listener.getsockname()[1])
        thread.join()


def closed_port() -> int:
    with socket.socket() as once:
        once.bind(("127.0.0.1", 0))
        return int(once.getsockname()[1])


def codes(url: str) -> dict[str, str]:
    return {each.code: each.what for each in ServerStore(url, SHOWN).inspect().findings}


@pytest.mark.covers("setup.doctor.server")
@pytest.mark.parametrize("answer", [b"S", b"N"])
def test_a_server_that_answers_is_told_from_one_that_is_not_supported(answer: bytes) -> None:
    heard: list[bytes] = []
    with listening(answer, heard) as port:
        seen = ServerStore(f"postgresql://app:hush@127.0.0.1:{port}/prod", SHOWN).inspect()
    assert [each.code for each in seen.findings] == ["store.unsupported"]
    assert seen.facts["servers"] == [{"address": f"127.0.0.1:{port}", "answers": True}]
    assert seen.exists
    assert not seen.is_current  # so that nobody tries to read it
    assert b"hush" not in heard[0]
    assert b"app" not in heard[0]


@pytest.mark.covers("setup.doctor.server")
def test_a_server_that_is_not_there_or_is_something_else_is_named() -> None:
    port = closed_port()
    found = codes(f"postgresql://app:hush@127.0.0.1:{port}/prod")
    assert f"127.0.0.1:{port} cannot be reached" in found["store.unreachable"]
    with listening(b"HTTP/1.1 400 Bad Request\r\n", []) as other:
        assert "not PostgreSQL" in codes(f"postgresql://127.0.0.1:{other}")["store.unreachable"]
    with listening(b"", []) as silent:
        assert "not PostgreSQL" in codes(f"postgresql://127.0.0.1:{silent}")["store.unreachable"]


@pytest.mark.covers("setup.doctor.server")
def test_one_standby_that_answers_does_not_hide_one_that_does_not() -> None:
    dead = closed_port()
    with listening(b"N", []) as port:
        url = f"postgresql://u:p@127.0.0.1:{dead},127.0.0.1:{port}/d"
        seen = ServerStore(url, SHOWN).inspect()
    assert seen.exists
    assert [each.code for each in seen.findings] == ["store.unsupported", "store.unreachable"]
    assert str(dead) in seen.findings[1].what


@pytest.mark.covers("setup.doctor.server")
@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")
def test_the_folder_of_a_unix_socket_is_asked_too(tmp_path: Path) -> None:
    found = codes(f"postgresql:///d?host={tmp_path}&port=6000")
    assert f"{tmp_path}:6000 cannot be reached: no such file" in found["store.unreachable"]


@pytest.mark.covers("setup.doctor.server")
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://", ["localhost:5432"]),
        ("postgres://u:p%40ss@db.example:6432/d?sslmode=require", ["db.example:6432"]),
        ("postgresql://u:p@[::1]:7/d", ["[::1]:7"]),
        ("postgresql://a,b:2/d", ["a:5432", "b:2"]),
        ("postgresql:///d?host=x,y&port=1,2", ["x:1", "y:2"]),
        ("postgresql:///d?host=x,y&port=9", ["x:9", "y:9"]),
        ("postgresql://h:notaport/d", ["h:5432"]),
        ("postgresql://h:99999/d", ["h:5432"]),
        ("postgresql://%2Fvar%2Frun/d", ["/var/run:5432"]),
    ],
)
def test_every_form_of_a_url_names_its_servers(url: str, expected: list[str]) -> None:
    assert [str(each) for each in addresses_of(url)] == expected


@pytest.mark.covers("setup.doctor.server")
def test_the_password_is_nowhere_in_what_the_doctor_prints(
    tmp_path: Path, run_cli: Callable[..., tuple[int, str]]
) -> None:
    port = closed_port()
    url = f"postgresql://app:s3cr3t-w0rd@127.0.0.1:{port}/prod?password=s3cr3t-w0rd"
    for flags in ((), ("--json",), ("--fix",)):
        code, printed = run_cli(tmp_path, "doctor", *flags, MEMORY_DB_PATH=url)
        assert code == 3
        assert "s3cr3t" not in printed
        assert "***" in printed
        assert "store.unreachable" in printed
    assert list(tmp_path.iterdir()) == []
