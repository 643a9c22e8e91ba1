//! Random histories: after snapshots, rollbacks, reorgs, resets and restarts the state equals that of a fresh node that
//! executes only the surviving part. `RESIDUE_CASES` is the number of histories, `RESIDUE_SEED` the first seed.

use std::path::Path;

use residue_node::node::Node;
use serde_json::{Value, json};

use crate::crash::folder;
use crate::development::{ask, node_in};
use crate::hostile::Chance;

/// Operations of a history.
const LENGTH: usize = 40;
/// A contract that counts in the slot of the caller's choice, and one that destroys itself and pays its caller.
const COUNTER: &str = "0x00000000000000000000000000000000000000aa";
const COUNTER_CODE: &str = "0x5f3554600101805f35555f5260205fa0";
const MORTAL: &str = "0x00000000000000000000000000000000000000bb";

/// A step of a history, which is done again on the fresh node.
#[derive(Debug, Clone)]
enum Step {
    /// A method with its parameters, whose answer says nothing.
    Do(&'static str, Value),
    /// A block.
    Mine,
}

/// A node with the steps of its history that have survived.
struct History {
    node: Node,
    steps: Vec<Step>,
    snapshots: Vec<(Value, Vec<Step>)>,
}

fn begin(folder: Option<&Path>) -> Node {
    let node = node_in(0, folder);
    set_up(&node);
    node
}

/// Sets what is gone with the process.
fn set_up(node: &Node) {
    ask(node, "anvil_setBlockTimestampInterval", json!([1]));
    ask(node, "evm_setAutomine", json!([false]));
    ask(node, "anvil_impersonateAccount", json!([MORTAL]));
}

fn apply(node: &Node, step: &Step) {
    match step {
        Step::Do(method, params) => drop(ask(node, method, params.clone())),
        Step::Mine => drop(ask(node, "evm_mine", json!([]))),
    }
}

impl History {
    fn step(&mut self, step: Step) {
        apply(&self.node, &step);
        self.steps.push(step);
    }

    fn blocks(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Mine)).count()
    }

    /// True if a transaction waits, which would be gone with a snapshot or a restart.
    fn waits(&self) -> bool {
        ask(&self.node, "txpool_status", json!([]))["pending"] != "0x0"
    }

    /// Keeps the steps up to a block, as a rollback does: what came after it by hand is gone too.
    fn keep(&mut self, blocks: usize) {
        let mut seen = 0;
        let at = self.steps.iter().position(|step| {
            let is_over = seen == blocks;
            seen += usize::from(matches!(step, Step::Mine));
            is_over
        });
        self.steps.truncate(at.unwrap_or(self.steps.len()));
    }

    fn random(&mut self, chance: &mut Chance, folder: &Path) {
        let accounts = ask(&self.node, "eth_accounts", json!([]));
        let account = accounts[chance.below(3)].clone();
        let any = [accounts[3].clone(), json!(COUNTER), json!(MORTAL)][chance.below(3)].clone();
        let small = format!("{:#x}", chance.below(1000));
        match chance.below(16) {
            0..4 => {
                let slot = format!("0x{:064x}", chance.below(3));
                let to = [COUNTER, MORTAL][chance.below(2)];
                let request = json!({ "from": account, "to": to, "value": small, "input": slot, "gas": "0x186a0" });
                self.step(Step::Do("eth_sendTransaction", json!([request])));
            }
            4 => self.step(Step::Do("anvil_setBalance", json!([any, small]))),
            5 => self.step(Step::Do("anvil_setStorageAt", json!([any, "0x1", format!("0x{:064x}", chance.below(2))]))),
            6 => {
                let code = *chance.of(&["0x33ff", "0x30ff", "0x"]);
                self.step(Step::Do("anvil_setCode", json!([MORTAL, code])));
            }
            7..11 => self.step(Step::Mine),
            11 if !self.waits() => {
                let id = ask(&self.node, "evm_snapshot", json!([]));
                self.snapshots.push((id, self.steps.clone()));
            }
            12 if !self.snapshots.is_empty() => {
                let at = chance.below(self.snapshots.len());
                let (id, steps) = self.snapshots[at].clone();
                self.snapshots.truncate(at);
                assert_eq!(ask(&self.node, "evm_revert", json!([id])), true);
                self.steps = steps;
            }
            // Nonces of what waits follow on those of what was taken back.
            13 if self.blocks() > 0 && !self.waits() => {
                let depth = 1 + chance.below(self.blocks().min(4));
                if chance.below(2) == 0 {
                    ask(&self.node, "anvil_rollback", json!([depth]));
                    self.keep(self.blocks() - depth);
                } else {
                    ask(&self.node, "anvil_reorg", json!([depth]));
                    self.keep(self.blocks() - depth);
                    self.steps.extend(vec![Step::Mine; depth]);
                }
            }
            14 if !self.waits() => {
                // Nothing may hold the file when it is opened again.
                self.node = node_in(0, None);
                self.node = node_in(0, Some(folder));
                set_up(&self.node);
            }
            15 if chance.below(4) == 0 => {
                ask(&self.node, ["anvil_reset", "hardhat_reset"][chance.below(2)], json!([]));
                set_up(&self.node);
                self.steps.clear();
                self.snapshots.clear();
            }
            _ => {}
        }
    }
}

/// All that a node can be asked of its chain, at every block, and of what waits.
fn told(node: &Node) -> Vec<Value> {
    let mut told = vec![ask(node, "txpool_content", json!([]))];
    let head = u64::from_str_radix(&ask(node, "eth_blockNumber", json!([])).as_str().unwrap()[2..], 16).unwrap();
    let accounts = ask(node, "eth_accounts", json!([]));
    let mut blocks: Vec<String> = (0..=head).map(|number| format!("{number:#x}")).collect();
    blocks.push("pending".to_owned());
    for block in blocks {
        told.push(ask(node, "eth_getBlockByNumber", json!([block, true])));
        told.push(ask(node, "eth_getBlockReceipts", json!([block])));
        for address in [accounts[0].clone(), accounts[3].clone(), json!(COUNTER), json!(MORTAL)] {
            told.push(ask(node, "eth_getProof", json!([address, ["0x0", "0x1", "0x2"], block])));
            told.push(ask(node, "eth_getCode", json!([address, block])));
        }
        if block != "0x0" && block != "pending" {
            told.push(ask(node, "trace_block", json!([block])));
        }
    }
    told.push(ask(node, "eth_getLogs", json!([{ "fromBlock": "earliest" }])));
    told
}

#[test]
fn what_survives_a_history_is_what_a_fresh_node_comes_to() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (cases, first): (u64, u64) = (number("RESIDUE_CASES", 8), number("RESIDUE_SEED", 1));
    for seed in first..first + cases {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed) | 1);
        let data = folder("histories");
        let mut history = History { node: begin(Some(&data)), steps: Vec::new(), snapshots: Vec::new() };
        history.step(Step::Do("anvil_setCode", json!([COUNTER, COUNTER_CODE])));
        history.step(Step::Mine);
        for _ in 0..LENGTH {
            history.random(&mut chance, &data);
        }
        let fresh = begin(None);
        history.steps.iter().for_each(|step| apply(&fresh, step));
        let (ours, theirs) = (told(&history.node), told(&fresh));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "seed {seed}: {:?}", history.steps);
        }
        assert_eq!(ours.len(), theirs.len(), "seed {seed}");
    }
}
