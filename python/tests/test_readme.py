"""The Python of the README runs."""

from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = [block.split("```")[0] for block in README.read_text(encoding="utf-8").split("```python\n")[1:]]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_blocks_run(number, tmp_path):
    path = tmp_path / "block.py"
    path.write_text(BLOCKS[number], encoding="utf-8")
    exec(compile(BLOCKS[number], str(path), "exec"), {"__name__": "readme"})
