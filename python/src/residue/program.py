"""Programs: Python functions that compute, and become text, code and numbers of gas."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex, cast

from residue import _native, html
from residue.call import BYTES_MAX, Call, packed
from residue.catalogue import named
from residue.code import GAS, Code, Options, Source
from residue.errors import CompileError, NoOutcome, ProgramError, RecordingError, ResidueError
from residue.files import read_text
from residue.integers import refused, shown, whole
from residue.machine import computing, home, recording, wrong
from residue.recorder import Recorder
from residue.results import Block, Profile, Run, Trace
from residue.text import text_of
from residue.tree import Leaf, dropped, flatten
from residue.values import SIZE_MAX, Element, Field, Number, Word, checked_word

RUN_OPTIONS = ("gas", "engine", "timed")
"""Keywords of `run` beside those of `compile`."""

STEPS_MAX = 1 << 22
"""Turns and calls that the evaluator does, at most."""


class Compilable:
    """Source of a compilation: a program or a contract. `run`, `trace`, `profile` and `explain` compile it first."""

    name: str

    def source(self) -> Source:
        """The source that is compiled."""
        raise NotImplementedError

    def encode(self, *arguments: Any) -> bytes:
        """Calldata of arguments."""
        raise NotImplementedError

    def options(self, revision: str, schedule: str | Path | None, options: dict[str, Any]) -> Options:
        """Options of `compile`; a keyword that nothing takes, or that has no effect, is refused."""
        kind = "contract" if isinstance(self, Contract) else "text"
        return Options.of(kind, revision, schedule, options, RUN_OPTIONS)

    def compile(self, revision: str = "eip6690-2024", schedule: str | Path | None = None, **options: Any) -> Code:
        """Its code under an interface.

        Args:
            revision: A name of `revisions()`, or `evm` for the EVM as it is.
            schedule: A name of `schedules(revision)`, or a TOML file; prices decide between ways that differ in gas.
            options: `fork`, `portable`, `multiples` and, for contracts, `f2mul`, as `Options` has them.

        Raises:
            Inexpressible: The interface has no code for such a program.
            CompileError: It has, and not for this one: it says which limit.
            UnknownName: There is no such interface, schedule or fork.
            UnknownOption: There is no such option, or it has no effect on this.
        """
        asked = self.options(revision, schedule, options)
        kept: dict[Options, Code] = self.__dict__.setdefault("_codes", {})
        if asked not in kept:
            kept[asked] = Code(self.source(), asked, self._compiled(asked), self.encode, self._files())
        return kept[asked]

    def _compiled(self, options: Options) -> _native.Code:
        return self.source().compiled(options)

    def _files(self) -> dict[str, str]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_codes"}

    def run(self, *arguments: Any, gas: SupportsIndex = GAS, engine: str = "batch", timed: bool = False, **options: Any) -> Run:
        """Compiles it, with the options of `compile`, and runs it as `Code.run` does."""
        return self.compile(**options).run(*arguments, gas=gas, engine=engine, timed=timed)

    def trace(self, *arguments: Any, limit: SupportsIndex | None = 100_000, function: str | None = None, **options: Any) -> Trace:
        """Compiles it, with the options of `compile`, and traces it as `Code.trace` does."""
        return self.compile(**options).trace(*arguments, limit=limit, function=function)

    def profile(self, *arguments: Any, rounds: SupportsIndex = 0, **options: Any) -> Profile:
        """Compiles it, with the options of `compile`, and profiles it as `Code.profile` does."""
        return self.compile(**options).profile(*arguments, rounds=rounds)

    def explain(self, *arguments: Any, **options: Any) -> tuple[Block, ...]:
        """Compiles it, with the options of `compile`, and explains its blocks as `Code.explain` does."""
        return self.compile(**options).explain(*arguments)

    def expected(self, data: bytes) -> bytes | None:
        """Required output of code for this calldata; None if it has to halt."""
        raise NotImplementedError


@dataclass(frozen=True)
class Recorded:
    """A program's text.

    Attributes:
        text: In the text form of the IR.
        places: File and line of the Python source that each line of the text comes from, where it comes from one.
        reads: Offset and bytes of what it reads of calldata at known offsets; None if it reads at others too.
    """

    text: str
    places: tuple[str | None, ...]
    reads: tuple[tuple[int, int], ...] | None


class Program(Compilable):
    """A field program. Calling it computes it in Python; `compile` makes code of it."""

    def __init__(self, body: Callable[[Call], Any], field: Field, name: str | None = None, size: SupportsIndex | None = None) -> None:
        if not callable(body):
            raise wrong(f"a program is made of a function of calldata, and {shown(body)} is none")
        _check_field(field)
        self.body, self.field = body, field
        self.name = _checked_name(name) or str(getattr(body, "__name__", type(body).__name__))
        self.size = field.size if size is None else _held(field, _size(size))
        self._recorded: Recorded | None = None
        functools.update_wrapper(self, body, updated=())

    def source(self) -> Source:
        return Source("text", self.text, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProgramText, (self.recorded, self.name)

    @property
    def recorded(self) -> Recorded:
        """Recording of the function, made at the first use."""
        if self._recorded is None:
            self._recorded = self._record()
        return self._recorded

    def _record(self) -> Recorded:
        if recording.get() is not None:
            raise wrong(f"{self.name} is a program: within another, call the function that it is made of, {self.name}.body")
        recorder = Recorder(self.name, self.field, self.size, home(self.body))

        def whole() -> None:
            result = self.body(Call(self.field, None, recorder))
            leaves, size = _results(result, self.size, home(self.body))
            _return(recorder, leaves, size)

        recorder.record(self.name, whole, recorder.home)
        text, places = text_of(recorder)
        reads = None if recorder.has_unknown_reads else tuple(sorted(recorder.reads))
        return Recorded(text, tuple(places), reads)

    @property
    def text(self) -> str:
        """The program in the text form of the IR, which `residue build` takes too."""
        return self.recorded.text

    def encode(self, *arguments: Any) -> bytes:
        """Calldata of arguments: bytes as they are; numbers in the order of the offsets at which the program reads them."""
        return _encoded(self.name, self.recorded.reads, arguments)

    def __call__(self, *arguments: Any) -> bytes:
        """Its output, computed in Python on numbers: the reference for code.

        Raises:
            Halted: A requirement does not hold, or a number is not below the modulus.
        """
        data = self.encode(*arguments)
        tokens = recording.set(None), computing.set(self.field)
        try:
            try:
                result = self.body(Call(self.field, data))
            except _Finished as finished:
                result = finished.result
            leaves, size = _results(result, self.size, home(self.body))
        finally:
            recording.reset(tokens[0])
            computing.reset(tokens[1])
        return b"".join(_bytes(self.field, leaf, size) for leaf in leaves)

    def evaluate(self, *arguments: Any, steps_max: SupportsIndex = STEPS_MAX) -> bytes | None:
        """Its output under the evaluator, a second judge that reads the text; None if it halts."""
        steps_max = whole(steps_max, "the number of steps", 0, (1 << 64) - 1)
        return _evaluated(self.text, self.encode(*arguments), steps_max)

    def expected(self, data: bytes) -> bytes | None:
        return self.evaluate(data)

    def _compiled(self, options: Options) -> _native.Code:
        with _placed(self.recorded, f"{self.name} ({home(self.body)})"):
            return self.source().compiled(options)

    def _files(self) -> dict[str, str]:
        paths = {place.rpartition(":")[0] for place in self.recorded.places if place is not None}
        return {path.replace("\\", "/").rsplit("/", 1)[-1]: path for path in paths}

    def __repr__(self) -> str:
        return f"<Program {self.name!r} over {self.field.name}>"

    def _repr_html_(self) -> str:
        return html.program(self.name, self.recorded)


class ProgramText(Compilable):
    """A program that is there as text: from a file, or shipped from elsewhere."""

    def __init__(self, recorded: Recorded | str, name: str = "program") -> None:
        if isinstance(recorded, str):
            recorded = Recorded(_native.check(recorded), (), None)
        self.recorded, self.name = recorded, name

    @classmethod
    def read(cls, path: str | Path) -> ProgramText:
        """The program of a file whose name ends in .ir."""
        return cls(read_text(path), Path(path).stem)

    @property
    def text(self) -> str:
        """The text."""
        return self.recorded.text

    def source(self) -> Source:
        return Source("text", self.text, self.name)

    def encode(self, *arguments: Any) -> bytes:
        return _encoded(self.name, self.recorded.reads, arguments)

    def evaluate(self, *arguments: Any, steps_max: SupportsIndex = STEPS_MAX) -> bytes | None:
        """Its output under the evaluator; None if it halts."""
        steps_max = whole(steps_max, "the number of steps", 0, (1 << 64) - 1)
        return _evaluated(self.text, self.encode(*arguments), steps_max)

    def expected(self, data: bytes) -> bytes | None:
        return self.evaluate(data)

    def __repr__(self) -> str:
        return f"<ProgramText {self.name!r}>"

    def _repr_html_(self) -> str:
        return html.program(self.name, self.recorded)


class Contract(Compilable):
    """A contract of ours.

    Attributes:
        name: Its name.
        summary: Its function, in a line.
        interface: Its calldata and output.
        precompile: Address of the precompile that it replaces, if it replaces one.
    """

    def __init__(self, name: str, summary: str, interface: str, precompile: int | None) -> None:
        self.name, self.summary, self.interface, self.precompile = name, summary, interface, precompile

    def source(self) -> Source:
        return Source("contract", self.name, self.name)

    @property
    def text(self) -> str:
        """The contract in the text form of the IR, in the formulas that it is written in."""
        return _native.contract_text(self.name)

    @property
    def example(self) -> bytes:
        """An input to try it with."""
        return _native.example(self.name)

    def encode(self, *arguments: Any) -> bytes:
        """Calldata as bytes; the example without arguments."""
        return _encoded(self.name, None, arguments) if arguments else self.example

    def native(self, data: bytes | None = None) -> dict[str, Any] | None:
        """Result of the precompile that it replaces on calldata: `output`, `gas_used` and `error`; None if it replaces none."""
        told = _native.native(self.name, self.example if data is None else self.encode(data))
        return None if told is None else cast("dict[str, Any]", json.loads(told))

    def expected(self, data: bytes) -> bytes | None:
        native = self.native(data)
        if native is None:
            return _evaluated(self.text, data, STEPS_MAX)
        return None if native["output"] is None else bytes.fromhex(native["output"][2:])

    def __repr__(self) -> str:
        return f"<Contract {self.name!r}: {self.summary}>"


@functools.cache
def contracts() -> tuple[Contract, ...]:
    """All contracts of ours."""
    return tuple(Contract(**row) for row in json.loads(_native.lists("contracts")))


def contract(name: str) -> Contract:
    """A contract of ours by its name."""
    known = {one.name: one for one in contracts()}
    return known[named("contract", name, list(known), "residue.contracts() has them all")]


def program(field: Field, name: str | None = None, size: SupportsIndex | None = None) -> Callable[[Callable[[Call], Any]], Program]:
    """Makes a program of a function that takes calldata (`Call`) and gives what is returned.

    Args:
        field: The field that it computes in; `over` computes in another.
        name: Its name in messages: that of the function without it.
        size: Bytes of an element that is returned: those of the field without it.
    """
    _check_field(field)
    if size is not None:
        _held(field, _size(size))
    return lambda body: Program(body, field, name, size)


def _check_field(field: object) -> None:
    if not isinstance(field, Field):
        raise wrong(f"a program is over a field: @program(Field(p)), not {shown(field)}")


def _checked_name(name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        raise wrong(f"the name of a program is text, and {shown(name)} is none")
    return name


def _size(size: Any) -> int:
    return whole(size, "the size of an element in bytes", 1, SIZE_MAX)


def _held(field: Field, size: int) -> int:
    """The size, if an element of the field has room in it."""
    if 8 * size < field.bits:
        raise refused(f"elements of {field.name} are returned in {size} bytes each, and need {(field.bits + 7) // 8}")
    return size


@dataclass(frozen=True)
class Output:
    """Output of a program, with the bytes of an element; made by `output`."""

    values: Any
    size: int


def output(values: Any, size: SupportsIndex) -> Output:
    """Output of a program with elements of `size` bytes each."""
    return Output(values, _size(size))


class _Finished(Exception):
    """A program that is computed on numbers has ended, with this."""

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


def finish(result: Any) -> None:
    """Ends the program here, also within a choice or a loop, and returns `result` as the end of its function would.

    The arms of a choice give the same shape all the same: `when(x == 0, lambda: finish((0, 0)), None)`.
    """
    recorder = recording.get()
    if recorder is None:
        if computing.get() is None:
            raise wrong("finish(…) ends a program, and none is running")
        raise _Finished(result)
    if recorder.unit is not recorder.units[0]:
        raise wrong("finish(…) within over(…): only what is computed over the program's own field ends it")
    leaves, size = _results(result, recorder.size, recorder.home)
    _return(recorder, leaves, size)


def _results(result: Any, size: int, place: str) -> tuple[list[Leaf], int]:
    if isinstance(result, Output):
        result, size = result.values, result.size
    if result is None:
        return [], size
    leaves, shape = flatten(result)
    if lost := dropped(shape):
        what = f"a program returns elements and words in tuples, lists, dicts and small classes, and {shown(lost[0])} is none"
        raise RecordingError(f"{place}: {what}")
    return leaves, size


def _return(recorder: Recorder, leaves: list[Leaf], size: int) -> None:
    if not leaves:
        return
    is_word = [isinstance(leaf, Word | bool) for leaf in leaves]
    if not all(is_word):
        _held(recorder.unit.field, size)
    if not any(is_word):
        recorder.line(f"return_elements {recorder.operands(leaves)} bytes {size}")
        return
    words: list[Word | int] = []
    for leaf in leaves:
        if isinstance(leaf, Word | bool):
            words.append(checked_word(leaf))
        else:
            if size % 32:
                raise wrong(f"elements beside words take whole words, and {size} bytes are none: output(values, size=…)")
            element = leaf if isinstance(leaf, Element) else Number(recorder.unit.field, leaf)
            count = size // 32
            own = element.words()
            words += [0] * (count - len(own)) + list(own)
    if len(words) == 1:
        recorder.line(f"return_word {recorder.word(words[0])}")
    else:
        listed = " ".join(map(recorder.word, words))
        recorder.line(f"return_words ({listed}) bytes {recorder.word(32 * len(words))}")


def _bytes(field: Field, leaf: Leaf, size: int) -> bytes:
    if isinstance(leaf, Word | bool):
        return int(leaf).to_bytes(32, "big")
    element = leaf if isinstance(leaf, Element) else Number(field, leaf)
    if element.field != field:
        raise wrong(f"an element of {element.field.name} is returned by a program over {field.name}: return its words")
    return int(cast("Number", element)).to_bytes(_held(field, size), "big")


def _encoded(name: str, reads: tuple[tuple[int, int], ...] | None, arguments: tuple[Any, ...]) -> bytes:
    if len(arguments) == 1 and isinstance(arguments[0], bytes | bytearray | memoryview):
        return bytes(arguments[0])
    how = "residue.calldata(1, 2) packs numbers, bytes.fromhex(text) reads hexadecimal"
    if reads is None:
        if not arguments:
            return b""
        raise ResidueError(f"{name}: calldata has to be bytes, as it is not known where all of it is read: {how}")
    ends = [offset + size for offset, size in reads]
    if any(end > following for end, (following, _) in zip(ends, reads[1:], strict=False)):
        raise ResidueError(f"{name}: calldata has to be bytes, as what is read overlaps: {how}")
    if max(ends, default=0) > BYTES_MAX:
        raise ResidueError(f"{name}: calldata has to be bytes, as it is read beyond its first {BYTES_MAX}")
    if len(arguments) != len(reads):
        where = ", ".join(f"{size} bytes at {offset}" for offset, size in reads)
        raise ResidueError(f"{name} reads {len(reads)} numbers ({where}), and {len(arguments)} are given")
    data = bytearray(max(ends, default=0))
    for at, ((offset, size), number) in enumerate(zip(reads, arguments, strict=True)):
        data[offset : offset + size] = packed(number, size, f"number {at} of {name}'s calldata")
    return bytes(data)


def _evaluated(text: str, data: bytes, steps_max: int) -> bytes | None:
    told = json.loads(_native.evaluate(text, data, steps_max))
    return None if told["outcome"] == "failed" else bytes.fromhex(told["output"][2:])


@contextmanager
def _placed(recorded: Recorded, name: str) -> Iterator[None]:
    """Errors of a text name the place in the Python source that it comes from."""
    try:
        yield
    except ProgramError as error:
        places = recorded.places[: error.line]
        place = next((place for place in reversed(places) if place is not None), None)
        raise ProgramError(error.what, error.line, place) from None
    except CompileError as error:
        raise type(error)(f"{name}: {error}") from None


__all__ = [
    "Compilable",
    "Contract",
    "NoOutcome",
    "Output",
    "Program",
    "ProgramText",
    "Recorded",
    "RecordingError",
    "contract",
    "contracts",
    "finish",
    "output",
    "program",
]
