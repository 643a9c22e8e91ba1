"""The gallery: what its programs compute is judged by libraries of others, and gas stands beside that of our own programs."""

import random
from pathlib import Path

import pytest

import residue as rs
from residue import gallery
from residue.gallery import bn254, bn254_msm, ed25519, ntt, poseidon, poseidon2

REVISIONS = ["eip6690-2024", "eip7747", "evm384-v7"]
random_ = random.Random(1)


def words(*numbers):
    return b"".join(int(number).to_bytes(32, "big") for number in numbers)


def check(program, data, expected, revisions=REVISIONS):
    """The program returns this: computed in Python, and as code."""
    assert program(data) == expected
    for revision in revisions:
        run = program.run(data, revision=revision)
        assert run.success, (revision, run.halt)
        assert run.output == expected, revision


def test_programs_are_pages():
    for path in Path(gallery.__file__).parent.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120, path


def test_poseidon():
    galois = pytest.importorskip("galois")
    field = galois.GF(poseidon.F.modulus, primitive_element=5, verify=False)
    matrix = field([[int(entry) for entry in row] for row in poseidon.MATRIX])

    def judged(a, b):
        state = field([0, a, b])
        for number in range(65):
            state = state + field(poseidon.CONSTANTS[3 * number : 3 * number + 3])
            state = state**5 if not 4 <= number < 61 else field([int(state[0] ** 5), int(state[1]), int(state[2])])
            state = matrix @ state
        return int(state[0])

    # circomlib's poseidon([1, 2]).
    known = 0x115CC0F5E7D690413DF64C6B9662E9CF2A3617F2743245519E19607A4417189A
    assert judged(1, 2) == known
    check(poseidon.poseidon, words(1, 2), words(known))
    for _ in range(3):
        a, b = random_.randrange(poseidon.F.modulus), random_.randrange(poseidon.F.modulus)
        check(poseidon.poseidon, words(a, b), words(judged(a, b)))


def test_poseidon_costs_what_ours_does():
    path = Path(__file__).parents[2] / "examples" / "ir" / "poseidon.ir"
    if not path.exists():
        pytest.skip("the programs of the repository are not here")
    ours = rs.ProgramText.read(path)
    for revision in REVISIONS:
        gas, gas_of_ours = (one.run(words(1, 2), revision=revision).gas_used for one in (poseidon.poseidon, ours))
        assert gas <= 1.03 * gas_of_ours, revision


def test_poseidon2():
    galois = pytest.importorskip("galois")
    field = galois.GF(poseidon.F.modulus, primitive_element=5, verify=False)
    outer, inner = field([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), field([[2, 1, 1], [1, 2, 1], [1, 1, 3]])

    def full(state, constants):
        for at in range(0, 12, 3):
            state = outer @ (state + field(constants[at : at + 3])) ** 5
        return state

    def judged(numbers):
        state = full(outer @ field(numbers), poseidon2.FIRST)
        for constant in poseidon2.INNER:
            state = inner @ field([int((state[0] + field(constant)) ** 5), int(state[1]), int(state[2])])
        return [int(x) for x in full(state, poseidon2.LAST)]

    # The permutation of (0, 1, 2) that the authors' reference implementation tests.
    known = [
        0x0BB61D24DACA55EEBCB1929A82650F328134334DA98EA4F847F760054F4A3033,
        0x303B6F7C86D043BFCBCC80214F26A30277A15D3F74CA654992DEFE7FF8D03570,
        0x1ED25194542B12EEF8617361C3BA7C52E660B145994427CC86296242CF766EC8,
    ]
    assert judged([0, 1, 2]) == known
    check(poseidon2.poseidon2, words(0, 1, 2), words(*known))
    numbers = [random_.randrange(poseidon.F.modulus) for _ in range(3)]
    check(poseidon2.poseidon2, words(*numbers), words(*judged(numbers)))
    assert poseidon2.poseidon2.run(0, 1, 2).gas_used < 0.6 * poseidon.poseidon.run(1, 2).gas_used


def bn254_point(scalar):
    bn = pytest.importorskip("py_ecc.bn128")
    multiple = bn.multiply(bn.G1, scalar)
    return words(0, 0) if multiple is None else words(*(int(c) for c in multiple))


def test_bn254_addition_is_the_precompile_and_costs_what_our_contract_does():
    ours = rs.contract("bn254/add")
    p = bn254.F.modulus
    g, minus_g = bn254_point(1), words(1, p - 2)
    cases = [(5, 7), (3, 3), (0, 4), (4, 0), (0, 0)]
    inputs = [(bn254_point(a) + bn254_point(b), bn254_point(a + b)) for a, b in cases]
    inputs.append((g + minus_g, words(0, 0)))
    for data, expected in inputs:
        check(bn254.add, data, expected)
        assert bn254.add.run(data).gas_used <= ours.run(data).gas_used + 14
    for wrong in (words(1, 3) + g, words(0, 0, 1, 3), words(p, 2) + g):
        with pytest.raises(rs.Halted):
            bn254.add(wrong)
        assert ours.native(wrong)["output"] is None
        assert not bn254.add.run(wrong).success


def test_bn254_sums_of_multiples():
    order = 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001
    scalars = [(1, 5), (2, order - 1), (random_.randrange(order), random_.randrange(1 << 256)), (9, 0)]
    data = b"".join(bn254_point(base) + words(scalar) for base, scalar in scalars)
    check(bn254_msm.msm, data, bn254_point(sum(base * scalar for base, scalar in scalars) % order))
    check(bn254_msm.msm, b"", words(0, 0), ["eip6690-2024"])


def test_ed25519():
    ed = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    import hashlib

    for number in range(3):
        secret = bytes([number]) * 32
        digest = bytearray(hashlib.sha512(secret).digest()[:32])
        digest[0] &= 248
        digest[31] = digest[31] & 127 | 64
        public = ed.Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
        data = words(ed25519.BASE_X, ed25519.BASE_Y, int.from_bytes(digest, "little"))
        x, y = ed25519.scalar_multiple.run(data).numbers()
        assert ((x & 1) << 255 | y).to_bytes(32, "little") == public
        check(ed25519.scalar_multiple, data, words(x, y))
    assert not ed25519.scalar_multiple.run(1, 1, 5).success


def test_ntt():
    galois = pytest.importorskip("galois")
    m = ntt.F.modulus
    numbers = [random_.randrange(m) for _ in range(ntt.SIZE)]
    root = int(galois.GF(m, primitive_element=7, verify=False)(7) ** ((m - 1) // ntt.SIZE))
    assert root == int(ntt.ROOT)
    field = galois.GF(m, primitive_element=7, verify=False)
    powers = [[pow(root, i * j, m) for j in range(ntt.SIZE)] for i in range(ntt.SIZE)]
    expected = b"".join(int(x).to_bytes(8, "big") for x in field(powers) @ field(numbers))
    data = b"".join(number.to_bytes(8, "big") for number in numbers)
    for one in (ntt.ntt, ntt.unrolled):
        check(one, data, expected)
    assert ntt.unrolled.run(data).gas_used < ntt.ntt.run(data).gas_used


def table():
    """Gas of the gallery's programs, and of ours that do the same, as the README has it."""
    poseidon_ir = Path(__file__).parents[2] / "examples" / "ir" / "poseidon.ir"
    ours = rs.ProgramText.read(poseidon_ir)
    two = bn254_point(1) + words(2**253 - 1) + bn254_point(2) + words(2**253 + 1)
    add = rs.contract("bn254/add")
    numbers = b"".join(number.to_bytes(8, "big") for number in range(ntt.SIZE))
    base = words(ed25519.BASE_X, ed25519.BASE_Y, 2**254 + 8)
    cases = [
        ("`poseidon`", poseidon.poseidon, words(1, 2), ours),
        ("`poseidon2`", poseidon2.poseidon2, words(0, 1, 2), None),
        ("`bn254.add`", bn254.add, add.example, add),
        ("`bn254_msm`, two points", bn254_msm.msm, two, None),
        ("`ed25519.scalar_multiple`", ed25519.scalar_multiple, base, None),
        ("`ntt`, 64 elements", ntt.ntt, numbers, None),
        ("`ntt.unrolled`", ntt.unrolled, numbers, None),
    ]
    for name, program, data, same in cases:
        cells = []
        for revision in ("eip6690-2024", "evm384-v7"):
            gas = f"{program.run(data, revision=revision).gas_used:,}"
            cells.append(gas if same is None else f"{gas} ({same.run(data, revision=revision).gas_used:,})")
        yield f"| {name} | {cells[0]} | {cells[1]} |"


def test_gas_in_the_readme():
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    missing = [line for line in table() if line not in text]
    assert not missing, "\n" + "\n".join(missing)
