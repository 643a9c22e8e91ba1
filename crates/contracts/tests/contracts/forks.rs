//! Contracts compiled for older hard forks: they have no opcode that the fork lacks, and compute the program's meaning
//! there.

use num_bigint::BigUint;
use residue_compiler::{CompileError, Compiled, Deployment, Dialect, Prepared, SmallMultiples, compile, compile_as};
use residue_contracts::{CONTRACTS, find};
use residue_engine::{Engine, EngineConfig, Fork, Halt};
use residue_ir::{Outcome, Program};
use residue_isa::opcode::evm;
use residue_isa::{GasSchedule, Price, Revision};
use std::num::NonZeroU64;

use crate::points::Seeded;
use crate::support::{expressed, some_revisions};

/// The last forks before a change that code has to do with: shifts, PUSH0, MCOPY, CLZ.
const FORKS: [Fork; 5] = [Fork::Byzantium, Fork::Istanbul, Fork::London, Fork::Shanghai, Fork::Prague];

fn compile_for(program: &Program, revision: Revision, fork: Fork) -> Result<Compiled, CompileError> {
    let schedule = GasSchedule::default_for(revision).unwrap();
    compile_as(program, revision, &schedule, SmallMultiples::AsWritten, Dialect { fork, ..Dialect::default() })
}

/// The EVM's opcodes in the instructions of a code.
fn opcodes(compiled: &Compiled) -> [bool; 256] {
    let mut found = [false; 256];
    let mut at = 0;
    while at < compiled.instruction_bytes {
        found[usize::from(compiled.code[at])] = true;
        at += compiled.revision.bytes_at(&compiled.code[at..]);
    }
    assert_eq!(at, compiled.instruction_bytes, "data begins where an instruction ends");
    for row in compiled.revision.opcodes() {
        found[usize::from(row.byte)] = false;
    }
    found
}

/// Bytes by the EIPs that brought them: 145; 3855; 5656; 7939.
const NEW: [(u8, Fork); 6] = [
    (0x1b, Fork::Petersburg),
    (0x1c, Fork::Petersburg),
    (0x1d, Fork::Petersburg),
    (0x5f, Fork::Shanghai),
    (0x5e, Fork::Cancun),
    (0x1e, Fork::Osaka),
];

#[test]
fn contracts_run_on_older_forks_with_the_opcodes_of_those() {
    for (number, contract) in CONTRACTS.iter().enumerate() {
        let (program, example) = (contract.program(), (contract.example)());
        let expected = residue_ir::evaluate(&program, &example);
        for (revision, of_revision) in some_revisions(number).into_iter().zip(0..) {
            let fork = FORKS[(number / 3 + of_revision) % FORKS.len()];
            let compiled = compile_for(&program, revision, fork);
            let Some(compiled) = expressed(contract, revision, compiled) else { continue };
            let found = opcodes(&compiled);
            for (byte, since) in NEW {
                assert!(
                    !found[usize::from(byte)] || since <= fork,
                    "{}, {revision}, {fork}: {byte:02x}",
                    contract.name
                );
            }
            let config = EngineConfig { fork, ..EngineConfig::default_for(revision) };
            let outcome = Engine::new(config).unwrap().run_code(&compiled.code, &example, 30_000_000);
            assert_eq!(outcome.halt, Halt::Return, "{}, {revision}, {fork}", contract.name);
            assert_eq!(Outcome::Returned(outcome.output), expected, "{}, {revision}, {fork}", contract.name);
        }
    }
}

/// Code is the same for forks that lack nothing of it.
#[test]
fn code_for_cancun_and_later_is_one() {
    let program = find("bls12_381/g2_add").unwrap().program();
    for &revision in Revision::ALL {
        let newest = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap();
        let found = opcodes(&newest);
        // Coordinates that are read with their padding by one instruction are not taken apart by shifts.
        let is_padded = revision.has(residue_isa::Form::StorePadded);
        assert!(found[usize::from(evm::PUSH0)] && found[usize::from(evm::SHR)] != is_padded, "{revision}");
        for fork in [Fork::Cancun, Fork::Osaka, Fork::Amsterdam] {
            assert_eq!(compile_for(&program, revision, fork).unwrap(), newest);
        }
    }
}

/// Moduli with zeros in front from none to more than a word, and short exponents, with the opcode that counts zeros and without.
#[test]
fn zeros_are_counted_with_and_without_an_opcode() {
    let program = find("modexp").unwrap().program();
    let mut seeded = Seeded(17);
    let mut below = |bits: usize| BigUint::from_bytes_be(&seeded.bytes(256)) % (BigUint::from(1u8) << bits);
    for (revision, fork) in [
        (Revision::Eip6690_2024, Fork::Prague),
        (Revision::Eip6690_2024, Fork::Osaka),
        (Revision::Eip7747, Fork::Prague),
        (Revision::Eip7747, Fork::Osaka),
    ] {
        let compiled = compile_for(&program, revision, fork).unwrap();
        assert_eq!(opcodes(&compiled)[usize::from(evm::CLZ)], fork >= Fork::Osaka, "{revision}, {fork}");
        let config = EngineConfig { fork, ..EngineConfig::default_for(revision) };
        let engine = Engine::new(config).unwrap();
        for zeros in (0..256).step_by(15).chain([1, 254, 256, 257, 300]) {
            let bits = 1024 - zeros;
            let modulus = (BigUint::from(1u8) << (bits - 1)) + below(bits - 1);
            let (base, exponent) = (below(bits), below(1 + zeros % 40));
            let number = |value: &BigUint, length: usize| [vec![0; length], value.to_bytes_be()].concat();
            let padded = |value: &BigUint, length: usize| {
                let bytes = number(value, length);
                bytes[bytes.len() - length..].to_vec()
            };
            let lengths = [128u64, 32, 128].map(|length| padded(&length.into(), 32)).concat();
            let numbers = [padded(&base, 128), padded(&exponent, 32), padded(&modulus, 128)].concat();
            let outcome = engine.run_code(&compiled.code, &[lengths, numbers].concat(), 100_000_000);
            let expected = padded(&base.modpow(&exponent, &modulus), 128);
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, expected), "{revision}, {fork}, {zeros}");
        }
    }
}

#[test]
fn what_nothing_else_does_is_asked_for_by_name() {
    let program = find("bls12_381/hash_to_g1").unwrap().program();
    let error = compile_for(&program, Revision::Evm384V7, Fork::SpuriousDragon).unwrap_err();
    assert_eq!(error.to_string(), "the program needs STATICCALL, which spurious-dragon lacks: it came with byzantium");
    // Nothing but hashing by a precompile needs a call.
    let program = find("bls12_381/g1_add").unwrap().program();
    compile_for(&program, Revision::Evm384V7, Fork::Frontier).unwrap();
}

/// Plans of blocks that were made for other forks, prices of bytes and interfaces change no code.
#[test]
fn a_contract_becomes_the_same_code_whatever_it_was_compiled_for_before() {
    const CALLS: [Option<u64>; 3] = [None, Some(1000), Some(1)];
    for name in ["poseidon2/bn254_t2", "bn254/add", "hashes/sha1"] {
        let program = find(name).unwrap().program();
        let prepared = || Prepared::new(&program, SmallMultiples::AsWritten).unwrap();
        let remembering = prepared();
        // Twice, so that each is compiled after all others.
        for fork in FORKS.into_iter().chain([Fork::Osaka, Fork::Amsterdam]).chain(FORKS.into_iter().rev()) {
            for (revision, calls) in
                CALLS.map(|calls| (Revision::Evm, calls)).into_iter().chain([(Revision::Eip6690_2024, None)])
            {
                let gas_a_byte = if fork >= Fork::Amsterdam { 1530 } else { 200 };
                let deployment = calls.map(|calls| Deployment { gas_a_byte, calls: NonZeroU64::new(calls).unwrap() });
                let dialect = Dialect { fork, deployment, ..Dialect::default() };
                // Differences and reads of memory are dear in every other fork.
                let dear = [evm::MLOAD, evm::SUB, evm::DUP1]
                    .map(|opcode| (opcode, Price::from_gas(20)))
                    .into_iter()
                    .filter(|_| (fork as u8) % 2 == 1);
                let schedule = GasSchedule::default_for(revision).unwrap().with_evm(dear);
                let [before, alone] =
                    [&remembering, &prepared()].map(|prepared| prepared.compile(revision, &schedule, dialect));
                assert_eq!(before, alone, "{name}, {revision}, {fork}, {calls:?}");
            }
        }
    }
}
