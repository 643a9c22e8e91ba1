"""`residue t8n` beside EELS (`ethereum-execution` on PyPI): random transitions, and both states and both results compared.

usage: compare.py PROGRAM [--count N] [--forks Prague,Osaka] [--seed S] [--options '--revision eip6690-2024']
"""

import argparse
import copy
import io
import json
import logging
import shlex
import subprocess
import sys
import tempfile

from ethereum_spec_tools.evm_tools.t8n import T8N, ForkCache, t8n_arguments

from generate import transition


def eels(given, fork, cache):
    """State and result of EELS."""
    parser = argparse.ArgumentParser()
    t8n_arguments(parser.add_subparsers())
    with tempfile.TemporaryDirectory() as folder:
        words = ["t8n", "--input.alloc", "stdin", "--input.env", "stdin", "--input.txs", "stdin", "--output.alloc", "stdout",
                 "--output.result", "stdout", "--output.basedir", folder, "--state.fork", fork]
        out = io.StringIO()
        T8N(parser.parse_args(words), out, io.StringIO(json.dumps(given)), cache).run()
        return json.loads(out.getvalue())


def ours(given, fork, program, options):
    """State and result of the program."""
    words = [*shlex.split(program), "--input.alloc", "stdin", "--input.env", "stdin", "--input.txs", "stdin", "--output.alloc", "stdout",
             "--output.result", "stdout", "--state.fork", fork, *options]
    done = subprocess.run(words, input=json.dumps(given), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{fork}: {done.stderr}")
    return json.loads(done.stdout)


def judged(answer):
    """The parts that must agree: all except the words of errors."""
    answer = copy.deepcopy(answer)
    result = answer["result"]
    result["rejected"] = [rejected["index"] for rejected in result["rejected"]]
    if "blockException" in result:
        result["blockException"] = True
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--forks", default="Prague,Osaka")
    parser.add_argument("--options", default="")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    forks = given.forks.split(",")
    differing, executed, rejected, exceptions, requests = 0, 0, 0, 0, 0
    with ForkCache() as cache:
        for at in range(given.seed, given.seed + given.count):
            fork = forks[at % len(forks)]
            alloc, env, txs = transition(at, fork)
            whole = {"alloc": alloc, "env": env, "txs": txs}
            theirs, mine = judged(eels(whole, fork, cache)), judged(ours(whole, fork, given.program, shlex.split(given.options)))
            result = theirs["result"]
            executed, rejected = executed + len(result["receipts"]), rejected + len(result["rejected"])
            exceptions, requests = exceptions + ("blockException" in result), requests + len(result.get("requests", []))
            if theirs != mine:
                differing += 1
                print(f"transition {at}, {fork}:")
                for part in ("result", "alloc"):
                    for name in sorted(set(theirs[part]) | set(mine[part])):
                        if theirs[part].get(name) != mine[part].get(name):
                            print(f"  {part} {name}: theirs {theirs[part].get(name)}, ours {mine[part].get(name)}")
    print(f"{given.count - differing} of {given.count} transitions as EELS: {executed} transactions executed, {rejected} rejected, "
          f"{requests} requests, {exceptions} invalid blocks")
    sys.exit(differing > 0)


main()
