"""Campaigns: the searches of `residue check engine` and `residue lab attack`, in shards, wherever there are workers.

A shard is done in slices. What a slice has found goes back to who started the campaign, and the next slice goes on from there, so a
worker that is lost costs a slice, which is done again elsewhere, from the same seeds and with the same result.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from residue.catalogue import named
from residue.errors import ResidueError
from residue.files import read_text
from residue.integers import real, refused, shown, whole
from residue.sweep import WAYS, spread

KINDS = ("engine", "attack")


@dataclass(frozen=True)
class Slice:
    """A part of a shard.

    Attributes:
        kind: `engine` or `attack`.
        shard: Number of the shard, from 0.
        shards: Number of shards.
        seed: Seed of the campaign.
        number: Number of the slice in its shard, from 0.
        runs: Transactions that the shard has compared after it, of an engine campaign.
        state: Progress of the shard so far, as `--resume` keeps it; None at the beginning.
        options: Options of the command.
        command: The command, where it is not `residue` on the path.
    """

    kind: str
    shard: int
    shards: int
    seed: int
    number: int
    runs: int
    state: str | None
    options: tuple[str, ...]
    command: str | None

    def done(self) -> Slice:
        """The same with the state after it."""
        with tempfile.TemporaryDirectory(prefix="residue-") as folder:
            path = Path(folder) / "state.json"
            if self.kind == "engine":
                if self.state is not None:
                    path.write_text(self.state, encoding="utf-8")
                where = ["--shard", f"{self.shard}/{self.shards}", "--resume", str(path), "--threads", "1"]
                self._run(["check", "engine", "--runs", str(self.runs), "--seed", str(self.seed), *where])
                return replace(self, state=path.read_text(encoding="utf-8"))
            seed = self.seed + self.shard + self.shards * self.number
            found = self._run(["lab", "attack", "--seed", str(seed), "--json"])
            before = [] if self.state is None else json.loads(self.state)
            return replace(self, state=json.dumps([*before, {"seed": seed, **json.loads(found)}]))

    def _run(self, arguments: list[str]) -> str:
        command = self.command or os.environ.get("RESIDUE") or shutil.which("residue")
        if command is None:
            raise ResidueError("campaigns run `residue`, which is not on the path; RESIDUE may say where it is")
        ended = subprocess.run([command, *arguments, *self.options], capture_output=True, text=True, check=False)
        # 1 says that something was found.
        if ended.returncode not in (0, 1):
            raise ResidueError(f"{command} {' '.join(arguments)} ended with {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout


def _done(part: Slice) -> Slice:
    return part.done()


@dataclass(frozen=True)
class Campaign:
    """Result of a campaign.

    Attributes:
        kind: `engine` or `attack`.
        shards: Progress of each shard: as `--resume` keeps it for `engine`, a list of searches for `attack`.
        seconds: Time taken.
    """

    kind: str
    shards: tuple[Any, ...]
    seconds: float

    @property
    def findings(self) -> tuple[dict[str, Any], ...]:
        """Findings: histories in which engines differ, or the transactions that took longest for their gas."""
        if self.kind == "engine":
            return tuple(finding for shard in self.shards for finding in shard["tally"]["findings"])
        return tuple(search for shard in self.shards for search in shard)

    @property
    def runs(self) -> int:
        """Transactions that were compared, of an engine campaign."""
        return sum(shard["tally"]["runs"] for shard in self.shards) if self.kind == "engine" else 0

    def without_times(self) -> tuple[Any, ...]:
        """The part that is independent of place and time of computation."""
        if self.kind == "engine":
            return tuple({name: value for name, value in shard.items() if name != "seconds"} for shard in self.shards)
        return tuple(tuple(search["seed"] for search in shard) for shard in self.shards)


def campaign(
    kind: str = "engine",
    hours: float | None = None,
    slices: int | None = None,
    on: str = "processes",
    shards: int = 2,
    seed: int = 1,
    slice_runs: int = 5_000,
    path: str | Path | None = None,
    command: str | None = None,
    options: tuple[str, ...] = (),
) -> Campaign:
    """Searches for what is wrong with the engine (`engine`), or for transactions that take long for their gas (`attack`).

    Args:
        kind: Kind of search.
        hours: Time limit; no slice begins after that.
        slices: Number of slices of each shard instead; the result is the same wherever they are done.
        on: `serial`, `processes` or `ray`.
        shards: Number of searches at once, each with its own seeds.
        seed: The first seed.
        slice_runs: Transactions of a slice of an engine campaign, at least.
        path: A file that keeps what has been done, to go on from after this process was lost.
        command: The command, where it is not `residue` on the path or what RESIDUE says.
        options: More options for it, such as `("--revision", "eip6690-2024")`.
    """
    kind, on = named("campaign", kind, KINDS), named("way to work", on, WAYS)
    if isinstance(options, str):
        raise refused(f'options are a tuple of text, and {shown(options)} is text: ("--revision", "eip6690-2024")')
    slices = None if slices is None else whole(slices, "the number of slices", 0)
    hours = None if hours is None else real(hours, "hours")
    shards, slice_runs = whole(shards, "the number of shards", 1), whole(slice_runs, "transactions of a slice", 1)
    seed = whole(seed, "the first seed", 0, (1 << 64) - 1)
    if (hours is None) == (slices is None):
        raise ResidueError("a campaign ends after so many hours, or so many slices: name one of them")
    begun = time.monotonic()
    about = {"kind": kind, "shards": shards, "seed": seed, "slice_runs": slice_runs, "options": list(options)}
    number, states = _kept(path, about)
    while (slices is not None and number < slices) or (hours is not None and time.monotonic() - begun < 3600 * hours):
        runs = slice_runs * (number + 1)
        parts = [
            Slice(kind, shard, shards, seed, number, runs, states[shard] if states else None, options, command) for shard in range(shards)
        ]
        states = [str(part.state) for part in spread(_done, parts, on, f"campaign, slice {number + 1}")]
        number += 1
        if path is not None:
            text = json.dumps({"campaign": about, "slices": number, "states": states})
            beside = Path(f"{path}.new")
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
    return Campaign(kind, tuple(json.loads(state) for state in states), time.monotonic() - begun)


def _kept(path: str | Path | None, about: dict[str, Any]) -> tuple[int, list[str]]:
    """Number of finished slices, and the states of the shards after them."""
    if path is None or not Path(path).exists():
        return 0, []
    try:
        kept = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ResidueError(f"{path} is no file of a campaign: {error}") from None
    if not isinstance(kept, dict) or "campaign" not in kept:
        raise ResidueError(f"{path} is no file of a campaign")
    if kept.get("campaign") != about:
        raise ResidueError(f"{path} is of another campaign: {kept.get('campaign')}")
    return int(kept["slices"]), list(kept["states"])
