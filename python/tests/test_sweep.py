"""Sweeps and campaigns: the same rows here, in processes and on Ray; and what is lost is done again."""

import os
import shutil
import subprocess
import sys

import pytest

import residue as rs
from residue.campaign import Slice

F = rs.Field(2**61 - 1)
INPUTS = [(3, 4), (0, 1), (2**61 - 1, 5)]


@rs.program(F)
def power(call):
    n = call.word(32)
    return rs.repeat(n, call.element(0), lambda turn, x: x * x + 1)


def test_rows_say_what_residue_compare_says():
    compared = rs.compare(power, 3, 4)
    assert compared.agrees
    assert {row.revision for row in compared.compared} >= {"eip6690-2024", "evm384-v7", "eip7747"}
    assert all(row.gas == power.run(3, 4, revision=row.revision).gas_used for row in compared.compared)
    assert len(compared.rows) == len(rs.revisions())
    assert "eip6690-2024" in str(compared)
    assert len(compared.frame()) == len(rs.revisions())
    assert rs.compare(rs.contract("bn254/add")).agrees


def test_inputs_that_halt_agree_too():
    rows = rs.sweep(power, INPUTS, ["eip6690-2024", "evm384-v7"], schedules="all")
    assert rows.agrees
    assert {row.success for row in rows.rows if row.input == 2} == {False}
    assert len({row.schedule for row in rows.rows}) > 3
    only = rs.sweep(power, INPUTS, ["eip6690-2024", "evm384-v7"], schedules=["evmone"])
    assert {row.revision for row in only.rows} == {"evm384-v7"}


def test_processes_give_the_same_rows():
    assert rs.sweep(power, INPUTS, on="processes") == rs.sweep(power, INPUTS)


TWO_NODES = """
import os, sys, ray, residue as rs
from pathlib import Path
from residue.sweep import spread
sys.path.insert(0, {tests!r})
from ray.cluster_utils import Cluster
from test_sweep import INPUTS, power
cluster = Cluster(initialize_head=True, head_node_args={{"num_cpus": 1, "include_dashboard": False}})
second = cluster.add_node(num_cpus=1)
ray.init(address=cluster.address, log_to_driver=False)
cluster.wait_for_nodes()
assert len(ray.nodes()) == 2, ray.nodes()
assert rs.sweep(power, INPUTS, on="ray") == rs.sweep(power, INPUTS)

def dies_once(item):
    mark = Path({marks!r}) / str(item)
    if item % 3 == 0 and not mark.exists():
        mark.touch()
        os._exit(1)
    return item * item

# The task of a lost worker is done again.
assert spread(dies_once, range(7), "ray", "lost") == [item * item for item in range(7)]
assert len(list(Path({marks!r}).iterdir())) == 3
if {command!r}:
    about = dict(slices=2, slice_runs=200, seed=3, command={command!r})
    assert rs.campaign("engine", on="ray", **about).without_times() == rs.campaign("engine", on="serial", **about).without_times()
cluster.remove_node(second)
assert rs.sweep(power, INPUTS, on="ray") == rs.sweep(power, INPUTS)
print("the same on two nodes, and on the one that is left")
ray.shutdown()
cluster.shutdown()
"""


def test_ray_gives_the_same_rows_on_two_nodes(tmp_path):
    pytest.importorskip("ray")
    script = TWO_NODES.format(tests=os.path.dirname(__file__), marks=str(tmp_path), command=known_command())
    here = {**os.environ, "PYTHONPATH": os.path.dirname(__file__), "RAY_USAGE_STATS_ENABLED": "0"}
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, env=here, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "the one that is left" in ended.stdout


def test_snapshots_of_gas(tmp_path):
    path = tmp_path / "gas.txt"
    written = rs.gas_snapshot(path, [(power, (3, 4)), (rs.contract("bn254/add"), ())], ["eip6690-2024", "evm384-v7"])
    assert len(written) == 4
    assert all(entry.percent == 0 for entry in rs.gas_snapshot(path, [(power, (3, 4))], check=True))
    with pytest.raises(rs.ResidueError, match=r"power under eip6690-2024: \d+ gas before"):
        rs.gas_snapshot(path, [(power, (3, 9))], check=True)
    rs.gas_snapshot(path, [(power, (3, 9))], check=True, tolerance=500)
    with pytest.raises(rs.ResidueError, match="no line for"):
        rs.gas_snapshot(path, [(rs.contract("bn254/mul"), ())], check=True)


def known_command() -> str | None:
    found = os.environ.get("RESIDUE") or shutil.which("residue")
    if found is None or subprocess.run([found, "check", "--help"], capture_output=True, check=False).returncode != 0:
        return None
    return found


def command() -> str:
    return known_command() or pytest.skip("`residue` with `residue-full` is not on the path; RESIDUE may say where it is")


def test_a_campaign_is_the_same_in_all_ways_and_goes_on_after_a_loss(tmp_path):
    about = {"slices": 2, "slice_runs": 300, "seed": 7, "command": command()}
    whole = rs.campaign("engine", on="serial", **about)
    assert whole.runs >= 2 * 2 * 300
    assert whole.findings == ()
    assert rs.campaign("engine", on="processes", **about).without_times() == whole.without_times()
    path = tmp_path / "campaign.json"
    rs.campaign("engine", on="serial", path=path, **{**about, "slices": 1})
    assert rs.campaign("engine", on="serial", path=path, **about).without_times() == whole.without_times()
    with pytest.raises(rs.ResidueError, match="another campaign"):
        rs.campaign("engine", on="serial", path=path, **{**about, "seed": 8})


def test_a_search_for_attacks():
    options = ("--quick", "--parts", "memory", "--gas", "20000")
    found = rs.campaign("attack", slices=1, shards=1, on="serial", command=command(), options=options)
    assert found.without_times() == ((1,),)
    assert found.findings[0]["seed"] == 1


def test_campaigns_say_what_is_wrong():
    with pytest.raises(rs.UnknownName, match="engine or attack"):
        rs.campaign("gas", slices=1)
    with pytest.raises(rs.ResidueError, match="name one of them"):
        rs.campaign("engine")
    with pytest.raises(rs.ResidueError, match="ended with"):
        Slice("engine", 0, 1, 1, 0, 10, None, ("--no-such-option",), command()).done()
