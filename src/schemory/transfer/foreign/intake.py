"""Takes drafts in: brings them into the form of entries, checks them, and knows each text once."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from schemory.memory.entries import EntryRules, check_fields, content_sha256, find_field_secrets
from schemory.memory.faults import SecretFinding
from schemory.memory.labels import label_fault, normal_label, normal_tag
from schemory.memory.place import Place as ProjectPlace
from schemory.model.entry import DEFAULT_IMPORTANCE, Relation
from schemory.model.jsonvalue import Json
from schemory.model.moment import moment_text
from schemory.model.text import fold
from schemory.storage.scratch.database import Scratch
from schemory.transfer.foreign.draft import MOST_TOLD, Draft, DraftLink, Evidence, Place, Tally
from schemory.transfer.foreign.junk import is_empty, is_placeholder
from schemory.transfer.foreign.options import MoveOptions, Twin
from schemory.transfer.foreign.sections import Why
from schemory.transfer.foreign.sketch import Sketches
from schemory.transfer.memory.faults import FileFaults
from schemory.transfer.memory.texts import texts_of

_NAMESPACE: Final = uuid.UUID("6f1d4c0a-4b57-5f3e-9a55-3c2b6c1de0a7")
_CUT: Final = "…"
_MAX_LABEL: Final = 200
_URL: Final = "memory://"


def entry_id(project_id: str, key: str) -> str:
    """Return the id that a thing of a source has in a project, the same at every import."""
    return str(uuid.uuid5(_NAMESPACE, f"{project_id}\0{key}"))


class Intake:
    """Fills the scratch with the entries and links of one source.

    Args:
        scratch: Still empty.
        place: The project.
        options: How to move in.
        tally: What became no entry is told to it.
        author: Who moves in.
        now: The time that nothing can be later than.

    Attributes:
        taken: Entries that were taken in.
        duplicates: Exact ones within the source; `near` the nearly equal ones.
        secrets: Entries with what seems to be a credential, left out or let pass.
        left_out: How many were left out for that.
    """

    def __init__(
        self,
        scratch: Scratch,
        place: ProjectPlace,
        options: MoveOptions,
        tally: Tally,
        *,
        author: str,
        now: datetime,
    ) -> None:
        self._scratch = scratch
        self._place = place
        self._rules = EntryRules(limits=place.limits, allowed_tags=place.allowed_tags)
        self._options = options
        self._tally = tally
        self._author = author
        self._now = moment_text(now)
        self._faults = FileFaults(allow_secret=options.allow_secret)
        self._by_sha: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._links: list[tuple[str, DraftLink, Place]] = []
        self._sketches = Sketches()
        self._sketched: list[tuple[str, Place]] = []
        self.taken = 0
        self.duplicate_count = 0
        self.duplicates: list[Twin] = []
        self.near: list[Twin] = []
        self.secrets: list[Evidence] = []
        self.unresolved: list[Evidence] = []
        self.left_out = 0
        self.files: set[str] = set()

    def take(self, draft: Draft) -> None:
        """Take one draft in."""
        lines = draft.content.split("\n")
        if is_empty(lines) or is_placeholder(lines):
            why = Why.EMPTY if is_empty(lines) else Why.PLACEHOLDER
            self._tally.drop(draft.place, why.value)
            return
        given = self._given(draft)
        checked = check_fields(given, self._rules)
        if checked.problems:
            told = "; ".join(problem.message for problem in checked.problems)
            self._tally.refuse(draft.place, told)
            return
        metadata = self._metadata(draft, given)
        texts: dict[str, Json] = {"metadata": list(texts_of(metadata)), "author": draft.created_by}
        findings = (*checked.findings, *find_field_secrets(texts, self._rules.limits))
        if findings and not self._may_pass(draft, findings):
            return
        self._keep(draft, {**checked.values, "metadata": metadata})

    def finish(self) -> None:
        """Settle the links, and refuse the source for credentials that nobody allowed.

        Raises:
            SecretDetectedError: Some text seems to hold a credential; all places are told.
        """
        self._faults.raise_any()
        for source, link, place in self._links:
            self._settle_link(source, link, place)
        self._scratch.links.supersede()

    @property
    def compares_partly(self) -> bool:
        """Whether some entries were not compared with each other for near twins."""
        return self._sketches.is_full

    @property
    def allowed_secrets(self) -> int:
        """Texts that look like credentials and were taken, as allowed."""
        return self._faults.secrets if self._options.allow_secret else 0

    def _keep(self, draft: Draft, values: Mapping[str, Json]) -> None:
        content = str(values["content"])
        sha = content_sha256(content)
        known = self._by_sha.get(sha)
        if known is not None:
            self._learn_names(draft, known)
            self.duplicate_count += 1
            if len(self.duplicates) < MOST_TOLD:
                self.duplicates.append(Twin(draft.place, known, where="the same source"))
            return
        own_id = self._add(draft, {**values, "content_sha256": sha})
        self._by_sha[sha] = own_id
        self._learn_names(draft, own_id)
        self._note_near(draft.place, own_id, content)
        self._links += [(own_id, link, draft.place) for link in draft.links]
        if draft.superseded_by is not None:
            link = DraftLink(Relation.SUPERSEDES, draft.superseded_by)
            self._links.append((own_id, replace(link, label=_INVERSE), draft.place))
        self.taken += 1
        if draft.source is not None:
            self.files.add(draft.source.path)

    def _add(self, draft: Draft, values: Mapping[str, Json]) -> str:
        """Put an entry into the scratch; a key that was there already gets a number."""
        number, key = 1, draft.key
        while True:
            own_id = entry_id(self._place.id, key)
            fields = {**self._row(draft, key), **values, "id": own_id, "source_ref": key}
            if self._scratch.entries.add(fields, str(draft.place)):
                return own_id
            number += 1
            key = f"{draft.key} ({number})"

    def _row(self, draft: Draft, key: str) -> dict[str, Json]:
        source = draft.source if draft.source is not None and draft.source.is_allowed else None
        created = self._moment(draft.created_at) or self._now
        return {
            "project_id": None,
            "title": None,
            "summary": None,
            "source_ref": key,
            "source_uri": None,
            "source_path": source.path if source else None,
            "source_sha256": source.sha256 if source else None,
            "source_bytes": source.size if source else None,
            "source_blob": source.blob if source else None,
            "status": draft.status.value,
            "confidence": None,
            "importance": DEFAULT_IMPORTANCE,
            "created_by": draft.created_by or self._author or None,
            "created_at": created,
            "updated_at": max(created, self._moment(draft.updated_at) or created),
            "invalidated_at": None,
            "invalidation_reason": None,
            "revision": 1,
            "tags": [],
        }

    def _given(self, draft: Draft) -> dict[str, Json]:
        limits = self._rules.limits
        given: dict[str, Json] = {
            "scope": _label(self._options.scope or draft.scope, limits.max_scope_chars),
            "topic": _label(draft.topic, limits.max_topic_chars) or "notes",
            "content": draft.content,
            "source_type": draft.source_type.value,
            "source_ref": draft.key,
            "title": _cut(draft.title, limits.max_title_chars),
            "summary": _cut(draft.summary, limits.max_summary_chars),
            "source_uri": draft.source_uri,
            "tags": list(self._tags(draft)),
            "confidence": draft.confidence,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _tags(self, draft: Draft) -> tuple[str, ...]:
        """Return the tags that the project takes; those of the command line come first."""
        limits, allowed = self._rules.limits, self._rules.allowed_tags
        tags = dict.fromkeys(normal_tag(tag) for tag in (*self._options.tags, *draft.tags))
        fit = [
            tag
            for tag in tags
            if label_fault(tag) is None
            and len(tag) <= limits.max_tag_chars
            and (not allowed or tag in allowed)
        ]
        return tuple(fit[: limits.max_tags])

    def _metadata(self, draft: Draft, given: Mapping[str, Json]) -> dict[str, Json]:
        """Return what the source tells, with what an import later compares by."""
        own = draft.metadata.get("import")
        origin: dict[str, Json] = dict(own) if isinstance(own, Mapping) else {}
        origin["sha256"] = content_sha256(draft.content)
        taken = given.get("tags")
        kept = set(taken) if isinstance(taken, list) else set[Json]()
        left = [tag for tag in draft.tags if normal_tag(tag) not in kept]
        if left:
            origin["other_tags"] = list[Json](left)
            self._tally.notes["tags that the project does not take, kept as metadata"] += len(left)
        return {**draft.metadata, "import": origin}

    def _may_pass(self, draft: Draft, findings: tuple[SecretFinding, ...]) -> bool:
        """Note credentials; whether the entry is taken all the same."""
        rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
        line = _line_of(draft, findings[0])
        place = Place(draft.place.file, line)
        if len(self.secrets) < MOST_TOLD:
            self.secrets.append(Evidence(place, rules))
        if self._options.skip_secrets:
            self.left_out += 1
            return False
        for finding in findings:
            where = Place(draft.place.file, _line_of(draft, finding))
            self._faults.add_findings(str(where), [finding])
        return self._options.allow_secret

    def _note_near(self, place: Place, own_id: str, content: str) -> None:
        found = self._sketches.add(content)
        self._sketched.append((own_id, place))
        if found is not None and len(self.near) < MOST_TOLD:
            other_id, other = self._sketched[found[0]]
            self.near.append(Twin(place, other_id, found[1], str(other)))

    def _learn_names(self, draft: Draft, own_id: str) -> None:
        for name in draft.names:
            self._names.setdefault(_name_key(name), own_id)

    def _settle_link(self, source: str, link: DraftLink, place: Place) -> None:
        target = self._names.get(_name_key(link.target))
        if target is None:
            if len(self.unresolved) < MOST_TOLD:
                self.unresolved.append(Evidence(place, f"{link.relation.value} {link.target!r}"))
            self._tally.notes["links to what is not in the source"] += 1
            return
        if target == source:
            return
        ends, label = (source, target), link.label
        if label == _INVERSE:
            ends, label = (target, source), None
        relation = link.relation.value
        fields: dict[str, Json] = {
            "id": entry_id(self._place.id, "\0".join((*ends, relation))),
            "source_entry_id": ends[0],
            "target_entry_id": ends[1],
            "relation": relation,
            "label": label[:_MAX_LABEL] if label else None,
            "created_at": self._now,
            "metadata": None,
        }
        self._scratch.links.add(fields, str(place))

    def _moment(self, text: str | None) -> str | None:
        """Return a time that a source tells, never one that is still to come."""
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return min(moment_text(moment), self._now)
        except (ValueError, OverflowError):
            self._tally.notes["times that are none, replaced by the time of the import"] += 1
            return None


_INVERSE: Final = "\0inverse"


def _name_key(name: str) -> str:
    return fold(normal_label(name.removeprefix(_URL).removesuffix(".md")))


def _label(text: str, limit: int) -> str:
    return normal_label(_cut(normal_label(text), limit) or "")


def _cut(text: str | None, limit: int) -> str | None:
    """Return a text no longer than the limit; a cut one ends with dots."""
    return text if text is None or len(text) <= limit else text[: limit - 1] + _CUT


def _line_of(draft: Draft, finding: SecretFinding) -> int:
    """Return the line of the source that a finding is on, as near as it is known."""
    if finding.field != "content" or not draft.lines:
        return draft.place.line
    return draft.lines[min(draft.content.count("\n", 0, finding.start), len(draft.lines) - 1)]
