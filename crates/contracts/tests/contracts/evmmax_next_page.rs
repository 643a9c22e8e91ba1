//! The tables of `docs/evmmax-next.md`: savings of each experiment on top of EIP-6690 of 2024, and upper bounds of
//! those of others.
//!
//! If a contract, the compiler or a schedule changes, this writes them anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts
//! evmmax_next_page -- --ignored`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::modexp;
use crate::points::{Seeded, encode1, encode2, fq};
use residue_contracts::{CONTRACTS, find};
use residue_engine::{Engine, EngineConfig, Halt, Step, Tracer, View};
use residue_isa::opcode::evm;
use residue_isa::{FieldInstruction, FieldOp, FormPrice, GasSchedule, Lanes, Price, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// A contract, a part of its calldata, which so many of make the whole, with what was asked of each.
type Operation = (&'static str, fn(&mut Seeded) -> Vec<u8>, &'static [(usize, &'static str)]);

const OPERATIONS: [Operation; 9] = [
    ("bls12_381/pairing", |s| [encode1(s.g1()), encode2(s.g2())].concat(), &[(2, "1.00"), (8, "0.82"), (16, "0.80")]),
    ("bls12_381/g1_add", |s| [encode1(s.g1()), encode1(s.g1())].concat(), &[(1, "1.5")]),
    ("bls12_381/map_fp_to_g1", |s| fq(s.fq()), &[(1, "0.85")]),
    ("bls12_381/g1_msm", |s| [encode1(s.g1()), s.bytes(32)].concat(), &[(128, "1.10")]),
    ("bls12_381/g2_msm", |s| [encode2(s.g2()), s.bytes(32)].concat(), &[(128, "0.95")]),
    ("bn254/add", |_| example("bn254/add"), &[(1, "2.5")]),
    ("bn254/mul", |_| example("bn254/mul"), &[(1, "1.0")]),
    ("secp256k1/recover", |_| example("secp256k1/recover"), &[(1, "2.5")]),
    ("p256/verify", |_| example("p256/verify"), &[(1, "–")]),
];

/// A contract with an input, and what that is.
type Case = (&'static str, &'static str, fn(&mut Seeded) -> Vec<u8>);

/// Cases for which experiments outside `evmmax-next` matter.
const BESIDE: [Case; 6] = [
    ("modexp", "1024 bits, 65537", |s| rsa(s, 128)),
    ("modexp", "2048 bits, 65537", |s| rsa(s, 256)),
    ("modexp", "4096 bits, 65537", |s| rsa(s, 512)),
    ("modexp", "256 bits, its example", |_| example("modexp")),
    ("bls12_381/pairing", "two pairs", |s| (0..2).flat_map(|_| [encode1(s.g1()), encode2(s.g2())].concat()).collect()),
    ("secp256k1/recover", "its example", |_| example("secp256k1/recover")),
];

/// Contracts over moduli of one limb, and the same with short values.
const SMALL: [&str; 7] = [
    "ntt/falcon512",
    "ntt/falcon512_short",
    "ntt/dilithium256",
    "poseidon2/goldilocks_t12",
    "poseidon2/babybear_t16",
    "poseidon2/koalabear_t16",
    "poseidon2/koalabear_t24",
];

/// Contracts with many constants for what they compute, and some with few.
const CONSTANTS: [&str; 8] = [
    "poseidon/t3",
    "poseidon/t5",
    "poseidon2/bn254_t3",
    "poseidon2/merkle",
    "kzg/point_evaluation",
    "p256/verify",
    "secp256k1/recover",
    "bls12_381/g1_add",
];

/// Contracts with functions that several places call, and one without.
const CALLS: [&str; 13] = [
    "bls12_381/g1_add",
    "bls12_381/g2_add",
    "bls12_381/map_fp_to_g1",
    "bls12_381/map_fp2_to_g2",
    "bls12_381/g2_msm",
    "bls12_381/pairing",
    "kzg/point_evaluation",
    "bn254/pairing",
    "bn254/add",
    "bn254/mul",
    "secp256k1/recover",
    "p256/verify",
    "poseidon/t3",
];

/// Contracts over extension fields, and one over the base field.
const PRODUCTS: [&str; 7] = [
    "bls12_381/pairing",
    "bn254/pairing",
    "bls12_381/g2_mul",
    "bls12_381/g2_msm",
    "bls12_381/g1_msm",
    "bls12_381/map_fp2_to_g2",
    "bls12_381/g2_add",
];

/// Contracts that compare elements.
const COMPARISONS: [&str; 8] = [
    "bls12_381/g1_add",
    "bn254/add",
    "bls12_381/decompress_g1",
    "bls12_381/decompress_g2",
    "bls12_381/pairing",
    "secp256k1/recover",
    "p256/verify",
    "ed25519/verify",
];

/// A verification as RSA asks for it: an odd modulus of so many bytes, its highest bit 1, and a base below it.
fn rsa(seeded: &mut Seeded, bytes: usize) -> Vec<u8> {
    let [mut modulus, mut base] = [seeded.bytes(bytes), seeded.bytes(bytes)];
    modulus[0] |= 0x80;
    modulus[bytes - 1] |= 1;
    base[0] &= 0x7f;
    modexp::input(&base, &[1, 0, 1], &modulus)
}

fn example(name: &str) -> Vec<u8> {
    (find(name).unwrap().example)()
}

/// Gas of an operation under each of the revisions, and its price.
fn costs(operation: &Operation, revisions: &[Revision]) -> Vec<(u64, Vec<u64>)> {
    let (name, part, counts) = operation;
    let contract = find(name).unwrap();
    let mut costs = vec![(0, Vec::new()); counts.len()];
    for &revision in revisions {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        let code = cheapest(contract, revision, &schedule).unwrap().compiled.code;
        // The limit of EIP-170; multiples by digits to the base 8 keep to that of EIP-7954.
        let most_bytes = if *name == "bn254/mul" { 65_536 } else { 24_576 };
        assert!(code.len() <= most_bytes, "{name}, {revision}: {} bytes of code", code.len());
        for ((count, _), (price, gas)) in counts.iter().zip(&mut costs) {
            let mut seeded = Seeded(2537);
            let input: Vec<u8> = (0..*count).flat_map(|_| part(&mut seeded)).collect();
            let native = native(contract, &input).unwrap().unwrap();
            let outcome = engine.run_code(&code, &input, GAS);
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{name}, {count}, {revision}");
            *price = native.gas_used;
            gas.push(outcome.gas_used);
        }
    }
    costs
}

/// 1.5 times the price of G1ADD is 562 gas, 2.5 times that of ECADD 375.
#[test]
#[ignore = "it takes long: by name, and in CI"]
fn sums_of_two_points_take_no_more_gas_than_they_did() {
    for (name, most) in [("bls12_381/g1_add", 522), ("bn254/add", 357)] {
        let operation = OPERATIONS.iter().find(|(one, ..)| *one == name).unwrap();
        let (_, gas) = &costs(operation, &[Revision::EvmmaxNext])[0];
        assert!(gas[0] <= most, "{name}: {} gas", gas[0]);
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_experiments_is_what_they_cost() {
    let is_experiment = |revision: &&Revision| revision.is_part_of(Revision::EvmmaxNext);
    let revisions: Vec<Revision> =
        [Revision::Eip6690_2024].iter().chain(Revision::ALL.iter().filter(is_experiment)).copied().collect();
    let names: Vec<String> = revisions.iter().map(|revision| format!("`{revision}` | ratio")).collect();
    let mut text = format!(
        "| contract | k | price | asked | {} |\n|---|---:|---:|---:|{}\n",
        names.join(" | "),
        "---:|---:|".repeat(revisions.len())
    );
    for operation in &OPERATIONS {
        for ((count, asked), (price, gas)) in operation.2.iter().zip(costs(operation, &revisions)) {
            let cells: Vec<String> =
                gas.iter().map(|&gas| format!("{} | {}", grouped(gas), ratio(gas, price))).collect();
            let (name, price) = (operation.0, grouped(price));
            writeln!(text, "| `{name}` | {count} | {price} | {asked} | {} |", cells.join(" | ")).unwrap();
        }
    }
    residue_pages::hold("docs/evmmax-next.md", "experiments", &text);
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_tables_of_examples_are_what_they_cost() {
    use Revision::{Eip6690_2024, EvmmaxNext, XCallsub, XCmpx, XCodex, XFp2x, XIszerox, XMovx, XVectorx};
    hold_examples("small moduli", &[Eip6690_2024, EvmmaxNext, XVectorx], &SMALL);
    hold_examples("constants in code", &[Eip6690_2024, XCodex, EvmmaxNext], &CONSTANTS);
    hold_examples("subroutines", &[Eip6690_2024, XCallsub], &CALLS);
    hold_examples("products in Fp2", &[Eip6690_2024, XFp2x, XMovx], &PRODUCTS);
    hold_examples("comparisons", &[Eip6690_2024, XIszerox, XCmpx], &COMPARISONS);
}

/// Gas of examples under revisions, with the ratio to the first of these, held to a table of the page.
fn hold_examples(part: &str, revisions: &[Revision], names: &[&str]) {
    let heads: Vec<String> = revisions.iter().map(|revision| format!("`{revision}`")).collect();
    let mut text = format!("| contract | {} |\n|---|{}\n", heads.join(" | "), "---:|".repeat(revisions.len()));
    for name in names {
        let contract = find(name).unwrap();
        let gas = revisions.iter().map(|&revision| {
            let schedule = GasSchedule::default_for(revision).unwrap();
            cheapest(contract, revision, &schedule).unwrap().gas
        });
        let gas: Vec<u64> = gas.collect();
        let others = gas[1..].iter().map(|&used| format!("{} ({}) |", grouped(used), ratio(used, gas[0])));
        writeln!(text, "| `{name}` | {} | {}", grouped(gas[0]), others.collect::<Vec<_>>().join(" ")).unwrap();
    }
    residue_pages::hold("docs/evmmax-next.md", part, &text);
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_experiments_beside_them_is_what_they_cost() {
    let is_beside =
        |revision: &&Revision| !revision.experiments().is_empty() && !revision.is_part_of(Revision::EvmmaxNext);
    let base = Revision::Eip6690_2024;
    let revisions: Vec<Revision> = [&base].into_iter().chain(Revision::ALL.iter().filter(is_beside)).copied().collect();
    let names: Vec<String> = revisions.iter().map(|revision| format!("`{revision}`")).collect();
    let mut text =
        format!("| contract | input | {} |\n|---|---|{}\n", names.join(" | "), "---:|".repeat(revisions.len()));
    for (name, input_is, input) in BESIDE {
        let (contract, input) = (find(name).unwrap(), input(&mut Seeded(2537)));
        let expected = native(contract, &input).map(|native| native.unwrap().output);
        let mut outputs = expected.into_iter().collect::<Vec<_>>();
        let mut gas = Vec::new();
        for &revision in &revisions {
            let schedule = GasSchedule::default_for(revision).unwrap();
            let code = cheapest(contract, revision, &schedule).unwrap().compiled.code;
            let outcome = Engine::new(EngineConfig::default_for(revision)).unwrap().run_code(&code, &input, GAS);
            assert_eq!(outcome.halt, Halt::Return, "{name}, {input_is}, {revision}");
            outputs.push(outcome.output);
            gas.push(outcome.gas_used);
        }
        assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]), "{name}, {input_is}");
        let cells: Vec<String> =
            gas.iter().map(|&used| format!("{} ({})", grouped(used), ratio(used, gas[0]))).collect();
        writeln!(text, "| `{name}` | {input_is} | {} |", cells.join(" | ")).unwrap();
    }
    residue_pages::hold("docs/evmmax-next.md", "beside", &text);
}

/// Gas of an execution under EIP-6690 of 2024 that other instructions would save, in thousandths.
struct Saved {
    schedule: GasSchedule,
    /// The schedule that prices values which GETX copies.
    copying: GasSchedule,
    /// Squares at 98 % of a product, each instruction rounded up.
    squares: u64,
    /// The same without rounding.
    squares_in_fractions: u64,
    /// Copies of slots at the price of GETX for a value, each instruction rounded up, by the slot that is zero and its context's width.
    copies: BTreeMap<(usize, u8), u64>,
    /// Slots that arithmetic has read as something else, by the same: what was zero there was a value, and its sum no copy.
    values: BTreeSet<(usize, u8)>,
    /// Jumps after which slots are copied and nothing is computed, with the copies, if choosing cost nothing.
    choices: u64,
    /// True if the instruction that is about to be executed copies a slot.
    copied: bool,
    /// Since a jump that depends on a word: what it and copies after it have cost, and whether there were copies.
    since_jump: Option<(u64, bool)>,
}

/// Gas of a product of squares by time: blst's `sqr_mont_384` against `mul_mont_384`.
const SQUARE_THOUSANDTHS: u64 = 980;

impl Saved {
    fn new() -> Self {
        let [schedule, copying] =
            [Revision::Eip6690_2024, Revision::XArrayx].map(|revision| GasSchedule::default_for(revision).unwrap());
        let (squares, squares_in_fractions, copies, values, choices, copied) = Default::default();
        Self { schedule, copying, squares, squares_in_fractions, copies, values, choices, copied, since_jump: None }
    }
}

impl Tracer for Saved {
    fn before(&mut self, view: &View<'_>) {
        let decoded = Revision::Eip6690_2024.decode(&view.code()[view.pc().min(view.code().len())..]);
        let Some((FieldInstruction::Slots { operation, x, y, count, .. }, _)) = decoded else {
            self.copied = false;
            return;
        };
        let width = view.width_limbs().unwrap();
        let Price(price) = self.schedule.arithmetic(operation, width);
        let whole = |thousandths: u64| Price(thousandths).whole() * 1000;
        let is_zero = |slot: u8| view.slot(slot.into()).unwrap().iter().all(|&byte| byte == 0);
        let read = [x, y].into_iter().flat_map(|lanes| (0..count).map(move |lane| lanes.slot(lane).unwrap()));
        self.values.extend(read.filter(|&slot| !is_zero(slot)).map(|slot| (width, slot)));
        // One slot for all lanes, which is zero.
        let is_one = |lanes: &Lanes| (count == 1 || lanes.stride == 0) && is_zero(lanes.index);
        let zero = [y, x].into_iter().find(is_one).filter(|_| operation == FieldOp::Add);
        self.copied = zero.is_some();
        if operation == FieldOp::Mul {
            let squares = (0..count).filter(|&lane| x.slot(lane) == y.slot(lane)).count() as u64; // At most 255.
            let less = squares * price * (1000 - SQUARE_THOUSANDTHS) / 1000;
            self.squares_in_fractions += less;
            self.squares += u64::from(count) * price - whole(u64::from(count) * price - less);
        }
        if let Some(zero) = zero {
            let Price(copy) = self.copying.at_width(width).forms[FormPrice::Copy];
            let (before, after) = (u64::from(count) * price, whole(u64::from(count) * copy));
            *self.copies.entry((width, zero.index)).or_default() += before.saturating_sub(after);
        }
    }

    fn after(&mut self, step: &Step, _: &View<'_>) {
        let cost = 1000 * step.gas_cost;
        self.since_jump = match (step.opcode, self.since_jump.take()) {
            (evm::JUMPI, since) => {
                self.choices += chosen(since);
                Some((cost, false))
            }
            (evm::JUMP | evm::JUMPDEST | evm::PUSH0..=evm::PUSH32, Some((gas, copies))) => Some((gas + cost, copies)),
            (_, Some((gas, _))) if self.copied => Some((gas + cost, true)),
            (_, since) => {
                self.choices += chosen(since);
                None
            }
        };
    }
}

/// Gas of the choice since the last jump, 0 if it was none.
fn chosen(since_jump: Option<(u64, bool)>) -> u64 {
    since_jump.filter(|&(_, copies)| copies).map_or(0, |(gas, _)| gas)
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_what_is_not_built_is_counted() {
    let revision = Revision::Eip6690_2024;
    let (schedule, engine) =
        (GasSchedule::default_for(revision).unwrap(), Engine::new(EngineConfig::default_for(revision)).unwrap());
    let ideas = [
        "squares at 98 % of a product, instructions rounded up",
        "squares at 98 % of a product, in fractions of gas",
        "copies of slots by count, at the price of GETX",
        "choices between slots without a jump, at no price",
    ];
    let mut ratios: Vec<Vec<(f64, &str)>> = ideas.iter().map(|_| Vec::new()).collect();
    for contract in CONTRACTS {
        let Ok(compiled) = residue_compiler::compile(&contract.program(), revision, &schedule) else { continue };
        let mut saved = Saved::new();
        let outcome = engine.run_traced(&compiled.code, &(contract.example)(), 1 << 40, &mut saved);
        assert_eq!(outcome.halt, Halt::Return, "{}", contract.name);
        let copies = saved.copies.iter().filter(|(slot, _)| !saved.values.contains(slot)).map(|(_, saved)| saved).sum();
        let counted = [saved.squares, saved.squares_in_fractions, copies, saved.choices];
        for (ratios, thousandths) in ratios.iter_mut().zip(counted) {
            ratios.push((1.0 - thousandths as f64 / (1000 * outcome.gas_used) as f64, contract.name)); // Far below 2⁵³.
        }
    }
    let mut text =
        "| idea | gas, all contracts alike | best contract | better by 1 % |\n|---|---:|---|---:|\n".to_owned();
    for (idea, ratios) in ideas.iter().zip(&ratios) {
        let mean = (ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let (best, name) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let better = ratios.iter().filter(|(ratio, _)| *ratio < 0.99).count();
        writeln!(text, "| {idea} | {mean:.4} | `{name}` {best:.4} | {better} of {} |", ratios.len()).unwrap();
    }
    residue_pages::hold("docs/evmmax-next.md", "counted", &text);
}
