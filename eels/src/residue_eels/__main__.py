"""
Runs tests of `residue fixtures` in EELS, with EIP-6690 of 2024 and `evmmax-next` as forks.

Exit code 0 where all end in EELS as their files say, 1 where one does not, 2 for what is no such test.
"""

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .build import BuildError, build
from .run import FixtureError, Sample, run


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser("python -m residue_eels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixtures", nargs="+", type=Path, help="files of tests, and folders of them")
    parser.add_argument("--first", action="store_true", help="stop each file at its first test that differs")
    parser.add_argument("--share", type=positive, default=1, metavar="N", help="one in N tests")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="which of N, such as the number of the day")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes; all cores if not said")
    return parser.parse_args()


def main() -> int:
    """Runs what the command line says. Gives the exit code."""
    given = arguments()
    executed = differing = steps = 0
    try:
        with TemporaryDirectory(prefix="residue-eels-") as folder:
            build(Path(folder))
            for report in run(Path(folder), given.fixtures, Sample(given.share, given.offset), given.jobs, given.first):
                executed += report.executed
                differing += len(report.differences)
                steps += report.steps
                for difference in report.differences:
                    print(difference, flush=True)
    except (FixtureError, BuildError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{executed - differing} of {executed} tests end in EELS as their files say, in {steps} instructions")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
