"""The questions of `init`: which schemas, where, which clients, for what."""

import argparse
from pathlib import Path

from schemory.cli.command import Request
from schemory.cli.output import Output, Style
from schemory.config import Raw
from schemory.errors import UsageError
from schemory.model.likeness import nearest

_NOTHING = frozenset({"none", "no", "n", "-"})


def hold_dialogue(request: Request) -> Request:
    """Ask, and return the request that the answers make."""
    from schemory.cli.install import find_machine  # noqa: PLC0415 (not for the help)
    from schemory.setup.clients.job import standing  # noqa: PLC0415 (as above)
    from schemory.setup.clients.table import CLIENTS, find_client  # noqa: PLC0415 (as above)

    ask = _Asker(request)
    packs = ask.packs()
    overrides: dict[str, Raw] = {"MEMORY_PACKS": packs} if packs else {}
    folder = ask.text("Which folder for them?", "your own") if packs else ""
    standings = [standing(client, find_machine()) for client in CLIENTS]
    here = [each.client.name for each in standings if each.is_installed]
    told = ", ".join(here) or "none was found; name one, or none"
    words = ask.text("Set up which clients?", told).replace(",", " ").split()
    names = [] if _NOTHING & set(words) else words or here
    for name in names:
        find_client(name)
    if names:
        where = ask.text("For one project only? Its folder, or nothing for all of them", "all")
        if where and where != "all":
            overrides["MEMORY_PROJECT"] = str(Path(where).expanduser().absolute())
    request.out.line()
    args = argparse.Namespace(
        folder=folder or None, force=False, client=names, no_verify=False, json=False
    )
    return Request(args=args, overrides=overrides, out=request.out, stdin=request.stdin)


class _Asker:
    """Asks one thing at a time."""

    def __init__(self, request: Request) -> None:
        self._out: Output = request.out
        self._stdin = request.stdin

    def text(self, question: str, default: str) -> str:
        """Return what was typed; empty for Enter alone.

        Raises:
            KeyboardInterrupt: The input ended.
        """
        self._out.stdout.write(
            f"{self._out.style(question, Style.BOLD)} [{self._out.style(default, Style.DIM)}] "
        )
        self._out.stdout.flush()
        answer = self._stdin.readline()
        if not answer:
            raise KeyboardInterrupt
        return answer.strip()

    def packs(self) -> tuple[str, ...]:
        """Return the packs that were chosen.

        Raises:
            UsageError: There is none of a name.
        """
        from schemory.schemas.load import pack_names  # noqa: PLC0415 (not for the help)

        known = pack_names()
        self._out.line("A few questions; nothing is changed before the last answer.")
        answer = self.text(f"Which schemas to begin with? {', '.join(known)}", "none")
        words = answer.lower().replace(",", " ").split()
        if _NOTHING & set(words):
            return ()
        for word in words:
            if word not in known:
                near = nearest(word, known)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise UsageError(f"There is no pack {word!r}: {', '.join(known)}{hint}")
        return tuple(words)
