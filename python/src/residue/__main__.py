"""`python -m residue`: checks a BLS signature with the pairing contract as EVM bytecode, beside the native library on the same input.

It exits with 0 only if every output is the native one.
"""

from __future__ import annotations

import json
import sys

from residue import _native
from residue.program import contract
from residue.results import Run

CONTRACT = "bls12_381/pairing"
REVISIONS = ("evm384-v7", "eip6690-2024")


def grouped(number: int | None) -> str:
    """A number with its thousands set apart."""
    return "" if number is None else f"{number:,}".replace(",", " ")


def duration(ns: int | None) -> str:
    """A time in milliseconds."""
    return "" if ns is None else f"{ns / 1e6:.2f} ms"


def main() -> int:
    """Runs the contract under the interfaces that are measured, and compares."""
    pairing = contract(CONTRACT)
    native = pairing.native()
    assert native is not None, "the contract replaces a precompile"
    expected = bytes.fromhex(native["output"][2:])
    codes = {revision: pairing.compile(revision) for revision in REVISIONS}
    runs = {revision: code.run(timed=True) for revision, code in codes.items()}
    agree = {revision: run.success and run.output == expected for revision, run in runs.items()}

    print(f"{pairing.name}: {pairing.summary}")
    print(f"the native precompile returns {int.from_bytes(expected, 'big')} and charges {grouped(native['gas_used'])} gas\n")

    def row(name: str, *cells: str) -> None:
        print(f" {name:<20}" + "".join(f"{cell:>20}" for cell in cells))

    def result(revision: str, run: Run) -> str:
        number = int.from_bytes(run.output, "big")
        return f"{number}, {'as native' if agree[revision] else 'NOT as native'}"

    row("", *REVISIONS)
    row("gas schedule", *(run.schedule for run in runs.values()))
    row("halt", *(run.halt for run in runs.values()))
    row("result", *(result(revision, run) for revision, run in runs.items()))
    row("gas", *(grouped(run.gas_used) for run in runs.values()))
    for part in ("arithmetic", "transfer", "memory", "control"):
        row(f"  {part}", *(grouped(getattr(run.gas_split, part)) for run in runs.values()))
    row("code, bytes", *(grouped(run.code_bytes) for run in runs.values()))
    row("time", *(duration(run.time_ns) for run in runs.values()))
    row("native time", *(duration(run.native_ns) for run in runs.values()))
    row("time / native", *(f"{run.native_ratio:.2f} ×" if run.native_ratio else "" for run in runs.values()))
    print(f"\n{json.loads(_native.machine())['line']}")
    return 0 if all(agree.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
