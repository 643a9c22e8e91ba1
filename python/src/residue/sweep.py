"""One program or contract under many interfaces, prices and inputs: here, in processes, or wherever Ray has workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from residue import html
from residue.catalogue import named, revision_named, schedule_named
from residue.catalogue import revisions as all_revisions
from residue.catalogue import schedules as all_schedules
from residue.code import ENGINES, GAS, GAS_MAX, Code, Options, Source
from residue.errors import CompileError, ResidueError
from residue.files import read_text
from residue.integers import flag, real, shown, whole
from residue.machine import wrong
from residue.program import Compilable
from residue.results import frame

if TYPE_CHECKING:
    import pandas

WAYS = ("serial", "processes", "ray")
"""Place of the work."""

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class Row:
    """A program under one interface, one schedule and one input.

    Attributes:
        name: The program's.
        revision: The interface.
        schedule: The gas schedule.
        input: Number of the input.
        reason: Why there is no code, if there is none; all that follows is None then.
        success: True if it stopped or returned.
        halt: Name of the halt.
        output: Its output.
        gas: Gas of the frame, of which `arithmetic`, `transfer`, `memory` and `control` are the parts.
        code_bytes: Bytes of code.
        slots: Slots that it uses.
        field_instructions: Field instructions in the code.
        agrees: True if it ended as expected; None if that is not known.
        time_ns: Median time, if it was timed.
    """

    name: str
    revision: str
    schedule: str | None
    input: int
    reason: str | None = None
    success: bool | None = None
    halt: str | None = None
    output: bytes | None = None
    gas: int | None = None
    arithmetic: int | None = None
    transfer: int | None = None
    memory: int | None = None
    control: int | None = None
    code_bytes: int | None = None
    slots: int | None = None
    field_instructions: int | None = None
    agrees: bool | None = None
    time_ns: int | None = None


@dataclass(frozen=True)
class Job:
    """Task of one worker: some kilobytes, whatever it computes."""

    source: Source
    options: Options
    inputs: tuple[bytes, ...]
    expected: tuple[bytes | None, ...]
    gas: int
    engine: str
    timed: bool

    def rows(self) -> list[Row]:
        """Compiles and runs."""
        name, revision = self.source.name, self.options.revision
        try:
            code = Code.of(self.source, self.options)
        except CompileError as error:
            schedule = self.options.schedule
            return [Row(name, revision, schedule, at, str(error)) for at in range(len(self.inputs))]
        report, rows = code.report, []
        for at, (data, expected) in enumerate(zip(self.inputs, self.expected, strict=True)):
            run = code.run(data, gas=self.gas, engine=self.engine, timed=self.timed)
            split = run.gas_split
            rows.append(
                Row(
                    name=name,
                    revision=revision,
                    schedule=run.schedule,
                    input=at,
                    success=run.success,
                    halt=run.halt,
                    output=run.output,
                    gas=run.gas_used,
                    arithmetic=split.arithmetic if split else None,
                    transfer=split.transfer if split else None,
                    memory=split.memory if split else None,
                    control=split.control if split else None,
                    code_bytes=len(code),
                    slots=report["slots"],
                    field_instructions=report["field_instructions"],
                    agrees=not run.success if expected is None else run.success and run.output == expected,
                    time_ns=run.time_ns,
                )
            )
        return rows


def _done(job: Job) -> list[Row]:
    return job.rows()


@dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, in the order of programs, interfaces, schedules and inputs, wherever they were computed."""

    rows: tuple[Row, ...]

    @property
    def compared(self) -> tuple[Row, ...]:
        """Rows of interfaces that have code for it."""
        return tuple(row for row in self.rows if row.reason is None)

    @property
    def left_out(self) -> tuple[Row, ...]:
        """Rows of interfaces that have none."""
        return tuple(row for row in self.rows if row.reason is not None)

    @property
    def agrees(self) -> bool:
        """True if there is something to compare, and all of it ended as expected."""
        return bool(self.compared) and all(row.agrees for row in self.compared)

    def frame(self) -> pandas.DataFrame:
        """A data frame, a line for each row."""
        return frame([vars(row) for row in self.rows])

    def without_times(self) -> Sweep:
        """The part that is independent of place and time of computation."""
        return Sweep(tuple(replace(row, time_ns=None) for row in self.rows))

    def _repr_html_(self) -> str:
        return html.comparison(self)

    def __str__(self) -> str:
        names = ("revision", "schedule", "input", "gas", "code_bytes", "slots", "agrees")
        table = [names, *(tuple(str(getattr(row, name)) for name in names) for row in self.compared)]
        widths = [max(len(row[at]) for row in table) for at in range(len(names))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join(lines + [f"{row.revision} is left out: {row.reason}" for row in self.left_out])


def sweep(
    programs: Compilable | Sequence[Compilable],
    inputs: Iterable[Any] = ((),),
    revisions: str | Sequence[str] = "all",
    schedules: str | Sequence[str | Path] | None = None,
    on: str = "serial",
    gas: int = GAS,
    engine: str = "batch",
    timed: bool = False,
    **options: Any,
) -> Sweep:
    """Compiles and runs programs under interfaces and schedules with inputs, and holds what comes out to what should.

    Args:
        programs: Programs and contracts.
        inputs: Each is calldata, or a tuple of numbers, as `run` takes them; a contract has its example for ().
        revisions: Interfaces, or `all`.
        schedules: Gas schedules, each for the interfaces that it prices, or `all`; each interface's own without it.
        on: `serial`, `processes` (one for each core) or `ray` (wherever `ray.init` finds workers). Rows are the same in all ways.
        gas: Gas of a frame.
        engine: As `run` takes it.
        timed: True to measure times; do so only where nothing else runs.
        options: As `compile` takes them.
    """
    some = [programs] if isinstance(programs, Compilable) else _listed(programs, "programs and contracts")
    for one in some:
        if not isinstance(one, Compilable):
            raise wrong(f"programs and contracts are compared, and {shown(one)} is none: @program(field) makes one of a function")
    given = _listed(inputs, "inputs")
    named("way to work", on, WAYS)
    gas, engine, timed = whole(gas, "gas", 0, GAS_MAX), named("engine", engine, ENGINES), flag(timed, "timed")
    asked_of = _revisions(revisions)
    jobs: list[Job] = []
    for one in some:
        data = tuple(one.encode(*(value if isinstance(value, tuple) else (value,))) for value in given)
        expected = tuple(one.expected(each) for each in data)
        for revision in asked_of:
            for schedule in _schedules(schedules, revision):
                asked = one.options(revision, schedule, options)
                jobs.append(Job(one.source(), asked, data, expected, gas, engine, timed))
    return Sweep(tuple(row for rows in spread(_done, jobs, on, "sweep") for row in rows))


def compare(program: Compilable, *arguments: Any, revisions: str | Sequence[str] = "all", **options: Any) -> Sweep:
    """One input under every interface that has code for the program, as `residue compare` does it. Options are those of `sweep`."""
    return sweep(program, [arguments], revisions, **options)


def _revisions(asked: str | Sequence[str]) -> list[str]:
    if asked == "all":
        return [revision.name for revision in all_revisions()]
    return [revision_named(one) for one in ([asked] if isinstance(asked, str) else _listed(asked, "interfaces"))]


def _listed(given: Any, what: str) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong(f"{what} are a list, and {shown(given)} is none")
    return list(given)


def _schedules(asked: str | Sequence[str | Path] | None, revision: str) -> list[str | Path | None]:
    if asked is None:
        return [None]
    known = [schedule.name for schedule in all_schedules(revision)]
    if asked == "all":
        return list(known)
    some = [asked] if isinstance(asked, str | Path) else _listed(asked, "gas schedules")
    files = [isinstance(name, Path) or (isinstance(name, str) and name.endswith(".toml")) for name in some]
    chosen = [name if is_file else schedule_named(name) for name, is_file in zip(some, files, strict=True)]
    return [name for name, is_file in zip(chosen, files, strict=True) if is_file or name in known]


def spread(work: Callable[[A], B], items: Sequence[A], on: str, what: str) -> list[B]:
    """Results of `work` for each item, in their order, wherever it is done."""
    on = named("way to work", on, WAYS)
    done: list[B] = []
    for result in _spread(work, items, on):
        done.append(result)
        if sys.stderr.isatty():
            bar = "█" * (30 * len(done) // len(items))
            end = "\n" if len(done) == len(items) else ""
            print(f"\r{what} {bar:<30} {len(done)} of {len(items)}", end=end, file=sys.stderr, flush=True)
    return done


def _spread(work: Callable[[A], B], items: Sequence[A], on: str) -> Iterator[B]:
    if on == "serial":
        yield from map(work, items)
    elif on == "processes":
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # A process that is forked has none of the threads that its parent's native module may have.
        with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
            yield from pool.map(work, items)
    else:
        try:
            import ray
        except ImportError as error:
            raise ImportError("on='ray' needs Ray: pip install residue-evm[ray]") from error
        # The task of a lost worker is done again elsewhere.
        task = ray.remote(max_retries=5)(work)
        for waiting in [task.remote(item) for item in items]:
            yield ray.get(waiting)


@dataclass(frozen=True)
class GasEntry:
    """Gas of an input: before, from a file, and now."""

    name: str
    revision: str
    gas: int
    code_bytes: int
    gas_before: int | None = None
    code_bytes_before: int | None = None

    @property
    def percent(self) -> float:
        """Percent more than before."""
        return 0.0 if not self.gas_before else 100 * (self.gas - self.gas_before) / self.gas_before


def gas_snapshot(
    path: str | Path,
    subjects: Sequence[tuple[Compilable, tuple[Any, ...] | bytes]],
    revisions: Sequence[str] = ("eip6690-2024",),
    check: bool = False,
    tolerance: float = 0.0,
) -> list[GasEntry]:
    """Gas of programs, each with the arguments of an input, written to a file or compared with it.

    The file is that of `residue gas`, a line for each program and interface, each under its own schedule.

    Args:
        path: The file.
        subjects: Programs and contracts, each with an input, which is calldata or a tuple of what `run` takes.
        revisions: Interfaces.
        check: True to compare the results with the file instead of writing it.
        tolerance: Percent that gas may differ by.

    Raises:
        ResidueError: With `check`, if gas differs, or the file has no such line. The message has every difference.
    """
    tolerance, check = real(tolerance, "tolerance, percent,"), flag(check, "check")
    entries = []
    for subject, arguments in subjects:
        for row in sweep(subject, [arguments], revisions).rows:
            if row.reason is not None or not row.agrees or row.gas is None or row.code_bytes is None:
                raise ResidueError(f"{row.name} under {row.revision}: {row.reason or f'it ended with {row.halt}'}")
            entries.append(GasEntry(row.name, row.revision, row.gas, row.code_bytes))
    if not check:
        lines = [f"{entry.name} {entry.revision} {entry.gas} {entry.code_bytes}" for entry in entries]
        text = "# residue gas: contract, revision, gas of the example, bytes of code\n" + "\n".join(lines) + "\n"
        Path(path).write_text(text, encoding="utf-8")
        return entries
    before = _gas_before(path)
    found, differences = [], []
    for entry in entries:
        known = before.get((entry.name, entry.revision))
        if known is None:
            differences.append(f"{path} has no line for {entry.name} under {entry.revision}")
            continue
        found.append(replace(entry, gas_before=known[0], code_bytes_before=known[1]))
        if abs(found[-1].percent) > tolerance:
            differences.append(f"{entry.name} under {entry.revision}: {known[0]} gas before, {entry.gas} now ({found[-1].percent:+.2f} %)")
    if differences:
        raise ResidueError("\n".join(differences))
    return found


def _gas_before(path: str | Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Gas and bytes of code by program and interface, as a file has them."""
    before = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 4 or not all(word.isascii() and word.isdigit() for word in words[2:]):
            raise ResidueError(f"{path}, line {number}: {shown(line)} is no name, interface, gas and bytes of code")
        before[words[0], words[1]] = int(words[2]), int(words[3])
    return before
