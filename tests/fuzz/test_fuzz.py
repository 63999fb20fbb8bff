"""The fuzzers find nothing for a while, and find faults that are put in."""

from __future__ import annotations

import json
import zoneinfo
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from graphcodec import _ciphers, _frames, _values
from graphcodec._coding import _read_call, _read_rare
from tests.fuzz.__main__ import guided
from tests.fuzz.mutating import Found, fuzz, minimised
from tests.fuzz.targets import TARGETS, Target

MOST_MEMORY = 200_000_000
"""Bytes by which documents of 100 kB may make the process larger."""

REGRESSIONS: Final = Path(__file__).with_name("regressions")
"""What the fuzzers have found, cut down."""

needs_atheris = pytest.mark.skipif(
    find_spec("atheris") is None, reason="there is no atheris for this Python"
)


def look(name: str, seconds: float, seed: int = 1) -> None:
    """Run the mutations for some time."""
    outcome = fuzz(TARGETS[name], seconds, seed=seed)

    assert outcome.executions > 0
    assert outcome.grown < MOST_MEMORY


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_find_nothing(name: str) -> None:
    """Whatever is read, only an error of ours comes out."""
    look(name, 0.5)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(
    "path", sorted(REGRESSIONS.iterdir()), ids=lambda path: path.stem
)
def test_what_was_found_stays_mended(path: Path, name: str) -> None:
    """Whoever reads it, as it is; JSON also as MessagePack."""
    data = path.read_bytes()

    TARGETS[name].feed(data)
    if path.suffix == ".json":
        TARGETS[name].feed(msgspec.msgpack.encode(json.loads(data)))


def test_a_find_is_cut_down() -> None:
    """What it does not need is taken away."""

    def fails(data: bytes) -> None:
        assert b"ab" not in data

    target = Target(fails, list)

    assert minimised(target, b"x" * 500 + b"ab" + b"y" * 77) == b"ab"


@needs_atheris
def test_coverage_finds_nothing(tmp_path: Path) -> None:
    """The other fuzzer runs, too, and its corpus grows."""
    code, stats, words = guided("decode-json", 1, tmp_path / "corpus")

    assert code == 0, words
    assert stats["number_of_executed_units"] > 0
    assert any((tmp_path / "corpus").iterdir())


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_mutations_find_nothing_for_ten_minutes(name: str) -> None:
    """The same for long."""
    look(name, 600, seed=10_000_000)


@pytest.mark.long
@needs_atheris
@pytest.mark.parametrize("name", TARGETS)
def test_coverage_finds_nothing_for_ten_minutes(name: str, tmp_path: Path) -> None:
    """The same for long."""
    code, stats, words = guided(name, 600, tmp_path / "corpus")

    assert code == 0, words
    assert stats["number_of_executed_units"] > 0


def _any_pairs(pairs: Any) -> Any:
    """Do without the look at the pairs of a ``$dict``."""
    return ((key, value) for key, value in pairs)


def _any_zone(payload: Any) -> zoneinfo.ZoneInfo:
    """Do without the look at the keys of the time zone database."""
    return zoneinfo.ZoneInfo(payload)


def _any_layers(view: memoryview, count: int) -> Any:
    """Do without the look at where a frame's header ends."""
    layers: list[_frames.Layer] = []
    position = 6
    for _ in range(count):
        length = view[position + 1] * 256 + view[position + 2]
        end = position + 3 + length
        layers.append(_frames.Layer(view[position], bytes(view[position + 3 : end])))
        position = end
    return tuple(layers), position


def _any_tag(*_: object) -> None:
    """Do without the look at the tag of what is signed."""


FAULTS: dict[str, tuple[str, list[Any], str, Callable[..., object]]] = {
    "pairs": ("decode-json", [_read_call, _read_rare], "split_pairs", _any_pairs),
    "zones": ("decode-msgpack", [_values], "read_zone", _any_zone),
    "signatures": ("sealed", [_ciphers], "verify", _any_tag),
    "headers": ("frames", [_frames], "_layers", _any_layers),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_seeded_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that is taken out is missed within seconds."""
    name, modules, function, instead = FAULTS[fault]
    for module in modules:
        monkeypatch.setattr(module, function, instead)

    with pytest.raises(Found, match="Error: "):
        fuzz(TARGETS[name], 20, seed=1)
