"""Code: what a program became under an interface, to be run, traced, profiled and explained."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from residue import _native, html
from residue.catalogue import forks, named, offer, revision_named, schedule_named
from residue.errors import Disagreement, ResidueError, UnknownName, UnknownOption
from residue.files import read_text
from residue.integers import flag, shown, whole
from residue.machine import wrong
from residue.results import Block, Profile, Run, Trace, Variant

if TYPE_CHECKING:
    from residue.program import Program

_Bytes = bytes

ENGINES = ("batch", "plain", "spec")
"""Executors: many field instructions at a time, one by one, or the executable specification."""

OPTIONS = {"text": ("fork", "portable", "multiples"), "contract": ("fork", "portable", "multiples", "f2mul"), "raw": ("fork",)}
"""Options of a compilation beside interface and schedule, by what is compiled."""

GAS_MAX = (1 << 64) - 1
"""Gas of a frame, at most."""

GAS = 1_000_000_000
"""Gas of a frame where none is named."""


@dataclass(frozen=True)
class Options:
    """Parameters of a compilation beside the program.

    Attributes:
        revision: The interface.
        schedule: Name of its gas schedule; its own without it.
        toml: Text of a gas schedule and the name of its file, in place of a name.
        fork: The hard fork: code has no opcode that came after it; the newest without it.
        portable: True if engines that skip data of PUSH only must execute it.
        multiples: Method for small multiples: `additions`, `3` or `2`; for a contract None is the cheapest.
        f2mul: Of a contract, products in Fp2: `auto`, `3` or `4`.
    """

    revision: str = "eip6690-2024"
    schedule: str | None = None
    toml: tuple[str, str] | None = None
    fork: str | None = None
    portable: bool = False
    multiples: str | None = None
    f2mul: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "revision", revision_named(self.revision))
        if self.schedule is not None:
            object.__setattr__(self, "schedule", schedule_named(self.schedule))
        if self.fork is not None:
            object.__setattr__(self, "fork", named("hard fork", self.fork, forks(), "residue.forks() has them all"))
        object.__setattr__(self, "portable", flag(self.portable, "portable"))
        for name, what in (("multiples", "way to make small multiples"), ("f2mul", "product in Fp2")):
            value = getattr(self, name)
            if value is not None:
                # 3 is as good as "3".
                known = ("additions", "3", "2") if name == "multiples" else ("auto", "3", "4")
                is_text = isinstance(value, str) or type(value) is not int
                object.__setattr__(self, name, named(what, value if is_text else str(value), known))

    def with_schedule(self, schedule: str | Path | None) -> Options:
        """The same with a schedule by name, or from a TOML file if it is a path or a name that ends in .toml."""
        if isinstance(schedule, Path) or (isinstance(schedule, str) and schedule.endswith(".toml")):
            path = Path(schedule)
            return replace(self, toml=(read_text(path), str(path)))
        return replace(self, schedule=schedule)

    @classmethod
    def of(cls, kind: str, revision: str, schedule: str | Path | None, options: dict[str, Any], others: Iterable[str] = ()) -> Options:
        """Options of a kind of `Source`; `others` are keywords that the caller takes beside them."""
        taken = OPTIONS[kind]
        for name in options:
            if name not in taken:
                known = sorted({"revision", "schedule", *taken, *others})
                those = f"options are {', '.join(known)}"
                if any(name in some for some in OPTIONS.values()):
                    raise UnknownOption(f"{name!r} has no effect here, and is refused; {those}")
                raise UnknownOption(f"{name!r} is no option{offer(name, known, those)}")
        return cls(revision, **options).with_schedule(schedule)


@dataclass(frozen=True)
class Source:
    """Origin of code.

    Attributes:
        kind: `text` of a program, the name of a `contract` of ours, or `raw` code in hexadecimal.
        content: The text, the name or the code.
        name: Its name in messages.
    """

    kind: str
    content: str
    name: str

    def compiled(self, options: Options) -> _native.Code:
        """The code."""
        o = options
        if self.kind == "raw":
            return _native.raw_code(bytes.fromhex(self.content), o.revision, o.schedule, o.toml, o.fork)
        if self.kind == "contract":
            return _native.compile_contract(self.content, o.revision, o.schedule, o.toml, o.fork, o.portable, o.f2mul, o.multiples)
        return _native.compile_program(self.content, o.revision, o.schedule, o.toml, o.fork, o.portable, o.multiples or "additions")


def _gas(gas: SupportsIndex) -> int:
    return whole(gas, "gas", 0, GAS_MAX)


def _compiled(source: Source, options: Options) -> Code:
    return Code(source, options, source.compiled(options))


@dataclass(frozen=True, repr=False)
class Code:
    """Bytecode for one interface, and where each byte comes from. It can be pickled, at the cost of the text it came from.

    Attributes:
        source: Its origin.
        options: Parameters of the compilation.
        files: Paths of the Python files that it was recorded from, by the names that profiles have for them.
    """

    source: Source
    options: Options
    _native: _native.Code = field(compare=False)
    _encode: Callable[..., bytes] | None = field(default=None, compare=False)
    files: dict[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of_bytes(cls, code: bytes, revision: str = "eip6690-2024", **options: Any) -> Code:
        """Code that was compiled elsewhere."""
        if not isinstance(code, bytes | bytearray | memoryview):
            raise wrong(f"code is bytes, and {shown(code)} is none: bytes.fromhex(text) reads hexadecimal")
        schedule = options.pop("schedule", None)
        return _compiled(Source("raw", code.hex(), "code"), Options.of("raw", revision, schedule, options))

    @classmethod
    def of(cls, source: Source, options: Options, program: Program | None = None) -> Code:
        """A source compiled."""
        encode = program.encode if program is not None else None
        return cls(source, options, source.compiled(options), encode)

    def __reduce__(self) -> tuple[Callable[[Source, Options], Code], tuple[Source, Options]]:
        return _compiled, (self.source, self.options)

    @property
    def report(self) -> dict[str, Any]:
        """Report of the code, in the form of `residue build --json`."""
        report: dict[str, Any] = json.loads(self._native.report())
        return report

    @property
    def bytes(self) -> bytes:
        """The code."""
        return self._native.bytes()

    @property
    def revision(self) -> str:
        """The interface."""
        return self.options.revision

    @property
    def schedule(self) -> str:
        """Name of the gas schedule."""
        name: str = self.report["schedule"]
        return name

    @property
    def slots(self) -> int:
        """Slots that it uses, constants included."""
        return int(self.report["slots"])

    @property
    def functions(self) -> dict[str, int]:
        """Its functions, with their bytes of code."""
        functions: dict[str, int] = self.report["functions"]
        return functions

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Of a contract: the ways in which it was compiled, that of the code first."""
        return tuple(Variant(**row) for row in self.report.get("variants", []))

    def __len__(self) -> int:
        return len(self.bytes)

    def __repr__(self) -> str:
        return f"<Code {self.source.name!r} for {self.revision}: {len(self)} bytes>"

    def encode(self, *arguments: Any) -> _Bytes:
        """Calldata of arguments: bytes as they are; numbers where the program reads them."""
        if len(arguments) == 1 and isinstance(arguments[0], bytes | bytearray | memoryview):
            return bytes(arguments[0])
        if self._encode is not None:
            return self._encode(*arguments)
        if not arguments:
            return b""
        why = "as the code does not say what it reads: residue.calldata(1, 2) packs numbers"
        raise ResidueError(f"{self.source.name}: calldata has to be bytes here, {why}")

    def run(self, *arguments: Any, gas: SupportsIndex = GAS, engine: str = "batch", timed: bool = False, explained: bool = False) -> Run:
        """Runs it in a frame of its own.

        Args:
            arguments: Calldata as bytes, or the numbers that the program reads.
            gas: Gas of the frame.
            engine: `batch`, `plain` (instruction by instruction) or `spec` (the executable specification, which is slow).
            timed: True to measure times, also those of the precompile that does the same.
            explained: True to report the blocks of field instructions and their plans.

        Returns:
            How it ended. A halt that is no return is a result too.

        Raises:
            Disagreement: Two engines end it differently.
        """
        engine = named("engine", engine, ENGINES)
        timed, explained, gas = flag(timed, "timed"), flag(explained, "explained"), _gas(gas)
        told = json.loads(self._native.run(self.encode(*arguments), gas, engine, timed, explained))
        if told["disagreement"] is not None:
            raise Disagreement(f"two engines end {self.source.name} differently: {told['disagreement']}")
        return Run.of(told)

    def trace(self, *arguments: Any, gas: SupportsIndex = GAS, limit: SupportsIndex | None = 100_000, function: str | None = None) -> Trace:
        """One row for each executed instruction, with field values in canonical form.

        Args:
            arguments: As `run` takes them.
            gas: Gas of the frame.
            limit: Rows, at most.
            function: Only instructions of this function, or of this stretch, such as `curve.py:14`.
        """
        rows = None if limit is None else whole(limit, "the limit of rows", 0, GAS_MAX)
        if function is not None and not isinstance(function, str):
            raise UnknownName(f"{shown(function)} is no function of the code: its name is text")
        return Trace.of(json.loads(self._native.trace(self.encode(*arguments), _gas(gas), rows, function)))

    def profile(self, *arguments: Any, gas: SupportsIndex = GAS, rounds: SupportsIndex = 0) -> Profile:
        """Profile of its gas, and of its time if `rounds` is above 0: by function, by name and by line of Python."""
        rounds = whole(rounds, "the number of rounds", 0, GAS_MAX)
        told = json.loads(self._native.profile(self.encode(*arguments), _gas(gas), rounds))
        return Profile.of(told, f"{self.source.name} under {self.revision}, schedule {self.schedule}")

    def explain(self, *arguments: Any, gas: SupportsIndex = GAS) -> tuple[Block, ...]:
        """The blocks of field instructions, and what the batch engine makes of them after a few executions."""
        return self.run(*arguments, gas=gas, explained=True).blocks or ()

    def disassembly(self) -> list[tuple[int, str, str | None]]:
        """Lines of assembly: offset, text, and where it comes from."""
        return self._native.disassembly()

    def _repr_html_(self) -> str:
        return html.code(self)
