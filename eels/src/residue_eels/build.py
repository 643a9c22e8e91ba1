"""
Makes the forks from the installed EELS, and puts them beside its own.

A fork is the one before it, copied under its name, with the files below `forks/NAME` and the edits that are listed here. An edit
whose text does not stand there exactly once ends the build: it was written for another version of EELS. Nothing is written where EELS
is installed: the forks stand in a folder, which `install` adds to those in which EELS looks for forks.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import ethereum.forks

FORKS = Path(__file__).parent / "forks"


class BuildError(Exception):
    """A fork that cannot be made, with the file and the text that is not as expected."""


@dataclass(frozen=True)
class Edit:
    """A text of a file, and what stands there afterwards."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Opcode:
    """An instruction: its byte, its name, where it is implemented, and the bytes of its immediate."""

    byte: int
    name: str
    module: str
    immediate: int = 0


@dataclass(frozen=True)
class Fork:
    """A fork by name, the one that it is made from, and what is different."""

    name: str
    template: str
    opcodes: tuple[Opcode, ...]
    edits: tuple[Edit, ...]


OPS = "vm/instructions/__init__.py"

FRAME = Edit(
    "vm/__init__.py",
    "    accessed_storage_keys: Set[Tuple[Address, Bytes32]]\n\n\ndef incorporate_child_on_success(",
    "    accessed_storage_keys: Set[Tuple[Address, Bytes32]]\n"
    "    field_contexts: Dict[Uint, FieldContext] = field(default_factory=dict)\n"
    "    active_field_context: Optional[FieldContext] = None\n\n\ndef incorporate_child_on_success(",
)

# What every fork with EIP-6690 has and Osaka has not.
EIP6690_EDITS = (
    Edit("trie.py", "from ethereum.forks.prague import trie", "from ethereum.forks.osaka import trie"),
    Edit("vm/__init__.py", "from typing import List, Optional, Set, Tuple\n", "from typing import Dict, List, Optional, Set, Tuple\n"),
    Edit(
        "vm/__init__.py",
        "from ..trie import Trie\n",
        "from ..trie import Trie\nfrom .field_contexts import FieldContext\n",
    ),
    FRAME,
    Edit(
        "vm/gas.py",
        "    memory: bytearray, extensions: List[Tuple[U256, U256]]\n",
        "    evm: Evm, extensions: List[Tuple[U256, U256]]\n",
    ),
    Edit(
        "vm/gas.py",
        "    Calculates the gas amount to extend memory.\n\n"
        "    Parameters\n    ----------\n    memory :\n        Memory contents of the EVM.\n",
        "    Calculates the gas amount to extend memory, after which the slots of\n"
        "    field contexts count as if they were appended to it.\n\n"
        "    Parameters\n    ----------\n    evm :\n        The current EVM frame.\n",
    ),
    Edit(
        "vm/gas.py",
        "    current_size = Uint(len(memory))\n",
        "    current_size = Uint(len(evm.memory))\n    slots_size = charged_bytes(evm.field_contexts)\n",
    ),
    Edit("vm/gas.py", "calculate_memory_gas_cost(before_size)", "calculate_memory_gas_cost(before_size + slots_size)"),
    Edit("vm/gas.py", "calculate_memory_gas_cost(after_size)", "calculate_memory_gas_cost(after_size + slots_size)"),
    Edit(
        "vm/gas.py",
        "from .exceptions import OutOfGasError\n",
        "from .exceptions import OutOfGasError\nfrom .field_contexts import charged_bytes\n",
    ),
    Edit("vm/runtime.py", "from .instructions import Ops\n", "from .instructions import IMMEDIATE_SIZES, Ops\n"),
    Edit(
        "vm/runtime.py",
        "            pc += Uint(push_data_size)\n",
        "            pc += Uint(push_data_size)\n"
        "        elif current_opcode in IMMEDIATE_SIZES:\n"
        "            # Immediates of field instructions are data as well.\n"
        "            pc += IMMEDIATE_SIZES[current_opcode]\n",
    ),
    Edit(
        "vm/runtime.py",
        "          `PUSH-N` opcodes.\n\n    Note",
        "          `PUSH-N` opcodes or to the immediate of a field instruction.\n\n    Note",
    ),
    Edit(
        OPS,
        "import enum\nfrom typing import Callable, Dict\n",
        "import enum\nfrom typing import Callable, Dict\n\nfrom ethereum_types.numeric import Uint\n",
    ),
    Edit(
        OPS,
        "from . import environment as environment_instructions\n",
        "from . import environment as environment_instructions\nfrom . import field as field_instructions\n",
    ),
    Edit(
        OPS,
        "    # System Operations\n",
        "    # Field Operations\n    # System Operations\n",
    ),
    Edit(
        OPS,
        "\n\nop_implementation: Dict[Ops, Callable] = {\n",
        "\n\nIMMEDIATE_SIZES: Dict[Ops, Uint] = {\n}\n\n\nop_implementation: Dict[Ops, Callable] = {\n",
    ),
)

EVMMAX_NEXT_EDITS = (
    Edit("trie.py", "from ethereum.forks.osaka import trie", "from ethereum.forks.eip6690 import trie"),
    Edit(
        OPS,
        "from . import field as field_instructions\n",
        "from . import field as field_instructions\nfrom . import field_next as field_next_instructions\n",
    ),
    Edit("vm/field_contexts.py", "from dataclasses import dataclass\n", "from dataclasses import dataclass, field\n"),
    Edit("vm/field_contexts.py", "    slots: List[Uint]\n", "    slots: List[Uint]\n    array: List[Uint] = field(default_factory=list)\n"),
    Edit(
        "vm/field_contexts.py",
        'all zero at first.\n    """\n',
        'all zero at first.\n          4. `array`: values below the modulus, none at first.\n    """\n',
    ),
    Edit(
        "vm/field_contexts.py",
        "    return slot_bytes(contexts)\n",
        "    size = slot_bytes(contexts)\n"
        "    for context in contexts.values():\n"
        "        size += element_size(context) * Uint(len(context.array))\n"
        "    return size\n",
    ),
)

BUILT = (
    Fork(
        "eip6690",
        "osaka",
        (
            Opcode(0xC0, "SETMODX", "field"),
            Opcode(0xC1, "LOADX", "field"),
            Opcode(0xC2, "STOREX", "field"),
            Opcode(0xC3, "ADDMODX", "field", 7),
            Opcode(0xC4, "SUBMODX", "field", 7),
            Opcode(0xC5, "MULMODX", "field", 7),
        ),
        EIP6690_EDITS,
    ),
    Fork(
        "evmmax_next",
        "eip6690",
        (
            Opcode(0xC6, "INVMODX", "field_next", 5),
            Opcode(0xC7, "ISZEROX", "field_next", 1),
            Opcode(0xC8, "SUM2X", "field_next", 6),
            Opcode(0xC9, "SUM3X", "field_next", 8),
            Opcode(0xCA, "SUM4X", "field_next", 10),
            Opcode(0xCB, "SUM5X", "field_next", 12),
            Opcode(0xCC, "SUM6X", "field_next", 14),
            Opcode(0xCD, "GETX", "field_next", 2),
            Opcode(0xCE, "PUTX", "field_next", 2),
            Opcode(0xCF, "LOADPX", "field_next", 1),
            Opcode(0xD0, "STOREPX", "field_next", 1),
            Opcode(0xD1, "SETMODCX", "field_next"),
            Opcode(0xD2, "STORECX", "field_next"),
        ),
        EVMMAX_NEXT_EDITS,
    ),
)


def opcode_edits(opcodes: tuple[Opcode, ...]) -> list[Edit]:
    """The edits that make opcodes known to the interpreter and to jump analysis."""
    members = "".join(f"    {opcode.name} = {opcode.byte:#04X}\n".replace("0X", "0x") for opcode in opcodes)
    sizes = "".join(f"    Ops.{opcode.name}: Uint({opcode.immediate}),\n" for opcode in opcodes if opcode.immediate)
    implementations = "".join(f"    Ops.{opcode.name}: {opcode.module}_instructions.{opcode.name.lower()},\n" for opcode in opcodes)
    last = "    Ops.CREATE2: system_instructions.create2,\n"
    return [
        Edit(OPS, "    # System Operations\n", f"{members}\n    # System Operations\n"),
        Edit(OPS, "}\n\n\nop_implementation:", f"{sizes}}}\n\n\nop_implementation:"),
        Edit(OPS, last, implementations + last),
    ]


def edited(text: str, edit: Edit) -> str:
    """The text of a file after an edit."""
    if (count := text.count(edit.old)) != 1:
        raise BuildError(f"{edit.file}: {edit.old!r} stands there {count} times, not once")
    return text.replace(edit.old, edit.new)


def pass_the_frame(folder: Path) -> None:
    """Gives `calculate_gas_extend_memory` the frame in place of its memory, wherever an instruction calls it."""
    calls = 0
    for file in sorted((folder / "vm/instructions").glob("*.py")):
        text, count = re.subn(r"(calculate_gas_extend_memory\(\s*)evm\.memory,", r"\1evm,", file.read_text())
        file.write_text(text)
        calls += count
    if not calls:
        raise BuildError("vm/instructions: no instruction grows memory")


def apply(folder: Path, edits: Iterable[Edit]) -> None:
    """Edits files of a fork."""
    for edit in edits:
        path = folder / edit.file
        path.write_text(edited(path.read_text(), edit))


def build(folder: Path) -> None:
    """Makes all forks in a folder, each in place of one of its name."""
    for fork in BUILT:
        beside = Path(ethereum.forks.__path__[0]) if fork.template == "osaka" else folder
        made = folder / fork.name
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(beside / fork.template, made, ignore=shutil.ignore_patterns("__pycache__"))
        for file in made.rglob("*.py"):
            file.write_text(file.read_text().replace(f"ethereum.forks.{fork.template}.", f"ethereum.forks.{fork.name}."))
        shutil.copytree(FORKS / fork.name, made, dirs_exist_ok=True)
        apply(made, (*fork.edits, *opcode_edits(fork.opcodes)))
        if fork.template == "osaka":
            pass_the_frame(made)


def install(folder: Path) -> None:
    """Adds a folder to those in which EELS looks for forks."""
    ethereum.forks.__path__ = [*ethereum.forks.__path__, str(folder)]


def main() -> int:
    """Makes all forks in the folder of the command line, to be read, checked, or run by EELS' own tools."""
    parser = argparse.ArgumentParser("python -m residue_eels.build", description=main.__doc__)
    parser.add_argument("folder", type=Path)
    try:
        build(parser.parse_args().folder)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
