"""`memory_read_entry`: one entry, in stretches where it is long, with its past if it is wanted."""

from collections.abc import Callable, Mapping, Sequence

from schemory.memory.inputs import ReadRequest
from schemory.memory.results import EntryRead
from schemory.model.frozen import dataclass
from schemory.model.jsonvalue import Json
from schemory.storage.memory_protocols import EarlierText
from schemory.tools.memory_bench import MemoryBench, flag_of, ref_of, text_of, whole_of
from schemory.tools.memory_fit import Bounds
from schemory.tools.memory_replies import memory_reply, success_data, with_warnings
from schemory.tools.memory_text import DATA_NOTE, entry_text, fenced
from schemory.tools.memory_wire import earlier_wire, read_wire
from schemory.tools.registry import Call, Reply


def read_entry(bench: MemoryBench, call: Call) -> Reply:
    """Return as much of an entry and its past as fits."""
    request = ReadRequest(
        entry_id=text_of(call, "entry_id"),
        mode=str(call.arguments.get("mode", "project")),
        offset=whole_of(call, "offset") or 0,
        max_chars=whole_of(call, "max_chars"),
        include_history=flag_of(call, "include_history"),
    )
    read = bench.memory.read_entry(ref_of(call), request)
    return _Answer(read, request).fitted(Bounds(max_bytes=bench.budget))


@dataclass(frozen=True, slots=True)
class _Answer:
    """Makes the answer from what was read: so much of the content, so many earlier texts."""

    read: EntryRead
    request: ReadRequest

    def fitted(self, bounds: Bounds) -> Reply:
        """Return the largest answer within the bounds: content comes before history."""
        read = self.read
        chars, texts = len(read.content), len(read.history)
        whole = self._reply(chars, texts)
        if bounds.hold(whole):
            return whole
        chars = _largest(chars, lambda number: bounds.hold(self._reply(number, 0)), least=1)
        texts = _largest(texts, lambda number: bounds.hold(self._reply(chars, number)), least=0)
        return self._reply(chars, texts)

    def _reply(self, chars: int, texts: int) -> Reply:
        read = self.read
        content, history = read.content[:chars], read.history[:texts]
        data: dict[str, Json] = {
            "entry": read_wire(read, content),
            "content_chars": read.content_chars,
        }
        next_offset = self._next_offset(chars)
        if next_offset is not None:
            data |= {"truncated": True, "next_offset": next_offset}
        if read.successors:
            data["superseded_by"] = list(read.successors)
        if self.request.include_history:
            data["history"] = [earlier_wire(each, each.entry.content) for each in history]
            if texts < len(read.history) or read.has_older_texts:
                data["history_truncated"] = True
        return memory_reply(success_data(read, data), _read_text(read, data, history))

    def _next_offset(self, chars: int) -> int | None:
        if chars < len(self.read.content):
            return self.request.offset + chars
        return self.read.next_offset


def _largest(most: int, fits: Callable[[int], bool], *, least: int) -> int:
    """Return the largest number from `least` to `most` that fits; `least` where none does."""
    low, high = min(least, most), most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _read_text(read: EntryRead, data: Mapping[str, Json], history: Sequence[EarlierText]) -> str:
    entry = data["entry"]
    wire: Mapping[str, Json] = entry if isinstance(entry, Mapping) else {}
    parts = [f"Entry of project {read.entry.project_id}. {DATA_NOTE}", entry_text(wire)]
    if "next_offset" in data:
        said = f"{read.content_chars} characters in all; go on with offset {data['next_offset']}."
        parts.append(said)
    for earlier in history:
        parts.append(f"Revision {earlier.revision}, until {earlier.changed_at}:")
        parts.append(fenced(earlier.entry.id, earlier.entry.content))
    if "history_truncated" in data:
        parts.append(_left_out(len(history), len(read.history)))
    parts.append(read.verification_hint)
    return with_warnings("\n".join(parts), read.warnings)


def _left_out(shown: int, read: int) -> str:
    """Say that there are earlier texts which the answer leaves out, and how to see more of them."""
    said = f"There are earlier texts than the {shown} shown." if shown else "It has earlier texts."
    return f"{said} A small max_chars leaves more room for them." if shown < read else said
