"""Cryptography as EVM bytecode, in Python.

A field program is a Python function over elements and words. On numbers it computes; recorded, it becomes bytecode for any interface
that gives the EVM modular arithmetic, which is run, traced, profiled and compared with what Python computes:

    from residue import Field, program

    F = Field(2**255 - 19)

    @program(F)
    def cube(call):
        return call.element(0) ** 3

    assert cube.run(5).output == cube(5)
"""

from residue import ir
from residue.call import Call, calldata
from residue.campaign import Campaign, campaign
from residue.catalogue import Opcode, Revision, Schedule, beside, forks, opcodes, revisions, schedules
from residue.code import Code, Options, Source
from residue.control import function, keccak256, over, repeat, require, sha256, when
from residue.errors import (
    CompileError,
    Disagreement,
    Halted,
    Inexpressible,
    InternalError,
    NoOutcome,
    NumberError,
    ProgramError,
    RecordingError,
    ResidueError,
    RulesError,
    UnknownName,
    UnknownOption,
)
from residue.memory import Array, Table, Variable
from residue.program import Compilable, Contract, Program, ProgramText, contract, contracts, finish, output, program
from residue.results import Block, GasSplit, Profile, Run, Step, Trace, Variant
from residue.sweep import GasEntry, Row, Sweep, compare, gas_snapshot, sweep
from residue.values import Condition, Element, Field, Word, bind, not_, word

__all__ = [
    "Array",
    "Block",
    "Call",
    "Campaign",
    "Code",
    "Compilable",
    "CompileError",
    "Condition",
    "Contract",
    "Disagreement",
    "Element",
    "Field",
    "GasEntry",
    "GasSplit",
    "Halted",
    "Inexpressible",
    "InternalError",
    "NoOutcome",
    "NumberError",
    "Opcode",
    "Options",
    "Profile",
    "Program",
    "ProgramError",
    "ProgramText",
    "RecordingError",
    "ResidueError",
    "Revision",
    "RulesError",
    "Row",
    "Run",
    "Schedule",
    "Source",
    "Step",
    "Sweep",
    "Table",
    "Trace",
    "UnknownName",
    "UnknownOption",
    "Variable",
    "Variant",
    "Word",
    "beside",
    "bind",
    "calldata",
    "campaign",
    "compare",
    "contract",
    "contracts",
    "finish",
    "forks",
    "function",
    "gas_snapshot",
    "ir",
    "keccak256",
    "not_",
    "opcodes",
    "output",
    "over",
    "program",
    "repeat",
    "require",
    "revisions",
    "schedules",
    "sha256",
    "sweep",
    "when",
    "word",
]
