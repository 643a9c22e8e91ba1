"""
Mutants of the fork `evmmax_next`: faults, one at a time, that tests have to find.

usage: python -m residue_eels.mutants FOLDER [--only TEXT] [--jobs N]

FOLDER is what `residue fixtures --revision evmmax-next --only instructions,frames` wrote. A mutant is caught by the first test that
ends otherwise than its file says. Exit code 0 where all are caught, 1 where one survives, 2 for what is no such folder.
"""

import argparse
import compileall
import multiprocessing
import os
import py_compile
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from .build import BuildError, Edit, apply, build
from .run import Difference, FixtureError, Sample, prepare, run_file

FORK = "evmmax_next"
CONTEXTS = "vm/field_contexts.py"
FIELD = "vm/instructions/field.py"
NEXT = "vm/instructions/field_next.py"
OPS = "vm/instructions/__init__.py"


@dataclass(frozen=True)
class Mutant:
    """A fault by name, in which file, what stands there and what instead, and what names of the tests begin with that should find it."""

    name: str
    file: str
    old: str
    new: str
    tests: str


LOAD = '    if first + count > ulen(context.slots):\n        raise InvalidParameter("slot")\n    if Uint(destination)'
STORE = '    if first + count > ulen(context.slots):\n        raise InvalidParameter("slot")\n    if offset'
AFTER_LOAD = "    charge_gas(evm, GAS_LOADX)\n    if count == Uint(0):\n        return\n"
AFTER_STORE = "    charge_gas(evm, GAS_STOREX)\n    if count == Uint(0):\n        return\n"
PADDED = '    if size < element_size(context):\n        raise InvalidParameter("bytes of a value")\n'
WRITE_LANES = "    for lane, result in enumerate(results):\n        slots[out + lane * out_stride] = result\n"
READ_LANES = """    results = [
        Uint(
            operation(
                int(slots[x + lane * x_stride]),
                int(slots[y + lane * y_stride]),
            )
            % int(context.modulus)
        )
        for lane in range(count)
    ]
"""
READ_INVERSES = """    results = [
        inverse(context.slots[x + lane * x_stride], context.modulus)
        for lane in range(count)
    ]
"""
FRAME = "field_contexts: Dict[Uint, FieldContext] = field(default_factory=dict)"
GROWTH = "charge_growth(evm, element_size(context) * Uint(missing))"

MUTANTS = (
    Mutant("the largest id", CONTEXTS, "MAX_CONTEXT_ID = Uint(256)", "MAX_CONTEXT_ID = Uint(255)", "setmodx_operands"),
    Mutant("an id too many", CONTEXTS, "MAX_CONTEXT_ID = Uint(256)", "MAX_CONTEXT_ID = Uint(257)", "setmodx_operands"),
    Mutant("the widest modulus", CONTEXTS, "MAX_MODULUS_SIZE = Uint(96)", "MAX_MODULUS_SIZE = Uint(95)", "setmodx_moduli"),
    Mutant("a wider modulus", CONTEXTS, "MAX_MODULUS_SIZE = Uint(96)", "MAX_MODULUS_SIZE = Uint(97)", "setmodx_moduli"),
    Mutant("the most slots", CONTEXTS, "MAX_SLOTS = Uint(256)", "MAX_SLOTS = Uint(255)", "setmodx_operands"),
    Mutant("a slot too many", CONTEXTS, "MAX_SLOTS = Uint(256)", "MAX_SLOTS = Uint(257)", "setmodx_operands"),
    Mutant("the most bytes of slots", CONTEXTS, "MAX_SLOT_BYTES = Uint(24576)", "MAX_SLOT_BYTES = Uint(24575)", "setmodx_slots"),
    Mutant("a byte of slots too many", CONTEXTS, "MAX_SLOT_BYTES = Uint(24576)", "MAX_SLOT_BYTES = Uint(24584)", "setmodx_slots"),
    Mutant(
        "slots of the last context alone",
        CONTEXTS,
        "size += element_size(context) * Uint(len(context.slots))",
        "size = element_size(context) * Uint(len(context.slots))",
        "setmodx_slots",
    ),
    Mutant("sums of two powers taken for one", CONTEXTS, "bit_count() == 1", "bit_count() <= 2", "setmodx_moduli"),
    Mutant(
        "an array's bytes, not counted",
        CONTEXTS,
        "size += element_size(context) * Uint(len(context.array))",
        "size += Uint(0)",
        "getx_arrays",
    ),
    Mutant(
        "an array's elements, counted as bytes",
        CONTEXTS,
        "size += element_size(context) * Uint(len(context.array))",
        "size += Uint(len(context.array))",
        "getx_arrays",
    ),
    Mutant("no instruction at the end of code", FIELD, "if start + size > ulen", "if start + size >= ulen", "mulmodx_gas"),
    Mutant("SETMODX for nothing", FIELD, "GAS_SETMODX = Uint(1)", "GAS_SETMODX = Uint(0)", "setmodx_normal"),
    Mutant("LOADX for nothing", FIELD, "GAS_LOADX = Uint(1)", "GAS_LOADX = Uint(0)", "loadx_normal"),
    Mutant("STOREX dearer by one", FIELD, "GAS_STOREX = Uint(1)", "GAS_STOREX = Uint(2)", "storex_normal"),
    Mutant("a new modulus at twelve limbs", FIELD, "51, 54, 58)", "51, 54, 57)", "setmodx_moduli"),
    Mutant("a new modulus at five limbs", FIELD, "29, 32, 36, 39", "29, 32, 35, 39", "setmodx_moduli"),
    Mutant(
        "ADDMODX at eight limbs", FIELD, "(1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2)", "(1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2)", "addmodx_moduli"
    ),
    Mutant("MULMODX at four limbs", FIELD, "(1, 1, 1, 2, 2, 3,", "(1, 1, 1, 1, 2, 3,", "mulmodx_moduli"),
    Mutant("MULMODX at nine limbs", FIELD, "4, 5, 7, 8, 10, 12)", "4, 5, 6, 8, 10, 12)", "mulmodx_moduli"),
    Mutant(
        "offset and size of SETMODX the other way",
        FIELD,
        "    offset = Uint(pop(evm.stack))\n    size = Uint(pop(evm.stack))\n",
        "    size = Uint(pop(evm.stack))\n    offset = Uint(pop(evm.stack))\n",
        "setmodx_normal",
    ),
    Mutant("a modulus not to the end of memory", FIELD, "offset + size > ulen(source)", "offset + size >= ulen(source)", "setmodx_memory"),
    Mutant("a modulus of two", FIELD, "if modulus < Uint(3):", "if modulus < Uint(2):", "setmodx_moduli"),
    Mutant("no modulus of three", FIELD, "if modulus < Uint(3):", "if modulus <= Uint(3):", "setmodx_moduli"),
    Mutant("any even modulus", FIELD, "if not is_odd and not is_power_of_two(modulus)", "if modulus == Uint(0)", "setmodx_operands"),
    Mutant("no slots", FIELD, "if slots == Uint(0) or slots > MAX_SLOTS:", "if slots > MAX_SLOTS:", "setmodx_slots"),
    Mutant(
        "the width of the number, not its size",
        FIELD,
        "limbs = (size + BYTES_PER_LIMB - Uint(1)) // BYTES_PER_LIMB",
        "limbs = Uint((int(modulus).bit_length() + 63) // 64)",
        "setmodx_moduli",
    ),
    Mutant("slots that are not paid for", FIELD, "        charge_growth(evm, added)\n", "", "setmodx_normal"),
    Mutant("powers of two paid for as odd", FIELD, "        if is_odd:\n", "        if True:\n", "setmodx_moduli"),
    Mutant("a known id that begins anew", FIELD, "    if identifier not in evm.field_contexts:\n", "    if True:\n", "setmodx_again"),
    Mutant(
        "the first context stays active",
        FIELD,
        "    evm.active_field_context = evm.field_contexts[identifier]\n",
        "    evm.active_field_context = (\n        evm.active_field_context or evm.field_contexts[identifier]\n    )\n",
        "setmodx_again",
    ),
    Mutant(
        "arrays count against the limit of slots",
        FIELD,
        "if slot_bytes(evm.field_contexts) + added",
        "if charged_bytes(evm.field_contexts) + added",
        "getx_arrays",
    ),
    Mutant(
        "words of each value of a power of two",
        FIELD,
        "ceil32(count * size) // Uint(32)",
        "count * (ceil32(size) // Uint(32))",
        "loadx_moduli",
    ),
    Mutant(
        "powers of two loaded at the price of products",
        FIELD,
        "if is_power_of_two(context.modulus):\n        return GAS_COPY",
        "if False:\n        return GAS_COPY",
        "loadx_moduli",
    ),
    Mutant("LOADX without the last slot", FIELD, LOAD, LOAD.replace("count > ulen", "count >= ulen"), "loadx_operands"),
    Mutant(
        "LOADX not to the end of memory", FIELD, "count * size > ulen(evm.memory)", "count * size >= ulen(evm.memory)", "loadx_operands"
    ),
    Mutant(
        "STOREX a slot too far", FIELD, STORE, STORE.replace("> ulen(context.slots)", "> ulen(context.slots) + Uint(1)"), "storex_operands"
    ),
    Mutant(
        "STOREX not from the end of memory",
        FIELD,
        "offset + count * size > ulen(source)",
        "offset + count * size >= ulen(source)",
        "storex_operands",
    ),
    Mutant("the modulus as a value", FIELD, "if value >= context.modulus:", "if value > context.modulus:", "storex_operands"),
    Mutant("little-endian values", FIELD, 'to_bytes(int(size), "big")', 'to_bytes(int(size), "little")', "loadx_normal"),
    Mutant("LOADX of nothing is checked", FIELD, AFTER_LOAD, "    charge_gas(evm, GAS_LOADX)\n", "loadx_operands loadpx_operands"),
    Mutant("STOREX of nothing is checked", FIELD, AFTER_STORE, "    charge_gas(evm, GAS_STOREX)\n", "storex_operands"),
    Mutant("a lane too far", FIELD, "stride * (count - 1) >= len", "stride * (count - 1) > len", "mulmodx_immediates"),
    Mutant("the last lane, one stride on", FIELD, "stride * (count - 1) >= len", "stride * count >= len", "mulmodx_immediates"),
    Mutant("results in one slot", FIELD, "if out_stride == 0 or count == 0:", "if count == 0:", "mulmodx_immediates"),
    Mutant("no lanes", FIELD, "if out_stride == 0 or count == 0:", "if out_stride == 0:", "mulmodx_immediates"),
    Mutant("the second operand, unchecked", FIELD, "    check_lanes(context, y, y_stride, count)\n", "", "mulmodx_immediates"),
    Mutant(
        "one lane is charged",
        FIELD,
        "charge_gas(evm, Uint(count) * by_limbs(prices, context))",
        "charge_gas(evm, by_limbs(prices, context))",
        "mulmodx_immediates",
    ),
    Mutant("strides the other way", FIELD, "int(slots[y + lane * y_stride])", "int(slots[y + lane * x_stride])", "submodx_aliases"),
    Mutant(
        "lanes from the last to the first",
        FIELD,
        WRITE_LANES,
        WRITE_LANES.replace("lane * out_stride", "(count - 1 - lane) * out_stride"),
        "addmodx_immediates",
    ),
    # A generator computes a lane when the one before is written.
    Mutant("lane after lane", FIELD, READ_LANES, READ_LANES.replace("[\n", "(\n", 1).replace("    ]\n", "    )\n"), "addmodx_immediates"),
    Mutant("differences the other way", FIELD, "lambda x, y: x - y", "lambda x, y: y - x", "submodx_normal"),
    Mutant("inverses at twelve limbs", NEXT, "405, 465, 505)", "405, 465, 504)", "invmodx_moduli"),
    Mutant("inverses at one limb", NEXT, "in (40, 70,", "in (41, 70,", "invmodx_moduli"),
    Mutant(
        "one inverse is charged",
        NEXT,
        "Uint(count) * by_limbs(GAS_INVERSE, context)",
        "by_limbs(GAS_INVERSE, context)",
        "invmodx_immediates",
    ),
    Mutant(
        "inverse after inverse",
        NEXT,
        READ_INVERSES,
        READ_INVERSES.replace("[\n", "(\n", 1).replace("    ]\n", "    )\n"),
        "invmodx_aliases",
    ),
    Mutant("no inverse is itself", NEXT, "        return Uint(0)\n", "        return value\n", "invmodx_normal"),
    Mutant("ISZEROX cheaper by one", NEXT, "    charge_gas(evm, GAS_VERY_LOW)\n", "    charge_gas(evm, Uint(2))\n", "iszerox_normal"),
    Mutant("ISZEROX the other way", NEXT, "U256(context.slots[slot] == Uint(0))", "U256(context.slots[slot] != Uint(0))", "iszerox_normal"),
    Mutant("products dearer", NEXT, "SUM_PRODUCT_HUNDREDTHS = Uint(54)", "SUM_PRODUCT_HUNDREDTHS = Uint(60)", "sum2x_moduli"),
    Mutant("reductions for nothing", NEXT, "SUM_REDUCTION_HUNDREDTHS = Uint(46)", "SUM_REDUCTION_HUNDREDTHS = Uint(0)", "sum2x_normal"),
    Mutant("gas rounded down", NEXT, "(numerator + denominator - Uint(1)) // denominator", "numerator // denominator", "sum2x_normal"),
    Mutant("signs from the other end", NEXT, "signs >> product & 1", "signs >> (products - 1 - product) & 1", "sum2x_immediates"),
    Mutant("all signs of one bit", NEXT, "signs >> product & 1", "signs & 1", "sum2x_normal"),
    Mutant("signs beyond the products mean something", NEXT, "    total = 0\n", "    total = signs >> products\n", "sum2x_immediates"),
    Mutant("the last product, left out", NEXT, "for product in range(products):", "for product in range(products - 1):", "sum2x_normal"),
    Mutant("indexes of 32 bits", NEXT, "INDEX_MODULUS = U256(2**16)", "INDEX_MODULUS = U256(2**32)", "getx_operands"),
    Mutant("an index without its highest bit", NEXT, "INDEX_MODULUS = U256(2**16)", "INDEX_MODULUS = U256(2**15)", "getx_arrays"),
    Mutant("no last element", NEXT, "index + count > MAX_ARRAY", "index + count >= MAX_ARRAY", "getx_arrays"),
    Mutant("an element too many", NEXT, "index + count > MAX_ARRAY", "index + count > MAX_ARRAY + 1", "getx_arrays"),
    Mutant("GETX and PUTX the other way", NEXT, "    if is_get:\n", "    if not is_get:\n", "getx_normal"),
    Mutant("arrays for nothing", NEXT, f"        {GROWTH}\n", "", "getx_normal"),
    Mutant("an array that grows by one too many", NEXT, GROWTH, GROWTH.replace("missing", "missing + 1"), "getx_normal"),
    Mutant(
        "an array of a slot too many", NEXT, "slot + count > len(context.slots)", "slot + count > len(context.slots) + 1", "getx_immediates"
    ),
    Mutant("copies of nothing", NEXT, "    if count == 0:\n", "    if False:\n", "getx_immediates"),
    Mutant("copies at one limb", NEXT, "in (2, 2, 3, 3, 4", "in (1, 2, 3, 3, 4", "getx_moduli"),
    Mutant("copies at twelve limbs", NEXT, "6, 6, 7, 7)", "6, 6, 7, 8)", "getx_moduli"),
    Mutant("LOADPX of narrower values", FIELD, AFTER_LOAD + PADDED, AFTER_LOAD, "loadpx_operands"),
    Mutant("STOREPX of narrower values", FIELD, AFTER_STORE + PADDED, AFTER_STORE, "storepx_operands"),
    Mutant("SETMODCX from memory", NEXT, "set_field_context(evm, evm.code)", "set_field_context(evm, evm.memory)", "setmodcx_normal"),
    Mutant("STORECX from memory", NEXT, "element_size(context), evm.code)", "element_size(context), evm.memory)", "storecx_normal"),
    Mutant(
        "zeros after the code", NEXT, "element_size(context), evm.code)", "element_size(context), evm.code + bytes(32))", "storecx_code"
    ),
    Mutant(
        "a modulus with zeros after the code",
        NEXT,
        "set_field_context(evm, evm.code)",
        "set_field_context(evm, evm.code + bytes(32))",
        "setmodcx_code",
    ),
    Mutant(
        "memory grows as if there were no slots",
        "vm/gas.py",
        "slots_size = charged_bytes(evm.field_contexts)",
        "slots_size = Uint(0)",
        "setmodx_growth",
    ),
    Mutant(
        "slots rounded to words",
        "vm/gas.py",
        "slots_size = charged_bytes(evm.field_contexts)",
        "slots_size = ceil32(charged_bytes(evm.field_contexts)) + Uint(32)",
        "setmodx_moduli",
    ),
    Mutant("jump targets in immediates", "vm/runtime.py", "pc += IMMEDIATE_SIZES[current_opcode]", "pc += Uint(0)", "mulmodx_jumps"),
    Mutant(
        "jump analysis skips a byte too many",
        "vm/runtime.py",
        "pc += IMMEDIATE_SIZES[current_opcode]",
        "pc += IMMEDIATE_SIZES[current_opcode] + Uint(1)",
        "mulmodx_jumps",
    ),
    Mutant("no target after ISZEROX", OPS, "Ops.ISZEROX: Uint(1)", "Ops.ISZEROX: Uint(2)", "iszerox_jumps"),
    Mutant("a target in SUM6X", OPS, "Ops.SUM6X: Uint(14)", "Ops.SUM6X: Uint(13)", "sum6x_jumps"),
    Mutant(
        "contexts of all frames",
        "vm/__init__.py",
        FRAME,
        "field_contexts: Dict[Uint, FieldContext] = field(\n        default_factory=lambda contexts={}: contexts  # noqa\n    )",
        "frames",
    ),
)


def files_of(folder: Path, words: str) -> list[Path]:
    """Files of tests by what names of tests begin with."""
    names = [f"{word.partition('_')[0]}*.json" for word in words.split()]
    return [path for name in names for path in sorted(folder.rglob(name)) if "blockchain_tests" not in path.parts]


def caught(mutant: Mutant, forks: Path, fixtures: Path) -> Difference | None:
    """The first test that finds a mutant; none where it survives. For a process of its own, which has imported no fork."""
    with TemporaryDirectory(prefix="residue-mutant-") as folder:
        for fork in forks.iterdir():
            shutil.copytree(fork, Path(folder) / fork.name)
        apply(Path(folder) / FORK, [Edit(mutant.file, mutant.old, mutant.new)])
        prepare(Path(folder))
        for word in mutant.tests.split():
            for path in files_of(fixtures, word):
                if found := run_file(path, Sample(), is_first=True, prefix=word).differences:
                    return found[0]
    return None


def check(fixtures: Path, mutants: list[Mutant], jobs: int) -> int:
    """Tries mutants, and prints what finds each. Gives how many survive."""
    survivors = 0
    # A process has imported EELS, but no fork: it is a copy of this one, and ends with its mutant.
    processes = multiprocessing.get_context("fork")
    with TemporaryDirectory(prefix="residue-eels-") as folder, processes.Pool(jobs, maxtasksperchild=1) as pool:
        build(Path(folder))
        # By their hash: a mutant may be of the same second and size.
        compileall.compile_dir(folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
        results = pool.imap(partial(caught, forks=Path(folder), fixtures=fixtures), mutants, chunksize=1)
        for mutant, found in zip(mutants, results, strict=True):
            survivors += found is None
            print(f"{mutant.name}: {f'{found.test}, by its {found.field}' if found else 'SURVIVES'}", flush=True)
    return survivors


def main() -> int:
    """Reads the command line. Gives the exit code."""
    parser = argparse.ArgumentParser(
        "python -m residue_eels.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants with this in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    given = parser.parse_args()
    mutants = [mutant for mutant in MUTANTS if given.only in mutant.name]
    try:
        if not mutants:
            raise FixtureError(f"no mutant has {given.only!r} in its name")
        if not files_of(given.folder, "setmodcx"):
            raise FixtureError(f"{given.folder}: no files of tests of evmmax-next")
        survivors = check(given.folder, mutants, given.jobs)
    except (FixtureError, BuildError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{len(mutants) - survivors} of {len(mutants)} mutants are caught")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
