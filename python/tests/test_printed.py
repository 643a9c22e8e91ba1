"""Programs that `residue print --python` writes: recorded again, they are the programs that they were printed from."""

import re
import subprocess
from pathlib import Path

import pytest

import residue as rs
from residue import _native

EXAMPLES = sorted((Path(__file__).parents[2] / "examples/ir").glob("*.ir"))
CONTRACTS = [contract.name for contract in rs.contracts()]
REVISION = "eip6690-2024"


def printed(subject: str, *options: str) -> str:
    return subprocess.run(["residue", "print", subject, *(options or ["--python"])], check=True, capture_output=True, text=True).stdout


def recorded(text: str) -> str:
    names: dict[str, object] = {}
    exec(compile(text, "printed.py", "exec"), names)
    program = names["program"]
    assert isinstance(program, rs.Program)
    return program.text


def normal(text: str) -> list[str]:
    """Lines of a program without what a recording numbers anew: constants and words by what they are, values by their first use."""
    text = re.sub(r"#.*", "", text)
    modulus = re.search(r"modulus (\S+)", text)
    assert modulus is not None
    constants = {name: f"<{int(value, 16):x}>" for name, value in re.findall(r"constant (c\d+) = (\S+)", text)}
    lines = [modulus[1]]
    words: dict[str, str] = {}
    names: dict[str, str] = {}
    whole: dict[str, str] = {}
    numbers: dict[str, int] = {}

    def named(match: re.Match[str]) -> str:
        token = match[0]
        if token in constants:
            return constants[token]
        if words.get(token, "defined") != "defined":
            # Once: words share parts, and written out some are longer than any text.
            if token not in whole:
                written = re.sub(r"w\d+", named, words[token])
                if written not in numbers:
                    numbers[written] = len(numbers)
                    lines.append(f"[{numbers[written]}] {written}")
                whole[token] = f"[{numbers[written]}]"
            return whole[token]
        return names.setdefault(token, f"{token[0]}{len(names)}")

    for line in map(str.strip, text.splitlines()):
        if found := re.match(r"function (f\d+) \".*?\" (.*) values \d+ {", line):
            words, names, whole = {}, {}, {}
            lines.append(f"{found[1]} {re.sub(r'[cvw][0-9]+', named, found[2].partition('->')[0])}")
        elif found := re.match(r"word (w\d+) = (.*)", line):
            words[found[1]] = found[2]
        elif line and not re.match(r"(program|modulus|constant|variable|stretch|of) ", line):
            # Statements may share a line; what is recorded has one on each.
            lines.append(re.sub(r"\b[cvw]\d+\b", named, line))
    return lines


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_recorded_as_they_were(path: Path) -> None:
    assert normal(recorded(printed(str(path)))) == normal(_native.check(path.read_text()))


@pytest.mark.parametrize("name", CONTRACTS)
def test_contracts_are_too_and_have_the_same_code(name: str) -> None:
    before, after = printed(name, "--revision", REVISION), recorded(printed(name))
    assert normal(after) == normal(before)
    assert code(after) == code(before)


def code(text: str) -> bytes | str:
    """Its code, or why it has none for this interface."""
    try:
        return rs.ProgramText(text).compile(REVISION).bytes
    except rs.CompileError as error:
        return str(error)


def test_another_program_is_found() -> None:
    text = printed(str(EXAMPLES[0]))
    other = recorded(re.sub(r" \* ", " + ", text, count=1))
    assert normal(other) != normal(recorded(text))


def test_statements_by_their_text_are_recorded_alone() -> None:
    @rs.program(rs.Field(97))
    def inverse(call: rs.Call) -> rs.Element:
        return rs.ir.effect("invert {} -> v", call.element(0, 1))

    assert inverse.evaluate((5).to_bytes(1, "big")) == (39).to_bytes(32, "big")
    with pytest.raises(rs.RecordingError, match="computed by evaluate"):
        inverse(5)


def test_texts_that_fit_no_parts_are_refused() -> None:
    def refused(text: str, *parts: object) -> str:
        with pytest.raises(rs.RecordingError) as error:
            rs.program(rs.Field(97))(lambda call: rs.ir.effect(text, *parts)).text
        return str(error.value)

    assert "has 1 places, and 0 parts are given" in refused("invert {} -> v")
    assert "stands in no statement" in refused("invert {} -> v", "x")
    assert "defines v, w or (v v" in refused("invert {} -> y", rs.Field(97)(5))
