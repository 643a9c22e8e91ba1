"""
Random programs on both sides, until EELS has executed so many instructions.

`residue fixtures --random` writes programs as state tests and as chains, once its specification and its engine agree on them; EELS then has
to end each as the file says. Batches follow by their seeds, in turn for both forks. Exit code 0 where all agree, 1 where one does not,
which is kept with its seed, 2 where tests cannot be made.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from .__main__ import positive
from .build import BuildError, build
from .run import FORKS, FixtureError, Report, Sample, run


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m residue_eels.nightly", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=positive, default=1_000_000, metavar="N", help="instructions of EELS; a million if not said")
    parser.add_argument("--seed", type=positive, default=int(time.time()) // 86_400 * 1_000_000, metavar="S", help="the first; by the day")
    parser.add_argument("--batch", type=positive, default=500, metavar="N", help="programs of a batch")
    parser.add_argument("--residue", default="residue", metavar="PATH", help="the program that writes tests")
    parser.add_argument("--keep", type=Path, default=Path("eels-differences"), metavar="DIR", help="folder for tests that differ")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N")
    return parser.parse_args()


def written(residue: str, revision: str, seed: int, batch: int, folder: Path) -> None:
    """Writes the tests of a batch of programs."""
    command = [residue, "fixtures", "--random", str(batch), "--seed", str(seed), "--revision", revision, "--out", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise FixtureError(f"{residue}: {error}") from error
    if done.returncode:
        raise FixtureError(f"{' '.join(command)}: {done.stderr.strip()}")


def one_batch(given: argparse.Namespace, forks: Path, revision: str, seed: int) -> list[Report]:
    """Runs a batch on both sides. Files with a test that differs are kept."""
    with TemporaryDirectory(prefix="residue-nightly-") as folder:
        tests = Path(folder) / "tests"
        written(given.residue, revision, seed, given.batch, tests)
        reports = list(run(forks, [tests], Sample(), given.jobs, is_first=False))
        for difference in (difference for report in reports for difference in report.differences):
            print(difference, flush=True)
            given.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(difference.path, given.keep / f"{revision}-{Path(difference.path).parts[-3]}-{Path(difference.path).name}")
    return reports


def main() -> int:
    """Runs batches. Gives the exit code."""
    given = arguments()
    steps = programs = tests = differing = 0
    begin, seed = time.monotonic(), given.seed
    try:
        with TemporaryDirectory(prefix="residue-eels-") as folder:
            build(Path(folder))
            while steps < given.steps:
                for revision in FORKS:
                    reports = one_batch(given, Path(folder), revision, seed)
                    programs += given.batch
                    tests += sum(report.executed for report in reports)
                    steps += sum(report.steps for report in reports)
                    differing += sum(len(report.differences) for report in reports)
                seed += given.batch
    except (FixtureError, BuildError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    minutes = (time.monotonic() - begin) / 60
    print(f"{programs} programs of seeds {given.seed} to {seed - 1} for {' and '.join(FORKS)}, {tests} tests, {steps} instructions in EELS")
    print(f"{differing} differ, in {minutes:.1f} minutes")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
