"""The process's way in: a plain `serve` starts at once, everything else goes through argparse."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from schemory.cli.options import COMMON_OPTIONS, read_plain
from schemory.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, NoReturn

_MADE_BETWEEN_LOOKS = 50_000
"""How many more values than were freed are made before garbage is looked for.

What a start imports stays; by default it would be searched several times over.
"""


def run() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    gc.set_threshold(_MADE_BETWEEN_LOOKS)
    try:
        code = _run()
    except KeyboardInterrupt:  # while modules were still being read: nothing was begun
        code = 130
    _end(code)


def _run() -> int:
    given = _plain_serve(sys.argv[1:])
    if given is not None:
        return _serve(given)
    from schemory.cli.main import run as run_any  # noqa: PLC0415 (brings argparse)

    return run_any()


def _end(code: int) -> NoReturn:
    """End the process, which has closed what it opened.

    Python would take every module and value apart first, which can take longer than a command
    does. It does so where threads are left that it has to wait for, or a stream takes no more.
    """
    if not _has_threads():
        # What Python itself would call next; measuring of coverage stands there, and logs.
        atexit._run_exitfuncs()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] (no other way)
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # closed, or never there
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


def _has_threads() -> bool:
    """Return whether threads are left that the process may not end without."""
    threading = sys.modules.get("threading")
    if threading is None:
        return False
    main = threading.main_thread()
    return not all(each.daemon or each is main for each in threading.enumerate())


def _plain_serve(words: list[str]) -> dict[str, Any] | None:
    # Python has None where the process was started with a closed descriptor; its types do not say.
    streams: tuple[object, ...] = (sys.stdin, sys.stdout, sys.stderr)
    if words[:1] != ["serve"] or None in streams:
        return None
    from schemory.cli.serving import SERVE_OPTIONS  # noqa: PLC0415 (of no use to other commands)

    return read_plain(words[1:], (*SERVE_OPTIONS, *COMMON_OPTIONS))


def _serve(given: dict[str, Any]) -> int:
    from schemory.cli.serving import serve  # noqa: PLC0415 (as above)
    from schemory.config import load_settings  # noqa: PLC0415 (as above)

    try:
        return serve(load_settings(given))
    except BaseException as end:  # noqa: BLE001 (told as every other command's end)
        from schemory.cli.main import guarded  # noqa: PLC0415 (a start-up should not pay for it)
        from schemory.cli.output import standard_output  # noqa: PLC0415 (as above)

        fault = end

    def end_so() -> NoReturn:
        raise fault

    return guarded(end_so, standard_output(is_json=False))
