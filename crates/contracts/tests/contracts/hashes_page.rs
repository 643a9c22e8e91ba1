//! The table of `docs/hashes.md` equals the gas of the contracts.
//!
//! If a contract or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts hashes_page -- --ignored`.

use std::fmt::Write;

use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// A contract, what it repeats, an input with so many of them, and the gas of one in the best public code.
struct Hash {
    name: &'static str,
    unit: &'static str,
    input: fn(usize) -> Vec<u8>,
    public: Option<u64>,
}

/// A call of EIP-152 with so many rounds.
fn compression(rounds: usize) -> Vec<u8> {
    let mut call = (find("hashes/blake2f").unwrap().example)();
    call[..4].copy_from_slice(&u32::try_from(rounds).unwrap().to_be_bytes());
    call
}

/// Calldata of SHAKE for 32 bytes of output of a message of so many.
fn shake(bytes: usize) -> Vec<u8> {
    [&[0; 31][..], &[32], &vec![1; bytes]].concat()
}

const HASHES: [Hash; 8] = [
    Hash { name: "hashes/sha256", unit: "block", input: |blocks| vec![1; 64 * blocks], public: Some(43_000) },
    Hash { name: "hashes/ripemd160", unit: "block", input: |blocks| vec![1; 64 * blocks], public: Some(10_300) },
    Hash { name: "hashes/blake2f", unit: "round", input: compression, public: None },
    Hash { name: "hashes/sha1", unit: "block", input: |blocks| vec![1; 64 * blocks], public: None },
    Hash { name: "hashes/sha512", unit: "block", input: |blocks| vec![1; 128 * blocks], public: None },
    Hash { name: "hashes/sha3_256", unit: "block", input: |blocks| vec![1; 136 * blocks], public: None },
    Hash { name: "hashes/shake128", unit: "block", input: |blocks| shake(168 * blocks), public: None },
    Hash { name: "hashes/shake256", unit: "block", input: |blocks| shake(136 * blocks), public: None },
];

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_is_what_the_contracts_cost() {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| contract | gas, example | price | ratio | one more | gas | price | ratio | public | code bytes |\n\
         |---|---:|---:|---:|---|---:|---:|---:|---:|---:|\n",
    );
    for Hash { name, unit, input, public } in HASHES {
        let contract = find(name).unwrap();
        let code = cheapest(contract, revision, &schedule).unwrap().compiled.code;
        let gas = |input: &[u8]| {
            let outcome = engine.run_code(&code, input, GAS);
            assert_eq!(outcome.halt, Halt::Return, "{name}");
            outcome.gas_used
        };
        let price = |input: &[u8]| native(contract, input).map(|native| native.unwrap().gas_used);
        let row = |gas: u64, price: Option<u64>| {
            let price =
                price.map_or("– | –".to_owned(), |price| format!("{} | {}", grouped(price), ratio(gas, price)));
            format!("{} | {price}", grouped(gas))
        };
        let example = (contract.example)();
        // A turn of the loop over rounds has ten.
        let [few, many] = [20, 40].map(input);
        let more = (gas(&many) - gas(&few)).div_ceil(20);
        let more_price = price(&many).zip(price(&few)).map(|(many, few)| (many - few) / 20);
        let public = public.map_or("–".to_owned(), grouped);
        let example = row(gas(&example), price(&example));
        writeln!(
            text,
            "| `{name}` | {example} | {unit} | {} | {public} | {} |",
            row(more, more_price),
            grouped(code.len() as u64)
        )
        .unwrap(); // usize to u64 widens
    }
    residue_pages::hold("docs/hashes.md", "hashes", &text);
}
