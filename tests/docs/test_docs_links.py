"""Links between documents lead somewhere, and every document is linked from the index."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


def _targets(document: Path) -> list[Path]:
    text = document.read_text(encoding="utf-8")
    return [(document.parent / link).resolve() for link in _LINK.findall(text)]


def test_every_link_between_documents_leads_to_a_file() -> None:
    broken = [
        f"{document.relative_to(ROOT)}: {target.name}"
        for document in DOCUMENTS
        for target in _targets(document)
        if not target.exists()
    ]
    assert broken == []


def test_the_index_links_every_document() -> None:
    index = ROOT / "docs" / "README.md"
    linked = set(_targets(index)) | {index.resolve()}
    pages = {page.resolve() for page in ROOT.glob("docs/**/*.md")}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - linked) == []
