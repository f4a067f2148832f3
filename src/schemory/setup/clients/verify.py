"""Starts an entry as a client would, asks it for its tools, and ends it."""

import json
import subprocess
import threading
from collections.abc import Mapping
from typing import IO, Final, cast

from schemory.model.frozen import dataclass
from schemory.setup.clients.entry import Entry

_PASSED_ON: Final = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
)
"""What clients hand on to a server; some of them not even all of it."""

_PROTOCOL: Final = "2025-06-18"
_TOLD_LINES: Final = 3
_TOLD_CHARS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of starting an entry.

    Attributes:
        tools: How many tools it listed.
        version: What the server says it is.
        fault: Why it did not work; None: it did.
    """

    tools: int = 0
    version: str = ""
    fault: str | None = None


def try_entry(
    entry: Entry, *, environ: Mapping[str, str], folder: str, timeout_seconds: float = 20.0
) -> Trial:
    """Start an entry in `folder`, hold the first conversation of a client, and end the process."""
    env = {name: environ[name] for name in _PASSED_ON if name in environ}
    for variable in entry.env:
        value = environ.get(variable.name) if variable.value is None else variable.value
        if value is None:
            return Trial(fault=f"{variable.name} is not set, so there is nothing to hand on")
        env[variable.name] = value
    try:
        process = subprocess.Popen(  # noqa: S603 (the very command that the entry will start)
            entry.words(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=env,
        )
    except OSError as fault:
        return Trial(fault=f"{entry.command} cannot be started: {fault.strerror}")
    return _Talk(process, timeout_seconds).hold()


class _OddAnswerError(Exception):
    """An answer that no server of the protocol gives, or none."""


class _Talk:
    """A conversation with a process that is ended when it takes too long."""

    def __init__(self, process: subprocess.Popen[bytes], timeout_seconds: float) -> None:
        self._process = process
        self._is_late = False
        self._errors: list[bytes] = []
        self._timer = threading.Timer(timeout_seconds, self._end_late)
        self._timeout_seconds = timeout_seconds
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def hold(self) -> Trial:
        self._timer.start()
        self._listener.start()
        try:
            return self._converse()
        except (OSError, ValueError, _OddAnswerError):
            return Trial(fault=self._fault())
        finally:
            self._timer.cancel()
            self._process.kill()
            self._process.wait()
            self._listener.join()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                self._close(stream)

    def _converse(self) -> Trial:
        hello = self._ask(
            1,
            "initialize",
            {
                "protocolVersion": _PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "schemory install", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = self._ask(2, "tools/list", {}).get("tools")
        server = hello.get("serverInfo")
        version = cast("dict[str, object]", server).get("version") if server else ""
        if not isinstance(tools, list):
            raise _OddAnswerError
        count = len(cast("list[object]", tools))
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()  # the polite way; kill follows for what does not end by it
            self._process.wait()
        return Trial(tools=count, version=str(version))

    def _ask(self, number: int, method: str, params: Mapping[str, object]) -> dict[str, object]:
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        stdout = self._process.stdout
        while stdout is not None and (line := stdout.readline()):
            message: object = json.loads(line)
            members = cast("dict[str, object]", message) if isinstance(message, dict) else {}
            if members.get("id") == number:
                result = members.get("result")
                if not isinstance(result, dict):
                    raise _OddAnswerError
                return cast("dict[str, object]", result)
        raise _OddAnswerError

    def _send(self, message: Mapping[str, object]) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()

    def _listen(self) -> None:
        stderr = self._process.stderr
        while stderr is not None and (line := stderr.readline()):
            self._errors.append(line)
            del self._errors[:-_TOLD_LINES]

    def _end_late(self) -> None:
        self._is_late = True
        self._process.kill()

    def _fault(self) -> str:
        if self._is_late:
            return f"no answer within {self._timeout_seconds:.0f} seconds"
        self._process.kill()
        self._process.wait()
        self._listener.join()
        text = b" ".join(line.strip() for line in self._errors).decode("utf-8", "replace")
        return f"it ended or answered oddly: {text[:_TOLD_CHARS] or 'it said nothing'}"

    @staticmethod
    def _close(stream: IO[bytes] | None) -> None:
        if stream is not None:
            try:
                stream.close()
            except OSError:  # what was still to be written has no reader any more
                return
