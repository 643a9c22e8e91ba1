"""What there is to choose from: interfaces, gas schedules, hard forks, opcodes and contracts of ours, as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from residue import _native


@dataclass(frozen=True)
class Revision:
    """An interface that gives the EVM modular arithmetic.

    Attributes:
        name: As `compile` takes it.
        summary: What it is.
        values: Where it keeps values: `slots`, `slots in memory` or `memory`.
        schedule: Its own gas schedule.
        is_default: Whether it is taken when none is named.
    """

    name: str
    summary: str
    values: str
    schedule: str
    is_default: bool


@dataclass(frozen=True)
class Schedule:
    """A gas schedule: prices of one or more interfaces.

    Attributes:
        name: As `compile` takes it.
        summary: Whose prices these are.
        revisions: The interfaces that it prices.
        default_for: Those whose own schedule it is.
    """

    name: str
    summary: str
    revisions: tuple[str, ...]
    default_for: tuple[str, ...]


@dataclass(frozen=True)
class Opcode:
    """An opcode of an interface: its prefix, if it has one, its byte, its name, what it does, and what it takes and leaves on the stack."""

    revision: str
    prefix: int | None
    byte: int
    mnemonic: str
    sentence: str
    immediate_bytes: int
    pops: int
    pushes: int


def _listed(what: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(_native.lists(what))
    return listed


@cache
def revisions() -> tuple[Revision, ...]:
    """All interfaces."""
    return tuple(Revision(row["name"], row["summary"], row["values"], row["schedule"], row["default"]) for row in _listed("revisions"))


@cache
def schedules(revision: str | None = None) -> tuple[Schedule, ...]:
    """All gas schedules that come with the package, or those for one interface."""
    rows = [row for row in _listed("schedules") if revision is None or revision in row["revisions"]]
    return tuple(Schedule(row["name"], row["summary"], tuple(row["revisions"]), tuple(row["default_for"])) for row in rows)


@cache
def forks() -> tuple[str, ...]:
    """All hard forks, the oldest first."""
    return tuple(row["name"] for row in _listed("forks"))


@cache
def opcodes(revision: str) -> tuple[Opcode, ...]:
    """The opcodes of an interface, without those of the EVM itself."""
    return tuple(Opcode(**row) for row in _listed("opcodes") if row["revision"] == revision)
