"""Code: contracts of ours, results as values, and what cannot be done, by kind."""

import dataclasses
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import pandas
import pytest

import residue as rs
from residue import _native

F = rs.Field(0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47, "BN254 Fp")


@rs.program(F)
def polynomial(call):
    x, y = call.element(0), call.element(32)
    return 3 * x**5 + 7 * x * y - y


def test_lists_are_data():
    revisions = {revision.name: revision for revision in rs.revisions()}
    assert len(revisions) >= 23
    assert [name for name, revision in revisions.items() if revision.is_default] == ["eip6690-2024"]
    assert revisions["evm384-v7"].values == "memory"
    assert "evmone" in [schedule.name for schedule in rs.schedules("evm384-v7")]
    assert "osaka" in rs.forks()
    assert "evm" in [revision.name for revision in rs.beside()]
    assert "evm" not in revisions
    assert rs.schedules("evm")
    assert polynomial.run(3, 4, revision="evm").output == polynomial(3, 4)
    assert {"SETMODX", "MULMODX"} <= {opcode.mnemonic for opcode in rs.opcodes("eip6690-2024")}
    assert {opcode.prefix for opcode in rs.opcodes("x-extx")} == {0xAE}
    assert rs.contract("bn254/mul").precompile == 7
    assert len(rs.contracts()) > 20


def test_a_contract_is_what_the_precompile_is():
    contract = rs.contract("bn254/mul")
    native = contract.native()
    assert native is not None
    code = contract.compile("evm384-v7", multiples="additions")
    run = code.run(contract.example, timed=True)
    assert "0x" + run.output.hex() == native["output"]
    assert run.time_ns
    assert run.native_ns
    assert [variant.small_multiples for variant in code.variants] == ["additions"]
    assert len(rs.contract("bls12_381/g2_add").compile().variants) > 1
    assert rs.ProgramText(contract.text).run(contract.example).output == run.output


def test_a_run_is_a_value():
    run = polynomial.run(3, 4)
    split = run.gas_split
    assert split is not None
    assert run.gas_used == split.arithmetic + split.transfer + split.memory + split.control
    assert run.numbers() == (3 * 3**5 + 7 * 12 - 4,)
    assert run.ops is not None
    assert run.ops["MULMODX"] > 0
    assert dataclasses.replace(polynomial.run(3, 4, engine="plain"), engine="batch") == run
    for engine in ("plain", "spec"):
        assert polynomial.run(3, 4, engine=engine).output == run.output
    assert not polynomial.run(3, 4, gas=20).success


def test_frames_and_explanations():
    trace = polynomial.trace(3, 4)
    frame = trace.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["gas_cost"].sum() == trace.gas_used
    assert len(polynomial.trace(3, 4, limit=5).steps) == 5
    profile = polynomial.profile(3, 4, rounds=3)
    assert profile.time_ns
    assert profile.frame()["gas"].sum() == profile.gas_used
    blocks = polynomial.explain(3, 4)
    assert sum(block.mul for block in blocks) > 3
    assert blocks[0].start < blocks[0].end


def test_code_can_be_pickled_and_says_where_bytes_come_from():
    code = polynomial.compile("evmone-2023")
    again = pickle.loads(pickle.dumps(code))
    assert again.bytes == code.bytes
    assert again.source == code.source
    program = pickle.loads(pickle.dumps(polynomial))
    assert program.run(3, 4).output == polynomial(3, 4)
    assert any(source and "test_code.py" in source for _, _, source in code.disassembly())
    raw = rs.Code.of_bytes(code.bytes, "evmone-2023")
    assert raw.run(polynomial.encode(3, 4)).output == polynomial(3, 4)
    with pytest.raises(rs.RulesError):
        raw.profile(polynomial.encode(3, 4))


def test_a_schedule_may_be_a_file(tmp_path):
    path = os.path.join(os.path.dirname(__file__), "../../crates/isa/schedules/eip6690.toml")
    if not os.path.exists(path):
        pytest.skip("the schedules of the repository are not here")
    assert polynomial.run(3, 4, schedule=path).gas_used == polynomial.run(3, 4).gas_used
    broken = tmp_path / "broken.toml"
    broken.write_text("name = 3\n")
    with pytest.raises(rs.RulesError, match=r"broken\.toml"):
        polynomial.compile(schedule=broken)
    with pytest.raises(rs.RulesError, match="not for"):
        polynomial.compile("evm384-v7", schedule=path)


@pytest.mark.parametrize(
    ("call", "kind", "part"),
    [
        (lambda: polynomial.compile("eip6690"), rs.UnknownName, "eip6690-2024"),
        (lambda: polynomial.compile("EIP6990-2024"), rs.UnknownName, "did you mean eip6690-2024"),
        (lambda: polynomial.compile("nothing"), rs.UnknownName, "residue.revisions()"),
        (lambda: polynomial.compile(5), rs.UnknownName, "its name is text"),
        (lambda: polynomial.compile("x" * 100_000), rs.UnknownName, "100002 characters"),
        (lambda: polynomial.compile(schedule="evmon"), rs.UnknownName, "did you mean evmone"),
        (lambda: polynomial.compile(fork="pariss"), rs.UnknownName, "did you mean paris"),
        (lambda: polynomial.compile(multiples="4"), rs.UnknownName, "additions, 3 or 2"),
        (lambda: polynomial.compile(portable="yes"), rs.NumberError, "True or False"),
        (lambda: polynomial.run(3, 4, timed=1), rs.NumberError, "True or False"),
        (lambda: polynomial.run(3, 4, engine="fast"), rs.UnknownName, "batch, plain or spec"),
        (lambda: polynomial.run(3, 4, engine=None), rs.UnknownName, "its name is text"),
        (lambda: polynomial.run(3, 4, revison="evm"), rs.UnknownOption, "did you mean revision"),
        (lambda: polynomial.run(3, 4, revison="evm"), TypeError, "'revison' is no option"),
        (lambda: polynomial.compile(f2mul="3"), rs.UnknownOption, "'f2mul' has no effect here"),
        (lambda: rs.sweep(polynomial, [(3, 4)], schedle="evmone"), rs.UnknownOption, "did you mean schedule"),
        (lambda: rs.Code.of_bytes(b"", portable=True), rs.UnknownOption, "'portable' has no effect here"),
        (lambda: rs.Code.of_bytes("00"), rs.RecordingError, "bytes.fromhex"),
        (lambda: rs.schedules("evm385"), rs.UnknownName, "did you mean"),
        (lambda: rs.opcodes("x-ext"), rs.UnknownName, "did you mean x-extx"),
        (lambda: polynomial.run([3, 4]), rs.ResidueError, "reads 2 numbers"),
        (lambda: polynomial.run([3], 4), rs.NumberError, "give its members one by one"),
        (lambda: rs.contract("bn254/add").run(3, 4), rs.ResidueError, "residue.calldata(1, 2)"),
        (lambda: polynomial.run(3, 4, engine="spec", fork="berlin"), rs.RulesError, "berlin"),
        (lambda: rs.contract("bn254/nothing"), rs.UnknownName, "residue.contracts()"),
        (lambda: rs.contract("bn254_mul"), rs.UnknownName, "did you mean bn254/mul"),
        (lambda: rs.contract("pairing"), rs.UnknownName, "bls12_381/pairing"),
        (lambda: rs.contract("bn254/mul").compile(f2mul="5"), rs.UnknownName, "auto, 3 or 4"),
        (lambda: polynomial.compile("evm384-v4"), rs.Inexpressible, "test_code.py"),
        (lambda: rs.ProgramText("program"), rs.ProgramError, "quoted name"),
        (lambda: rs.Field(2), ValueError, "above 2"),
        (lambda: rs.sweep(polynomial, [(1, 2)], on="clouds"), rs.UnknownName, "serial, processes or ray"),
        (lambda: rs.sweep(polynomial, [(1, 2)], schedules=["evm0ne"]), rs.UnknownName, "evmone"),
        (lambda: rs.sweep(lambda call: 1, [(1, 2)]), rs.RecordingError, "programs and contracts are a list"),
        (lambda: rs.sweep([lambda call: 1], [(1, 2)]), rs.RecordingError, "@program(field)"),
        (lambda: polynomial.profile(3, 4).flame_graph(by="lines"), rs.UnknownName, "gas or time"),
        (lambda: rs.campaign(slices=1, options="--quick"), rs.NumberError, "a tuple of text"),
        (lambda: rs.campaign(slices=1, shards=0), rs.NumberError, "at least 1, and 0"),
        (lambda: rs.sweep(polynomial, 5), rs.RecordingError, "inputs are a list"),
    ],
)
def test_what_is_wrong_is_said_by_kind(call, kind, part):
    with pytest.raises(kind, match=re.escape(part)):
        call()


def test_case_of_names_does_not_matter():
    code = polynomial.compile("EIP6690-2024", fork="Osaka", multiples=3)
    assert code is polynomial.compile("eip6690-2024", fork="osaka", multiples="3")
    assert rs.contract("BN254/Add") is rs.contract("bn254/add")
    assert rs.schedules("EVM384-v7") == rs.schedules("evm384-v7")


def test_files_with_a_mark_are_read_and_what_is_no_text_is_named(tmp_path):
    marked, wide, broken = (tmp_path / name for name in ("marked.ir", "wide.ir", "broken.ir"))
    marked.write_bytes(b"\xef\xbb\xbf" + polynomial.text.encode())
    wide.write_bytes(polynomial.text.encode("utf-16"))
    broken.write_bytes(b'program "\xff"')
    assert rs.ProgramText.read(marked).text == rs.ProgramText(polynomial.text).text
    with pytest.raises(rs.ResidueError, match=r"wide\.ir is UTF-16"):
        rs.ProgramText.read(wide)
    with pytest.raises(rs.ResidueError, match=r"broken\.ir is no text in UTF-8: byte 9 is 0xff"):
        rs.ProgramText.read(broken)
    gas = tmp_path / "gas.txt"
    gas.write_text("polynomial eip6690-2024 12\n", encoding="utf-8")
    with pytest.raises(rs.ResidueError, match="line 1: 'polynomial eip6690-2024 12' is no name"):
        rs.gas_snapshot(gas, [], check=True)


def test_no_text_ends_the_process():
    good = polynomial.text
    for at in range(0, len(good), 7):
        for text in (good[:at] + good[at + 1 :], good[:at] + "9" + good[at:], good[:at]):
            try:
                rs.ProgramText(text).compile()
            except rs.ResidueError:
                continue


LONG = """
import signal
import residue as rs
# A shell may have started all of this in its background, where SIGINT is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
F = rs.Field(97)
loop = rs.Program(lambda call: rs.repeat(call.word(0), 1, lambda turn, x: x * x + 1), F, "loop")
code = loop.compile()
print("ready", flush=True)
try:
    code.run(1 << 40, gas=1 << 42, engine="plain")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_control_c_is_heard():
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begun < 5
        assert process.wait(10) == 0


def test_other_threads_go_on():
    ticks = 0
    ended = threading.Event()

    def tick():
        nonlocal ticks
        while not ended.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    loop = rs.Program(lambda call: rs.repeat(call.word(0), 1, lambda turn, x: x * x + 1), rs.Field(97), "loop")
    begun = time.monotonic()
    loop.run(100_000, engine="plain")
    seconds = time.monotonic() - begun
    ended.set()
    thread.join()
    assert ticks > 50 * seconds


def test_html_is_whole():
    comparison = rs.compare(polynomial, 3, 4, revisions=["eip6690-2024", "evm384-v7", "evm384-v4"])
    shown = [polynomial, polynomial.compile(), polynomial.profile(3, 4), comparison]
    for one in shown:
        html = one._repr_html_()
        assert html.count("<table") == html.count("</table>") > 0
        assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in html
    assert "3 * x**5 + 7 * x * y - y" in polynomial.compile()._repr_html_()
    assert "1 left out" in comparison._repr_html_()


def test_the_main_job():
    ended = subprocess.run([sys.executable, "-m", "residue"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("1, as native") == 2
    pairing = rs.contract("bls12_381/pairing")
    gas = pairing.compile().run(pairing.example).gas_used
    assert f"{gas:,}".replace(",", " ") in ended.stdout


def test_keccak():
    empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert _native.keccak256(b"").hex() == empty
