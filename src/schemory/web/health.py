"""How it stands: what `schemory status` and `schemory doctor` tell."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from schemory.model.jsonvalue import Json
from schemory.storage.keeping import Finding, Severity
from schemory.web.asked import Asked
from schemory.web.layout import Page, alert, badge, facts, note
from schemory.web.markup import Child, Element, el

if TYPE_CHECKING:
    from schemory.web.shelf import Shelf


def health(shelf: "Shelf", asked: Asked) -> Page:
    """Return the page; the doctor is called only when asked, for it reads the whole store."""
    is_asked = asked.text("look") == "1"
    return Page(
        title="Health",
        content=(
            _diagnosis(shelf) if is_asked else _offer(asked),
            el("h2", "Status"),
            facts(_flat(shelf.status())),
        ),
    )


def _offer(asked: Asked) -> Element:
    return el(
        "p",
        el("a", "Look everything over", href=asked.to("health", look="1"), class_="button"),
        " reads every page of the store and changes nothing; it may take a while.",
    )


def _diagnosis(shelf: "Shelf") -> Iterator[Child]:
    diagnosis = shelf.diagnose()
    if not diagnosis.findings:
        yield el("p", badge("well"), " Everything was looked over: all is well.")
        return
    yield el("ul", map(_finding, diagnosis.findings), class_="findings")
    if any(finding.can_fix for finding in diagnosis.findings):
        yield note(
            "On the command line ", el("code", "schemory doctor --fix"), " mends what is safe."
        )


def _finding(finding: Finding) -> Element:
    kind = "warning" if finding.severity is Severity.WARNING else "error"
    return el(
        "li",
        alert(finding.what, " ", el("code", finding.code), kind=kind),
        note("Next: ", finding.next_step),
    )


def _flat(told: Mapping[str, Json], before: str = "") -> Iterator[tuple[str, Child]]:
    """Yield nested facts as names with values, lists as lists."""
    for name, value in told.items():
        label = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{label} / ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield label, el("ul", (el("li", str(each)) for each in value)) if value else None
        elif isinstance(value, bool):
            yield label, "yes" if value else "no"
        elif value is not None:
            yield label, f"{value:,}" if isinstance(value, int) else str(value)
