//! Contracts at the addresses of precompiles: a caller that knows nothing of them gets the same results as before.

use residue_contracts::{CONTRACTS, Contract};
use residue_engine::{Engine, EngineConfig, Fork, Halt, Replacement};
use residue_isa::{Revision, assemble_text};

use crate::support::codes;

/// A precompile that fails takes 63 of 64 parts of it.
const GAS: u64 = 1_000_000_000;

/// Calls `address` with its own calldata; returns whether that succeeded, in 32 bytes, and what came back. Each call
/// opcode: the address is the same to all.
fn caller(call: u8, address: u16) -> Vec<u8> {
    const CALLDATA: [u8; 5] = [0x36, 0x5f, 0x5f, 0x37, 0x5f]; // CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY PUSH0
    const TARGET: [u8; 4] = [0x5f, 0x36, 0x5f, 0x61]; // PUSH0 CALLDATASIZE PUSH0 PUSH2
    const OUTPUT: [u8; 6] = [0x3d, 0x5f, 0x60, 32, 0x3e, 0x5f]; // RETURNDATASIZE PUSH0 PUSH1 32 RETURNDATACOPY PUSH0
    const RETURN: [u8; 7] = [0x52, 0x3d, 0x60, 32, 0x01, 0x5f, 0xf3]; // MSTORE RETURNDATASIZE PUSH1 32 ADD PUSH0 RETURN
    let takes_value = matches!(call, CALL | CALLCODE);
    let target: Vec<u8> = if takes_value {
        [&[0x5f, 0x36, 0x5f, 0x5f, 0x61][..], &address.to_be_bytes()].concat() // PUSH0 more for no value
    } else {
        [&TARGET[..], &address.to_be_bytes()].concat()
    };
    [&CALLDATA[..], &target, &[0x5a, call], &OUTPUT, &RETURN].concat() // GAS and the call
}

const CALL: u8 = 0xf1;
const CALLCODE: u8 = 0xf2;
const DELEGATECALL: u8 = 0xf4;
const STATICCALL: u8 = 0xfa;

fn precompiles() -> impl Iterator<Item = (&'static Contract, u16)> {
    CONTRACTS.iter().filter_map(|contract| Some((contract, contract.precompile?)))
}

/// Those that the revision can express.
fn precompiles_of(revision: Revision) -> impl Iterator<Item = (&'static Contract, u16)> {
    precompiles().filter(move |(contract, _)| code(contract, revision).is_some())
}

/// The contract's code, if the revision can express it.
fn code(contract: &Contract, revision: Revision) -> Option<Vec<u8>> {
    codes(contract).iter().find(|(of, _)| *of == revision).map(|(_, code)| code.clone())
}

fn engines(revision: Revision) -> [Engine; 2] {
    let config = EngineConfig::default_for(revision);
    let replacement = |(contract, address)| Some(Replacement { address, code: code(contract, revision)? });
    let replacements = precompiles().filter_map(replacement).collect();
    [Engine::new(config.clone()).unwrap(), Engine::new(EngineConfig { replacements, ..config }).unwrap()]
}

#[test]
fn callers_get_what_they_got_from_the_precompiles() {
    for revision in [Revision::Eip6690_2024, Revision::Evm384V7] {
        let [plain, replaced] = engines(revision);
        for (contract, address) in precompiles_of(revision) {
            let example = (contract.example)();
            let mut padded = example.clone();
            padded[1] = 1; // with the byte before it a call of EIP-152 would ask for more rounds than there is gas for
            let inputs = [example.clone(), example[1..].to_vec(), padded, Vec::new()];
            // The contract runs alike by whichever opcode, so what it answers is judged by one of them.
            let calls = [CALL, CALLCODE, DELEGATECALL, STATICCALL].map(|call| caller(call, address));
            let cheap = calls[1..].iter().flat_map(|code| inputs[1..].iter().map(move |input| (code, input)));
            for (code, input) in inputs.iter().map(|input| (&calls[0], input)).chain(cheap) {
                let [before, after] = [&plain, &replaced].map(|engine| engine.run_code(code, input, GAS));
                let what = format!("{revision}, {}, {} bytes", contract.name, input.len());
                assert_eq!((before.halt, after.halt), (Halt::Return, Halt::Return), "{what}");
                assert_eq!(before.output, after.output, "{what}");
            }
        }
    }
}

#[test]
fn contracts_are_what_runs() {
    // They take other gas than the precompiles, and a fork that never had those has them too.
    for (contract, address) in precompiles() {
        let revision = Revision::Eip6690_2024;
        let [plain, replaced] = engines(revision);
        let (code, example) = (caller(STATICCALL, address), (contract.example)());
        let [before, after] = [&plain, &replaced].map(|engine| engine.run_code(&code, &example, GAS));
        assert_ne!(before.gas_used, after.gas_used, "{}", contract.name);
        let config = EngineConfig { fork: Fork::Cancun, ..replaced.config().clone() };
        let cancun = Engine::new(config).unwrap().run_code(&code, &example, GAS);
        assert_eq!(cancun.output, after.output, "{}: Cancun has no such precompile", contract.name);
    }
}

/// Calls `address` twice with its own calldata and so much gas, as code does whose author knew the price; returns for each call whether that
/// succeeded, and how much came back, and that, at [`ANSWERS`] bytes from each other.
fn with_fixed_gas(address: u16, gas: u64) -> Vec<u8> {
    let call = |to: usize| {
        let [size, data] = [to + 32, to + 64];
        format!(
            "PUSH0 PUSH0 CALLDATASIZE PUSH0 PUSH0 PUSH2 {address} PUSH8 {gas} CALL PUSH2 {to} MSTORE \
             RETURNDATASIZE PUSH2 {size} MSTORE RETURNDATASIZE PUSH0 PUSH2 {data} RETURNDATACOPY"
        )
    };
    let (first, second, end) = (0x8000, 0x8000 + ANSWERS, 2 * ANSWERS);
    let text = format!(
        "CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY {} {} PUSH2 {end} PUSH2 {first} RETURN",
        call(first),
        call(second)
    );
    assemble_text(&text, Revision::Eip6690_2024).unwrap().bytes
}

/// Room for one answer.
const ANSWERS: usize = 0x800;

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn callers_with_a_fixed_amount_of_gas_get_the_same_the_first_time_and_again() {
    let revision = Revision::Eip6690_2024;
    let [plain, replaced] = engines(revision);
    for (contract, address) in precompiles_of(revision) {
        let example = (contract.example)();
        let code = code(contract, revision).unwrap();
        // It may call a precompile that is replaced, too.
        let needed = replaced.run_code(&code, &example, GAS).gas_used;
        let price = residue_workbench::native(contract, &example).unwrap().unwrap().gas_used;
        for input in [&example[..], &example[..example.len() - 1], &[]] {
            let caller = with_fixed_gas(address, needed.max(price).max(100_000));
            let [before, after] = [&plain, &replaced].map(|engine| engine.run_code(&caller, input, GAS));
            assert_eq!(after.halt, Halt::Return, "{}", contract.name);
            assert_eq!(before.output, after.output, "{}, {} bytes", contract.name, input.len());
            assert_eq!(after.output[..ANSWERS], after.output[ANSWERS..], "{}", contract.name);
        }
        // What it takes of gas is what a caller has to give it, and not one less.
        let succeeds = |gas| replaced.run_code(&with_fixed_gas(address, gas), &example, GAS).output[31] == 1;
        assert!(succeeds(needed) && !succeeds(needed - 1), "{}", contract.name);
    }
}

#[test]
fn the_last_replacement_of_an_address_counts_and_others_stay() {
    let replacement = |value: u8| Replacement {
        address: 0x0f,
        code: vec![0x60, value, 0x5f, 0x52, 0x60, 32, 0x5f, 0xf3], // PUSH1 value PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
    };
    let config = EngineConfig::default_for(Revision::Eip6690_2024);
    let config = EngineConfig { replacements: vec![replacement(1), replacement(2)], ..config };
    let engine = Engine::new(config).unwrap();
    let outcome = engine.run_code(&caller(STATICCALL, 0x0f), &[], GAS);
    assert_eq!((outcome.output[31], outcome.output[63]), (1, 2));
    let identity = engine.run_code(&caller(STATICCALL, 4), b"as before", GAS);
    assert_eq!(&identity.output[32..], b"as before");
}
