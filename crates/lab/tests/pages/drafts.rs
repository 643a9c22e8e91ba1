//! The numbers in the drafts of EIPs are those of records, contracts and other pages.
//!
//! If they change, this writes the tables anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages drafts -- --include-ignored`.
//! The drafts themselves have no parts that a test writes, as the lint takes comments for faults: a sentence is held by its words.

use std::collections::BTreeMap;
use std::fmt::Write;

use residue_engine::{Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision};
use residue_lab::Quantity;
use residue_pages::{grouped, hold, quotes, ratio, read};
use residue_workbench::cheapest;
use residue_workbench::inspect::trace::{Executed, Tracing};

use crate::quotes::Quoted;

/// The draft that reprices.
const REPRICING: &str = "docs/eip/repricing.md";
/// Page of the measurements beside it.
const MEASUREMENTS: &str = "docs/assets/eip-9992/README.md";

/// Instructions with one price, as the draft names them, the price on Osaka and the proposed one.
struct Priced {
    shown: &'static str,
    mnemonics: &'static [&'static str],
    gas: u64,
    proposed: u64,
}

/// A row; the instructions of a family that end in a number are named by their first and last.
const fn priced(shown: &'static str, mnemonics: &'static [&'static str], gas: u64, proposed: u64) -> Priced {
    Priced { shown, mnemonics, gas, proposed }
}

const PRICES: [Priced; 13] = [
    priced("`POP`, `PUSH0`", &["POP", "PUSH0"], 2, 1),
    priced("`PUSH1` to `PUSH32`", &["PUSH1..32"], 3, 1),
    priced("`DUP1` to `DUP16`", &["DUP1..16"], 3, 1),
    priced("`SWAP1` to `SWAP16`", &["SWAP1..16"], 3, 1),
    priced("`ADD`, `SUB`, `LT`, `GT`, `EQ`, `ISZERO`", &["ADD", "SUB", "LT", "GT", "EQ", "ISZERO"], 3, 1),
    priced("`AND`, `OR`, `XOR`, `NOT`, `BYTE`", &["AND", "OR", "XOR", "NOT", "BYTE"], 3, 1),
    priced("`SHL`, `SHR`, `SAR`", &["SHL", "SHR", "SAR"], 3, 1),
    priced("`MUL`", &["MUL"], 5, 2),
    priced("`ADDMOD`", &["ADDMOD"], 8, 5),
    priced("`MULMOD`", &["MULMOD"], 8, 8),
    priced("`DIV`, `SDIV`, `MOD`, `SMOD`", &["DIV", "SDIV", "MOD", "SMOD"], 5, 5),
    priced("`MLOAD`, `MSTORE`", &["MLOAD", "MSTORE"], 3, 3),
    priced("`KECCAK256` of 32 bytes", &["KECCAK256"], 36, 36),
];

/// The machines whose records count.
const MACHINES: [&str; 3] = ["amd-epyc-zen3-2c", "amd-epyc-zen4-2c", "amd-epyc-zen5-2c"];

/// Contracts whose gas the draft compares.
const CONTRACTS: [&str; 14] = [
    "bn254/pairing",
    "bn254/add",
    "bn254/mul",
    "p256/verify",
    "secp256k1/recover",
    "bip340/verify",
    "ed25519/verify",
    "poseidon/t3",
    "poseidon2/bn254_t4",
    "ntt/dilithium256",
    "modexp/words",
    "hashes/sha256",
    "hashes/ripemd160",
    "hashes/blake2f",
];

impl Priced {
    /// Each instruction by its name: `DUP1..16` are sixteen.
    fn names(&self) -> Vec<String> {
        let of = |name: &&str| match name.split_once("1..") {
            Some((family, last)) => {
                (1..=last.parse::<u8>().expect("a number")).map(|number| format!("{family}{number}")).collect()
            }
            None => vec![(*name).to_owned()],
        };
        self.mnemonics.iter().flat_map(of).collect()
    }

    fn is_lowered(&self) -> bool {
        self.proposed < self.gas
    }
}

/// Nanoseconds of an instruction by the worst class of operands that the caches hold; hashes are of 32 bytes.
fn worst_ns(quoted: &Quoted, mnemonic: &str) -> f64 {
    let is_of = |name: &str| {
        let class = name.strip_prefix(&format!("evm/{mnemonic}/"));
        class.is_some_and(|class| {
            !class.ends_with("/far")
                && !class.ends_with("/pages")
                && (mnemonic != "KECCAK256" || class.starts_with("32/"))
        })
    };
    let rows = quoted.record.rows.iter().filter(|row| row.quantity == Quantity::Time && is_of(&row.name));
    rows.map(|row| row.spread.median).reduce(f64::max).unwrap_or_else(|| panic!("no time of {mnemonic}"))
}

/// The median and the highest of what the instructions of a row take. No instruction takes less than a nanosecond, three cycles: a lower value is of two programs
/// that lie differently in memory. None where more than half of the values are such.
fn times(quoted: &Quoted, priced: &Priced) -> Option<(f64, f64)> {
    let names = priced.names();
    let mut all: Vec<f64> = names.iter().map(|name| worst_ns(quoted, name)).filter(|ns| *ns >= 1.0).collect();
    all.sort_by(f64::total_cmp);
    (2 * all.len() >= names.len()).then(|| (all[all.len() / 2], all[all.len() - 1]))
}

#[test]
fn the_prices_of_the_draft_are_those_that_times_ask_for() {
    let records = MACHINES.map(|machine| Quoted::newest(machine, "opcodes"));
    let mut table = "| instructions | price | proposed | Zen 3 | highest | Zen 4 | highest | Zen 5 | highest |\n\
                     |---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let draft = read(REPRICING);
    for priced in &PRICES {
        write!(table, "| {} | {} | {} |", priced.shown, priced.gas, priced.proposed).unwrap();
        let mut measured = 0;
        for quoted in &records {
            let Some((median, highest)) = times(quoted, priced) else {
                table.push_str(" – | – |");
                continue;
            };
            measured += 1;
            write!(table, " {median:.1} | {highest:.1} |").unwrap();
            // At 10 ns a gas, on each machine.
            let is_paid = median <= 10.0 * priced.proposed as f64;
            assert!(is_paid || !priced.is_lowered(), "{}: {median} ns for {} gas", priced.shown, priced.proposed);
        }
        assert!(measured >= 2, "{} was measured on {measured} machines", priced.shown);
        table.push('\n');
        let row = format!("| {} | {} | {} |", priced.shown, priced.gas, priced.proposed);
        assert_eq!(quotes(&draft, &row), priced.is_lowered(), "{REPRICING} has lowered prices and no others: {row}");
    }
    hold(MEASUREMENTS, "times", &table);
    let range = |mnemonic: &str| {
        let mut all = records.each_ref().map(|quoted| worst_ns(quoted, mnemonic));
        all.sort_by(f64::total_cmp);
        format!("{:.0} to {:.0} ns", all[0], all[2])
    };
    let sentence = format!("`MULMOD` takes {}", range("MULMOD"));
    assert!(quotes(&draft, &sentence), "{REPRICING} should say: {sentence}");
}

/// Gas that a program takes less, of all instructions and of `MUL` and `ADDMOD`.
struct Spared {
    gas: u64,
    all: u64,
    of_arithmetic: u64,
}

/// Gas that the example of a contract saves over the EVM without field instructions.
fn spared(name: &str) -> Spared {
    let contract = residue_contracts::find(name).unwrap();
    let trial = cheapest(contract, Revision::Evm, &GasSchedule::default_for(Revision::Evm).unwrap()).unwrap();
    let mut by_name: BTreeMap<String, &Priced> = BTreeMap::new();
    for priced in &PRICES {
        by_name.extend(priced.names().into_iter().map(|name| (name, priced)));
    }
    let (mut all, mut of_arithmetic) = (0, 0);
    let mut tracer = Tracing::new(Revision::Evm, |executed: Executed| {
        let mnemonic = executed.mnemonic.expect("compiled code has opcodes alone");
        let Some(priced) = by_name.get(mnemonic).filter(|priced| priced.is_lowered()) else { return };
        assert_eq!(executed.gas_cost, priced.gas, "{mnemonic}");
        all += priced.gas - priced.proposed;
        if ["MUL", "ADDMOD"].contains(&mnemonic) {
            of_arithmetic += priced.gas - priced.proposed;
        }
    });
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let outcome = engine.run_traced(&trial.compiled.code, &(contract.example)(), 1 << 40, &mut tracer);
    assert_eq!(outcome.gas_used, trial.gas, "{name}");
    Spared { gas: trial.gas, all, of_arithmetic }
}

#[test]
#[ignore = "it compiles what takes long: by name, and in CI"]
fn the_gas_of_the_draft_is_what_contracts_take() {
    let mut table = "| contract | gas, `evm` | less by stack and words | less by `MUL`, `ADDMOD` | gas | ratio | gas, `eip6690-2024` |\n\
                     |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let mut ratios = Vec::new();
    for name in CONTRACTS {
        let Spared { gas, all, of_arithmetic } = spared(name);
        let field = residue_contracts::find(name).unwrap();
        let schedule = GasSchedule::default_for(Revision::Eip6690_2024).unwrap();
        let field = cheapest(field, Revision::Eip6690_2024, &schedule).unwrap().gas;
        let [before, words, arithmetic, after, field] =
            [gas, all - of_arithmetic, of_arithmetic, gas - all, field].map(grouped);
        writeln!(
            table,
            "| `{name}` | {before} | {words} | {arithmetic} | {after} | {} | {field} |",
            ratio(gas - all, gas)
        )
        .unwrap();
        ratios.push((name, (gas - all) as f64 / gas as f64));
    }
    hold(MEASUREMENTS, "gas", &table);
    let of = |is_hash: bool| {
        let chosen = ratios
            .iter()
            .filter(|(name, _)| name.starts_with("hashes/") == is_hash)
            .map(|(_, ratio)| 100.0 * (1.0 - ratio));
        let all: Vec<f64> = chosen.collect();
        format!(
            "{:.0} to {:.0} %",
            all.iter().copied().fold(f64::MAX, f64::min),
            all.iter().copied().fold(0.0, f64::max)
        )
    };
    for sentence in [format!("{} less gas", of(false)), format!("hashes {} less", of(true))] {
        assert!(quotes(&read(REPRICING), &sentence), "{REPRICING} should say: {sentence}");
    }
}

/// The draft of the prefix has gas of contracts, which `docs/evm.md` holds to them.
#[test]
fn the_draft_of_the_prefix_has_the_gas_of_the_page() {
    let page = read("docs/evm.md");
    let gas = |name: &str| {
        let row = page.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` | "))).expect("a row");
        let mut columns = row.split(" | ").map(|gas| gas.replace(' ', ","));
        (columns.next().unwrap(), columns.next().unwrap())
    };
    let [(p256, p256_field), (poseidon, poseidon_field), (ed25519, ed25519_field)] =
        ["p256/verify", "poseidon/t3", "ed25519/verify"].map(gas);
    let sentence = format!(
        "By MULMOD a check of a signature on P-256 takes {p256} gas, by these instructions {p256_field}; a permutation of Poseidon over the \
         scalars of BN254 {poseidon} and {poseidon_field}; a check of an Ed25519 signature {ed25519} and {ed25519_field}."
    );
    assert!(quotes(&read("docs/eip/extension.md"), &sentence), "docs/eip/extension.md should say: {sentence}");
}

/// The answers to objections have times of records and ratios of pages.
#[test]
fn the_answers_to_objections_are_those_of_records() {
    let evidence = Quoted::newest("amd-epyc-zen4-2c", "evidence");
    let ratios = |input: &str| {
        let [plain, batch] =
            ["plain", "batch"].map(|engine| evidence.of_precompile(&format!("eip6690-2024:{engine}/{input}")));
        (plain, batch)
    };
    let [(plain, batch), (sum, sum_batch), (add, add_batch)] =
        ["bls12_381/pairing/2-pairs", "bls12_381/g1_msm/128-points", "bn254/add/example"].map(ratios);
    let goals = Quoted::newest("amd-epyc-zen3-2c", "goals");
    let [ours, ours_batch] =
        ["plain", "batch"].map(|engine| goals.of_precompile(&format!("evmmax-next:{engine}/bls12_381/pairing/2")));
    let page = read("docs/evmmax-next.md");
    let gas = |row: &str, column: usize| {
        let row = page.lines().find(|line| line.starts_with(row)).expect("a row");
        row.split(" | ").nth(column).expect("a column").trim_end_matches(" |").to_owned()
    };
    // The first columns are contract, k, price, what was asked, and gas with its ratio under eip6690-2024; the last ones those of evmmax-next.
    let of_pairs = |k| {
        let row = format!("| `bls12_381/pairing` | {k} |");
        (gas(&row, 5), gas(&row, 19))
    };
    let ((two, two_next), (eight, eight_next)) = (of_pairs(2), of_pairs(8));
    for sentence in [
        format!(
            "a pairing check of two pairs under EIP-6690 takes {plain} of the precompile's time one by one and {batch} in batches on a Zen 4, \
             G1MSM of 128 points {sum} and {sum_batch}; ECADD loses with {add} and {add_batch}"
        ),
        format!("takes {batch} of blst's time for two pairs"),
        format!("take {ours} of the precompile's time one by one and {ours_batch} in batches"),
        format!(
            "{two} of the price under EIP-6690 and {two_next} with `evmmax-next`, eight pairs {eight} and {eight_next}"
        ),
    ] {
        assert!(quotes(&read("docs/eip/README.md"), &sentence), "docs/eip/README.md should say: {sentence}");
    }
}

/// Savings by instruction, in the draft and among the answers, equal the table of all contracts.
#[test]
fn what_instructions_bring_is_what_the_table_of_contracts_says() {
    let page = read("docs/design.md");
    // Percent off the gas of all contracts alike and of all calls.
    let off = |revision: &str| {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{revision}` |"))).expect("a row");
        let column = |number: usize| row.split(" | ").nth(number).expect("a column").parse::<f64>().expect("a ratio");
        [2, 3].map(|number| format!("{:.1}", 100.0 * (1.0 - column(number))))
    };
    let [inverse, inverse_calls] = off("x-invmodx");
    let [zero, zero_calls] = off("x-iszerox");
    let [all, all_calls] = off("evmmax-next");
    let [sums, _] = off("x-sumx");
    let [constants, _] = off("x-codex");
    for (document, sentence) in [
        (
            "docs/eip/evmmax-next.md",
            format!(
                "`INVMODX` takes {inverse} % off the gas in the geometric mean and `ISZEROX` {zero} %; weighed by calls of precompiles on mainnet it is \
                 {inverse_calls} and {zero_calls} %. All of this draft together take {all} %, and {all_calls} % by calls"
            ),
        ),
        (
            "docs/eip/evmmax-next.md",
            format!("`SETMODCX` and `STORECX` alone take {constants} % off the gas of all contracts"),
        ),
        (
            "docs/eip/README.md",
            format!(
                "one opcode for inverses takes {inverse} % off the gas of 89 contracts, two for constants {constants} %, five for sums {sums} %; all \
                 thirteen {all} %"
            ),
        ),
    ] {
        assert!(quotes(&read(document), &sentence), "{document} should say: {sentence}");
    }
}
