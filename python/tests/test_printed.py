"""Programs that `residue print --python` writes: recorded again, they are the programs that they were printed from."""

import re
import subprocess
from pathlib import Path

import pytest

import residue as rs
from residue import _native

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples/ir").glob("*.ir"))
PAGE = (ROOT / "docs/ir.md").read_text()
# Programs with their calldata and what they return.
OF_PAGE = re.findall(r"```ir\n(# calldata 0x(\S*) returns 0x(\S*)\n.*?)```", PAGE, re.DOTALL)
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

    def is_open(token: str) -> bool:
        return words.get(token, "defined") != "defined" and token not in whole

    def named(match: re.Match[str]) -> str:
        token = match[0]
        if token in constants:
            return constants[token]
        # Parts before what is made of them, without recursion: words are thousands deep.
        waiting = [token] if is_open(token) else []
        while waiting:
            if parts := [part for part in re.findall(r"w\d+", words[waiting[-1]]) if is_open(part)]:
                waiting.append(parts[0])
                continue
            # Once: words share parts, and written out some are longer than any text.
            word = waiting.pop()
            written = re.sub(r"w\d+", named, words[word])
            if written not in numbers:
                numbers[written] = len(numbers)
                lines.append(f"[{numbers[written]}] {written}")
            whole[word] = f"[{numbers[written]}]"
        return whole[token] if token in whole else names.setdefault(token, f"{token[0]}{len(names)}")

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


def name_of(block: str) -> str:
    return block.split('program "')[1].partition('"')[0]


@pytest.mark.parametrize(("text", "calldata", "returned"), OF_PAGE, ids=[name_of(block[0]) for block in OF_PAGE])
def test_programs_of_the_page_are_recorded_and_computed(text: str, calldata: str, returned: str, tmp_path: Path) -> None:
    path = tmp_path / "page.ir"
    path.write_text(text)
    again = recorded(printed(str(path)))
    assert normal(again) == normal(_native.check(text))
    assert rs.ProgramText(again).evaluate(bytes.fromhex(calldata)).hex() == returned


def test_every_statement_is_recorded_from_python(tmp_path: Path) -> None:
    grammar = PAGE.split("<!-- grammar of effects -->")[1].split("cells     =")[0]
    effects = re.findall(r'^(?:effect    =|          \|) "(\w+)"', grammar, re.MULTILINE)
    statements = {"block", "call", "repeat", "countdown", "sequence", "branch", *effects}
    assert len(effects) == len(set(effects)) > 40
    found = set()
    for text, _, _ in OF_PAGE:
        path = tmp_path / "page.ir"
        path.write_text(text)
        found |= {line.split()[0] for line in recorded(printed(str(path))).splitlines() if line.strip()}
    assert statements <= found, statements - found


def test_lanes_of_words_are_written_from_numbers() -> None:
    q, root = 12_289, 1_479
    rows = " ".join(f"({' '.join(str(int(lane == row)) for lane in range(8))})" for row in range(8))
    steps = f"take 0 from (0) take 1 from (32) butterfly 0 1 by {root} put 0 to 0 ({rows}) put 1 to 64 ({rows})"
    lanes = f"lanes bits 32 modulo {q} words 2 at 64 ({steps})"

    @rs.program(rs.Field(97))
    def transform(call: rs.Call) -> None:
        rs.ir.effect("scratch bytes 128")
        rs.ir.effect(lanes)
        rs.ir.effect("return_scratch {} bytes {}", rs.word(0), rs.word(128))

    assert lanes in transform.text
    low, high = [pow(7, n, q) for n in range(8)], [pow(11, n, q) for n in range(8)]
    numbers = [(a + sign * root * b) % q for sign in (1, -1) for a, b in zip(low, high, strict=True)]
    taken = b"".join(number.to_bytes(4, "big") for number in low + high)
    expected = b"".join(number.to_bytes(8, "big") for number in numbers)
    assert transform.evaluate(taken) == expected
    run = transform.compile("evm").run(taken)
    assert run.success
    assert run.output == expected
    with pytest.raises(rs.RecordingError, match="computed by evaluate"):
        transform(taken)


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
