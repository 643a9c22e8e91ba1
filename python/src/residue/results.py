"""Results of executions, traces and profiles, as values. Bytes are `bytes`, times nanoseconds, gas whole gas."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, SupportsIndex

from residue import _native, html
from residue.catalogue import named
from residue.integers import flag, refused, whole

if TYPE_CHECKING:
    import pandas


def frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    """Rows as a data frame; pandas is asked for only here."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a data frame needs pandas: pip install residue-evm[frames]") from error
    made: pandas.DataFrame = pandas.DataFrame(rows)
    return made


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


@dataclass(frozen=True)
class GasSplit:
    """Breakdown of gas: field arithmetic, transfers of values, growth of memory, and all else."""

    arithmetic: int
    transfer: int
    memory: int
    control: int


@dataclass(frozen=True)
class Variant:
    """One choice of formulas for a contract, with the gas of its example."""

    f2mul: int
    small_multiples: str
    gas: int
    code_bytes: int


@dataclass(frozen=True)
class Block:
    """Field instructions that are executed as one.

    Attributes:
        start: Offset of the first in the code.
        end: Offset after the last.
        runs: Runs of instructions that are joined in it.
        add: Additions.
        sub: Subtractions.
        mul: Multiplications.
        scalar_cycles: Cycles that they are expected to take one by one.
        plan: The plan of the batch engine by name: products, batches, cycles; None where there is none.
        trace_steps: Steps of its scalar trace, where it runs as one.
    """

    start: int
    end: int
    runs: int
    add: int
    sub: int
    mul: int
    scalar_cycles: int
    plan: dict[str, Any] | None
    trace_steps: int | None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Block:
        """From what the native module says."""
        names = {"start": "from", "end": "to"}
        return cls(**{one.name: told[names.get(one.name, one.name)] for one in fields(cls)})


@dataclass(frozen=True)
class Run:
    """Result of an execution.

    Attributes:
        success: True if it stopped or returned.
        halt: Name of the halt.
        output: Its output.
        gas_used: Gas of the frame.
        gas_split: Breakdown of the gas; None where that is not known.
        ops: Executed instructions by mnemonic.
        code_bytes: Bytes of code.
        memory_bytes: Bytes of memory at its end.
        time_ns: Median of warm executions, if it was timed.
        cold_ns: The first execution, with analysis of the code.
        native_ns: The precompile that does the same, if there is one.
        native_ratio: Its time as a multiple of that.
        engine: The executor.
        revision: The interface.
        schedule: The gas schedule.
        fork: The hard fork.
        blocks: The blocks of field instructions, if they were explained.
    """

    success: bool
    halt: str
    output: bytes
    gas_used: int
    gas_split: GasSplit | None
    ops: dict[str, int] | None
    code_bytes: int
    memory_bytes: int
    time_ns: int | None
    cold_ns: int | None
    native_ns: int | None
    native_ratio: float | None
    engine: str
    revision: str
    schedule: str
    fork: str
    blocks: tuple[Block, ...] | None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Run:
        """From what the native module says."""
        own: dict[str, Any] = {one.name: told.get(one.name) for one in fields(cls)}
        own["output"] = _bytes(told["output"])
        own["gas_split"] = GasSplit(**told["gas_split"]) if told["gas_split"] else None
        own["blocks"] = tuple(map(Block.of, told["blocks"])) if "blocks" in told else None
        return cls(**own)

    def numbers(self, size: SupportsIndex = 32) -> tuple[int, ...]:
        """The output as big-endian numbers of `size` bytes each, which have to be all of it."""
        size = whole(size, "the size of a number in bytes", 1)
        if len(self.output) % size:
            raise refused(f"the output has {len(self.output)} bytes, which are no numbers of {size} bytes each: numbers(size=…)")
        return tuple(int.from_bytes(self.output[at : at + size], "big") for at in range(0, len(self.output), size))


@dataclass(frozen=True)
class Step:
    """An executed instruction.

    Attributes:
        depth: Nesting of calls.
        pc: Offset in the code.
        mnemonic: Its name; None of a byte that is no opcode.
        words: Words taken from the stack, top first, or pushed.
        lanes: Results of field arithmetic, each with `operation`, `out`, `x` and `y`.
        gas_cost: Gas charged for it.
        source: Function and stretches that it comes from, joined by `/`; the last is the line of Python.
        halt: Halt of the frame, if it ended.
    """

    depth: int
    pc: int
    mnemonic: str | None
    words: tuple[int, ...]
    lanes: tuple[dict[str, Any], ...]
    gas_cost: int
    source: str | None
    halt: str | None


@dataclass(frozen=True)
class Trace:
    """The instructions of an execution.

    Attributes:
        success: True if it stopped or returned.
        halt: Name of the halt.
        gas_used: Gas of the frame.
        steps: The instructions that were asked for.
        steps_left_out: Number of further steps.
    """

    success: bool
    halt: str
    gas_used: int
    steps: tuple[Step, ...]
    steps_left_out: int

    @classmethod
    def of(cls, told: dict[str, Any]) -> Trace:
        """From what the native module says."""

        def step(row: dict[str, Any]) -> Step:
            words = tuple(int(word, 16) for word in row.pop("words"))
            return Step(words=words, lanes=tuple(row.pop("lanes")), **row)

        return cls(**{**told, "steps": tuple(map(step, told["steps"]))})

    def frame(self) -> pandas.DataFrame:
        """A row for each instruction."""
        return frame([vars(step) for step in self.steps])


@dataclass(frozen=True)
class Node:
    """A function, a Python function within it, or a line of Python.

    Attributes:
        name: Its name.
        parent: Index of what called it, or what it stands in.
        is_function: True if it is a function of its own in the code.
        calls: Number of calls.
        gas: Its own gas, without that of its children.
        time_ns: Its own time, if times were measured.
    """

    name: str
    parent: int | None
    is_function: bool
    calls: int
    gas: int
    time_ns: float | None

    @property
    def is_line(self) -> bool:
        """True if it is a line of Python."""
        return _LINE.search(self.name) is not None


_LINE = re.compile(r":\d+$")


@dataclass(frozen=True)
class Profile:
    """Profile of an execution: a tree of functions, Python functions and lines.

    Attributes:
        title: Name and setting of the execution.
        success: True if it stopped or returned.
        halt: Name of the halt.
        gas_used: Gas of the frame.
        time_ns: Median time of an execution, if times were measured.
        nodes: The tree, parents before children.
    """

    title: str
    success: bool
    halt: str
    gas_used: int
    time_ns: float | None
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, told: dict[str, Any], title: str) -> Profile:
        """From what the native module says."""
        nodes = tuple(Node(**node) for node in told["nodes"])
        return cls(title, told["success"], told["halt"], told["gas_used"], told["time_ns"], nodes)

    def _rows(self, chosen: list[bool]) -> list[dict[str, Any]]:
        """Calls, own gas and gas with callees by name; what calls itself by another way is counted once."""
        with_callees = [node.gas for node in self.nodes]
        for at in range(len(self.nodes) - 1, -1, -1):
            parent = self.nodes[at].parent
            if parent is not None:
                with_callees[parent] += with_callees[at]
        rows: dict[str, dict[str, Any]] = {}
        for at, node in enumerate(self.nodes):
            if not chosen[at]:
                continue
            row = rows.setdefault(node.name, {"name": node.name, "calls": 0, "gas": 0, "gas_with_callees": 0})
            row["calls"] += node.calls
            row["gas"] += node.gas
            parent = node.parent
            while parent is not None and self.nodes[parent].name != node.name:
                parent = self.nodes[parent].parent
            if parent is None:
                row["gas_with_callees"] += with_callees[at]
        return sorted(rows.values(), key=lambda row: (-row["gas_with_callees"], row["name"]))

    def by_name(self) -> list[dict[str, Any]]:
        """Gas by function, of the code and of Python, without lines: `name`, `calls`, `gas`, `gas_with_callees`."""
        whole = self.without_lines()
        return whole._rows([True] * len(whole.nodes))

    def by_line(self) -> list[dict[str, Any]]:
        """Gas by line of Python, as `by_name` gives it."""
        return self._rows([node.is_line for node in self.nodes])

    def without_lines(self) -> Profile:
        """The same where lines are part of the functions that they stand in."""
        return self._merged(lambda node: not node.is_line)

    def _merged(self, keeps: Any) -> Profile:
        kept: list[dict[str, Any]] = []
        place: dict[tuple[int | None, str], int] = {}
        new: list[int | None] = []
        for node in self.nodes:
            parent = new[node.parent] if node.parent is not None else None
            if parent is not None and not keeps(node):
                kept[parent]["gas"] += node.gas
                kept[parent]["time_ns"] = (kept[parent]["time_ns"] or 0.0) + (node.time_ns or 0.0)
                new.append(parent)
                continue
            at = place.setdefault((parent, node.name), len(kept))
            if at == len(kept):
                kept.append({**vars(node), "parent": parent})
            else:
                kept[at]["calls"] += node.calls
                kept[at]["gas"] += node.gas
                kept[at]["time_ns"] = (kept[at]["time_ns"] or 0.0) + (node.time_ns or 0.0)
            new.append(at)
        nodes = tuple(Node(**one) for one in kept)
        return Profile(self.title, self.success, self.halt, self.gas_used, self.time_ns, nodes)

    def frame(self) -> pandas.DataFrame:
        """`by_name` as a data frame."""
        return frame(self.by_name())

    def flame_graph(self, by: str = "gas", lines: bool = False) -> str:
        """A flame graph as SVG, by `gas` or `time`; with a box for each line of Python if `lines`."""
        by = named("measure", by, ("gas", "time"))
        shown = self if flag(lines, "lines") else self.without_lines()
        nodes = [{**vars(node), "time_ns": node.time_ns or 0.0} for node in shown.nodes]
        return _native.flame_graph(json.dumps(nodes), self.title, by)

    def _repr_html_(self) -> str:
        return html.profile(self)
