"""Catalogue of the choices: interfaces, gas schedules, hard forks, opcodes and contracts of ours, as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from residue import _native
from residue.errors import UnknownName
from residue.integers import shown


@dataclass(frozen=True)
class Revision:
    """An interface that gives the EVM modular arithmetic.

    Attributes:
        name: As `compile` takes it.
        summary: Its description, in a line.
        values: Place of values: `slots`, `slots in memory` or `memory`.
        schedule: Its own gas schedule.
        is_default: True if it is used when none is named.
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


OFFERED_MAX = 4
"""Names that are offered for one that nothing has."""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The few known names nearest to one that nothing has: those that contain it, then those spelled like it."""
    by_case = {one.casefold(): one for one in known}
    asked = name.casefold()[:100]
    containing = [one for one in by_case if len(asked) > 2 and asked in one]
    alike = get_close_matches(asked, by_case, OFFERED_MAX)
    return [by_case[one] for one in dict.fromkeys([*containing, *alike])][:OFFERED_MAX]


def offer(name: str, known: Sequence[str], those: str) -> str:
    """The end of a message on a name that nothing has: all names if they are few, else the nearest, and `those`, on where all are."""
    few = list(known) if len(known) <= OFFERED_MAX else nearest(name, known)
    listed = f"{', '.join(few[:-1])} or {few[-1]}" if len(few) > 1 else "".join(few)
    if len(known) <= OFFERED_MAX:
        return f": {listed}"
    return f"; did you mean {listed}? {those}" if few else f": {those}"


def named(what: str, name: Any, known: Sequence[str], those: str = "") -> str:
    """A known name, in whatever case it is written."""
    if isinstance(name, str):
        for one in known:
            if one.casefold() == name.casefold():
                return one
        raise UnknownName(f"{shown(name)} is no {what}{offer(name, known, those)}")
    raise UnknownName(f"{shown(name)} is no {what}: its name is text")


@cache
def revisions() -> tuple[Revision, ...]:
    """All interfaces. Beside them programs are compiled for the EVM as it is, `evm`, and what `beside()` has."""
    return _revisions("revisions")


@cache
def beside() -> tuple[Revision, ...]:
    """Targets of programs beside the interfaces."""
    return _revisions("beside")


def _revisions(what: str) -> tuple[Revision, ...]:
    return tuple(Revision(row["name"], row["summary"], row["values"], row["schedule"], row["default"]) for row in _listed(what))


def revision_named(name: Any) -> str:
    """The name of an interface."""
    return named("interface", name, [one.name for one in (*revisions(), *beside())], "residue.revisions() has them all")


def schedules(revision: str | None = None) -> tuple[Schedule, ...]:
    """All gas schedules that come with the package, or those for one interface."""
    only = None if revision is None else revision_named(revision)
    return tuple(schedule for schedule in _schedules() if only is None or only in schedule.revisions)


@cache
def _schedules() -> tuple[Schedule, ...]:
    rows = _listed("schedules")
    return tuple(Schedule(row["name"], row["summary"], tuple(row["revisions"]), tuple(row["default_for"])) for row in rows)


def schedule_named(name: Any) -> str:
    """The name of a gas schedule."""
    return named("gas schedule", name, [one.name for one in _schedules()], "residue.schedules() has them all")


@cache
def forks() -> tuple[str, ...]:
    """All hard forks, the oldest first."""
    return tuple(row["name"] for row in _listed("forks"))


def opcodes(revision: str) -> tuple[Opcode, ...]:
    """The opcodes of an interface, without those of the EVM itself."""
    name = revision_named(revision)
    return tuple(Opcode(**row) for row in _opcodes() if row["revision"] == name)


@cache
def _opcodes() -> list[dict[str, Any]]:
    return _listed("opcodes")
