"""
Tests of `residue fixtures` in EELS, with the forks of this package.

A state test is executed by EELS' own runner of state tests, as `ethereum-spec-evm statetest` does it. The state root, the hash of the logs,
the transaction as it was signed and the gas have to be those of the file. `blocks` has the other formats.
"""

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ethereum.crypto.hash import keccak256
from ethereum.trace import OpStart, TraceEvent, set_evm_trace
from ethereum_spec_tools.evm_tools.loaders.fixture_loader import Load
from ethereum_spec_tools.evm_tools.statetest import TestCase, read_test_case, run_test_case
from ethereum_spec_tools.evm_tools.t8n import ForkCache
from ethereum_spec_tools.evm_tools.t8n.t8n_types import Result

from .blocks import Fields, chain_fields, is_named, transaction_fields
from .build import install
from .shape import fault_of, format_of

FORKS = {"eip6690-2024": "Eip6690", "evmmax-next": "EvmmaxNext"}
"""Forks by the revision that a test names, as EELS' tools name forks."""
SHORT_NAMES = {"Eip6690": "eip6690", "EvmmaxNext": "evmmax_next"}
"""The same forks, as EELS' loaders name them."""


class FixtureError(Exception):
    """A file that is no test of a known revision, with the file and what is wrong."""


@dataclass(frozen=True)
class Difference:
    """A test that ends otherwise in EELS than its file says."""

    path: str
    test: str
    field: str
    expected: object
    actual: object

    def __str__(self) -> str:
        """One line, with the file first."""
        return f"{self.path}: {self.test}: {self.field} is {self.actual} in EELS, {self.expected} in the file"


@dataclass(frozen=True)
class Sample:
    """Every test whose number leaves `offset` modulo `share`; all of them where `share` is 1."""

    share: int = 1
    offset: int = 0


@dataclass(frozen=True)
class Report:
    """How many tests were executed, in how many instructions of EELS, and what is different."""

    executed: int
    differences: tuple[Difference, ...]
    steps: int


@dataclass(frozen=True)
class Case:
    """A test of a file, with its fork."""

    path: str
    key: str
    fork: str
    test: dict[str, Any]


@dataclass
class Counter:
    """The instructions that EELS has begun."""

    steps: int = 0

    def __call__(self, evm: object, event: TraceEvent) -> None:
        """Counts one."""
        self.steps += isinstance(event, OpStart)


def tests_of(path: Path) -> dict[str, dict[str, Any]]:
    """What a file has by names of tests."""
    try:
        tests = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from error
    if not isinstance(tests, dict) or not tests:
        raise FixtureError(f"{path}: no object of tests by name")
    return tests


def cases_of(path: Path, prefix: str = "") -> Iterator[Case]:
    """The tests of a file whose names begin so, each with the fork of its revision."""
    for key, test in tests_of(path).items():
        if not key.startswith(prefix):
            continue
        if fault := fault_of(test):
            raise FixtureError(f"{path}: {key}: {fault}")
        revision = test["_info"]["revision"]
        if revision not in FORKS:
            raise FixtureError(f"{path}: {key}: no fork for revision {revision!r}; there is {' and '.join(FORKS)}")
        yield Case(str(path), key, FORKS[revision], test)


def state_fields(case: Case, cache: ForkCache) -> Fields:
    """Fields of a state test, what its file says of each, and what EELS says."""
    for entry in read_test_case(case.path, case.key, case.test):
        entry.fork_name = case.fork
        yield from compared(entry, run_test_case(entry, cache))


def fields(case: Case, cache: ForkCache) -> Fields:
    """Fields of a test of any format, what its file says of each, and what EELS says."""
    name = format_of(case.test)
    if name == "state_test":
        return state_fields(case, cache)
    load = Load(SHORT_NAMES[case.fork])
    return chain_fields(case.test, load) if name == "blockchain_test" else transaction_fields(case.test, load)


def compared(case: TestCase, result: Result) -> Fields:
    """Fields of a state test that was executed."""
    refused = case.post.get("expectException")
    yield "transaction refused", refused is not None, bool(result.rejected)
    yield "state root", case.post["hash"], f"0x{result.state_root.hex()}"
    yield "hash of logs", case.post["logs"], f"0x{result.logs_hash.hex()}"
    if refused is not None:
        reasons = " ".join(str(reason) for reason in result.rejected.values())
        yield "exception", True, is_named(refused, reasons) or reasons
    for (transaction, receipt), said in zip(result.receipts, [case.post["receipt"]] if refused is None else [], strict=True):
        yield "hash of the transaction", f"0x{keccak256(bytes.fromhex(case.post['txbytes'][2:])).hex()}", f"0x{transaction.hex()}"
        yield "gas", int(said["cumulativeGasUsed"], 16), int(receipt.cumulative_gas_used)
        yield "success", said["status"], receipt.succeeded


def difference(case: Case, cache: ForkCache) -> Difference | None:
    """Executes a test. None if EELS ends as the file says."""
    found = partial(Difference, case.path, case.key)
    try:
        for field, expected, actual in fields(case, cache):
            if expected != actual:
                return found(field, expected, actual)
    except Exception as error:  # Whatever EELS raises that is no failure of the transaction is a fault in it.
        return found("execution", "an end", f"an error: {error!r}")
    return None


def files_of(paths: list[Path]) -> list[Path]:
    """Files, and those below folders in the order of their names."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        if not found:
            raise FixtureError(f"{path}: no file of tests below it")
        files += found
    return files


def prepare(folder: Path) -> None:
    """Makes the forks of a folder known to a process, and its log silent: a transaction that is refused is no news."""
    install(folder)
    logging.disable(logging.CRITICAL)


def run_file(path: Path, sample: Sample, is_first: bool, prefix: str = "") -> Report:
    """Executes the tests of a file whose names begin so, or as far as the first that differs."""
    executed, differences, counter = 0, [], Counter()
    set_evm_trace(counter)
    with ForkCache() as cache:
        for number, case in enumerate(cases_of(path, prefix)):
            if number % sample.share != sample.offset % sample.share:
                continue
            executed += 1
            if found := difference(case, cache):
                differences.append(found)
                if is_first:
                    break
    return Report(executed, tuple(differences), counter.steps)


def run(folder: Path, paths: list[Path], sample: Sample, jobs: int, is_first: bool) -> Iterator[Report]:
    """Executes tests with the forks of a folder, in so many processes. Gives a report for each file, as files are done."""
    files = sorted(files_of(paths), key=lambda path: -path.stat().st_size if path.exists() else 0)
    with ProcessPoolExecutor(jobs, initializer=prepare, initargs=(folder,)) as pool:
        yield from pool.map(partial(run_file, sample=sample, is_first=is_first), files)
