"""A progress bar on stderr while a long command works, and nothing where nobody looks."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from schemory.cli.output import Output

Progress: TypeAlias = Callable[[float, float | None, str], None]


def _nobody(done: float, total: float | None, message: str) -> None:
    del done, total, message


@contextmanager
def progress_bar(out: Output) -> Generator[Progress]:
    """Give a function that shows (done, total or None, what is going on)."""
    if out.is_json or not out.stderr.isatty():
        yield _nobody
        return
    from rich.console import Console  # noqa: PLC0415 (heavy, only for a terminal)
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 (as above)
    from rich.progress import Progress as Bar  # noqa: PLC0415 (as above)

    console = Console(file=out.stderr, color_system="auto" if out.colour else None)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(done: float, total: float | None, message: str) -> None:
            bar.update(task, completed=done, total=total, description=message)

        yield show
