"""Contracts for today's EVM, deployed and called in an EVM that is not ours (py-evm on PyPI): same output, same gas.

usage: deployed.py PROGRAM CONTRACT…

PROGRAM is `residue`. Each contract is built for `--revision evm --fork cancun`, its creation code executed, and the account called with the
contract's example. `groth16` is the verifier of `examples/groth16`, called with its proof; it calls precompiles, as contracts do whose names have a + after them.
"""

import json
import pathlib
import subprocess
import sys

from eth.chains.base import MiningChain
from eth.consensus import NoProofConsensus
from eth.db.atomic import AtomicDB
from eth.vm.forks.cancun import CancunVM

FORK = "cancun"
GROTH16 = pathlib.Path(__file__).parents[2] / "examples" / "groth16"
GAS = 1_000_000_000
CALLER, PLACE = b"\xca" * 20, b"\xc0" * 20


def residue(program, *words):
    """JSON printed by the program."""
    done = subprocess.run([program, *words, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def chain():
    """A chain of one block."""
    vm = CancunVM.configure(consensus_class=NoProofConsensus)
    kind = MiningChain.configure("Chain", vm_configuration=((0, vm),))
    return kind.from_genesis(AtomicDB(), {"difficulty": 0, "gas_limit": GAS, "timestamp": 1})


def execute(vm, code, data):
    """The computation of code at an address that has none."""
    return vm.execute_bytecode(
        origin=CALLER, gas_price=0, gas=GAS, to=PLACE, sender=CALLER, value=0, data=data, code=code, code_address=PLACE)


def main(program, contracts):
    """Compares each contract; the number of those that differ."""
    wrong = 0
    for contract in contracts:
        name = contract.removesuffix("+")
        rules = ["--revision", "evm", "--fork", FORK]
        keyed, call = [], ["--example"]
        if name == "groth16":
            keyed = ["--key", str(GROTH16 / "key.json")]
            call = ["--proof", str(GROTH16 / "proof.json"), "--public", str(GROTH16 / "public.json")]
        if keyed or contract != name:
            rules.append("--use-precompiles")
        creation = residue(program, "build", name, *keyed, *rules, "--format", "creation")["artifact"]
        ours = residue(program, "run", name, *keyed, *call, "--no-time", *rules)
        example = residue(program, "example", name, *keyed, *(call if keyed else []))["input"]
        vm = chain().get_vm()
        deployed = execute(vm, bytes.fromhex(creation.removeprefix("0x")), b"")
        deployed.raise_if_error()
        called = execute(vm, deployed.output, bytes.fromhex(example.removeprefix("0x")))
        called.raise_if_error()
        theirs = "0x" + called.output.hex(), called.get_gas_used()
        mine = ours["output"], ours["gas_used"]
        wrong += theirs != mine
        print(f"{contract}: {'the same' if theirs == mine else 'DIFFERS'}: gas {mine[1]} and {theirs[1]}")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    sys.exit(bool(main(sys.argv[1], sys.argv[2:])))
