"""The process's way in: a plain `serve` starts at once, everything else goes through argparse."""

import sys
from typing import Any, NoReturn

from schemory.cli.options import COMMON_OPTIONS, read_plain


def run() -> None:
    """Run the command line of this process and exit with its code."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules were still being read: nothing was begun
        sys.exit(130)


def _run() -> None:
    given = _plain_serve(sys.argv[1:])
    if given is None:
        from schemory.cli.main import run as run_any  # noqa: PLC0415 (brings argparse)

        run_any()
    else:
        sys.exit(_serve(given))


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
