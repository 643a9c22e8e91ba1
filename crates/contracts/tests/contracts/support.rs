//! Contracts under revisions, not all of which can express every contract.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, OnceLock};

use residue_compiler::{CompileError, Compiled, Deployment, Dialect, SmallMultiples, compile, compile_as};
use residue_contracts::{Contract, Source};
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared};
pub use residue_extent::cases;
use residue_extent::{KINDS, is_whole, number_of};
use residue_ir::{Form, Length, Program};
use residue_isa::{Family, GasSchedule, Revision};

/// Code of a contract, or none if the revision cannot express it. All have the base field of BLS12-381.
#[track_caller]
pub fn expressed(
    contract: &Contract,
    revision: Revision,
    compiled: Result<Compiled, CompileError>,
) -> Option<Compiled> {
    match compiled {
        Ok(compiled) => Some(compiled),
        // What is too long for its jumps is so on the EVM by itself because the compiler does not make it shorter. Values of four words make some so.
        Err(error @ CompileError::Far { .. }) if revision.family() == Family::Words && !is_wide(contract) => {
            panic!("{}, {revision}: {error}", contract.name)
        }
        // The EVM by itself has moduli of up to 430 bits.
        Err(error) if error.is_inexpressible() && Revision::BESIDE.contains(&revision) => None,
        Err(error) if error.is_inexpressible() && !is_over_bls12_381(contract) => None,
        Err(error) => panic!("{}, {revision}: {error}", contract.name),
    }
}

/// True if it has a field with values of more than a word.
pub fn is_wide(contract: &Contract) -> bool {
    contract.program().units().any(|unit| unit.modulus.bits() > 256)
}

fn is_over_bls12_381(contract: &Contract) -> bool {
    contract.program().units().all(|unit| unit.modulus == residue_curves::bls12_381::constants::modulus())
}

/// A few revisions for the contract of this number, others for the next.
pub fn some_revisions(number: usize) -> Vec<Revision> {
    const SHARE: usize = 20;
    residue_extent::sample(Revision::ALL, SHARE, number).copied().collect()
}

/// The revisions that a contract is compiled for: one of each way to hold values, and of the others a share that its name chooses.
fn revisions_of(contract: &Contract) -> Vec<Revision> {
    const SHARE: usize = 16;
    residue_extent::revisions(SHARE, number_of(contract.name.as_bytes()))
}

/// More than any input of the tests over several revisions takes.
const GAS: u64 = 1_000_000_000;

/// Code in which a byte is worth the gas that it takes to deploy it.
pub const SHORTEST: Dialect = Dialect {
    fork: Fork::Osaka,
    portable: false,
    precompiles: false,
    deployment: Some(Deployment { gas_a_byte: 1_530, calls: NonZeroU64::MIN }),
    length: Length::Short,
};

/// The code of a contract under each of its revisions that can express it, which the tests of a run compile once.
pub fn codes(contract: &Contract) -> Codes {
    static COMPILED: Mutex<BTreeMap<&str, Arc<OnceLock<Codes>>>> = Mutex::new(BTreeMap::new());
    // Others wait for this contract alone while it is compiled.
    let place = COMPILED.lock().unwrap().entry(contract.name).or_default().clone();
    let codes = place.get_or_init(|| {
        let program = contract.program();
        let code = |revision: Revision| {
            let compiled = compile(&program, revision, &GasSchedule::default_for(revision).unwrap());
            Some((revision, expressed(contract, revision, compiled)?.code))
        };
        // Of half of the contracts the shortest form for one interface too, another day for another; all where they are asked for.
        let short = residue_extent::sample(&KINDS, 2 * KINDS.len(), number_of(contract.name.as_bytes()));
        let of_length = |length| Source::program_as(contract, Form { length: Some(length), ..Form::default() });
        let shorter = |program: &Program, revision: Revision, length| {
            let (schedule, dialect) = (GasSchedule::default_for(revision).unwrap(), Dialect { length, ..SHORTEST });
            let compiled = compile_as(program, revision, &schedule, SmallMultiples::AsWritten, dialect);
            Some((revision, expressed(contract, revision, compiled)?.code))
        };
        let [middle_program, short_program] = [Length::Middle, Length::Short].map(of_length);
        let short = short.filter_map(|&revision| shorter(&short_program, revision, Length::Short));
        // Few contracts have a form between.
        let middle: Vec<_> = match middle_program == program {
            true => Vec::new(),
            false => [Revision::Evm, Revision::Eip6690_2024]
                .into_iter()
                .filter_map(|revision| shorter(&middle_program, revision, Length::Middle))
                .collect(),
        };
        revisions_of(contract).into_iter().filter_map(code).chain(short).chain(middle).collect()
    });
    codes.clone()
}

/// A revision and a contract's code for it.
pub type Codes = Arc<[(Revision, Vec<u8>)]>;

/// The contract under each of its revisions that can express it, EIP-6690 among them, ready to run.
pub fn everywhere(contract: &Contract) -> Vec<(Revision, Prepared)> {
    let codes = codes(contract);
    assert!(codes.iter().any(|(revision, _)| *revision == Revision::Eip6690_2024), "{}", contract.name);
    let prepare = |(revision, code): &(Revision, Vec<u8>)| {
        (*revision, Engine::new(EngineConfig::default_for(*revision)).unwrap().prepare(code))
    };
    codes.iter().map(prepare).collect()
}

/// The revisions under which `input` runs: the first of them and EIP-6690, and of the others a third that its bytes choose; all where
/// they are asked for.
pub fn chosen<'a>(
    compiled: &'a mut [(Revision, Prepared)],
    input: &[u8],
) -> impl Iterator<Item = &'a mut (Revision, Prepared)> {
    const SHARE: usize = 3;
    let (all, first) = (is_whole(), number_of(input));
    let runs = move |(at, (revision, _)): &(usize, &mut (Revision, Prepared))| {
        all || *at == 0 || *revision == Revision::Eip6690_2024 || (first + at).is_multiple_of(SHARE)
    };
    compiled.iter_mut().enumerate().filter(runs).map(|(_, subject)| subject)
}

/// Every revision that `chosen` names returns `expected` for `input`, or halts exceptionally if there is none.
#[track_caller]
pub fn answered_everywhere(compiled: &mut [(Revision, Prepared)], input: &[u8], expected: Option<&[u8]>, what: &str) {
    match expected {
        Some(output) => returned_everywhere(compiled, input, output, what),
        None => refused_everywhere(compiled, input, what),
    }
}

/// Every revision that `chosen` names returns `expected` for `input`.
#[track_caller]
pub fn returned_everywhere(compiled: &mut [(Revision, Prepared)], input: &[u8], expected: &[u8], what: &str) {
    for (revision, prepared) in chosen(compiled, input) {
        let outcome = prepared.run_without_memory(input, GAS);
        let found = (outcome.halt, hex::encode(outcome.output));
        assert_eq!(found, (Halt::Return, hex::encode(expected)), "{revision}, {what}: {}", hex::encode(input));
    }
}

/// Every revision that `chosen` names halts exceptionally on `input`, not for want of gas, and takes all of it.
#[track_caller]
pub fn refused_everywhere(compiled: &mut [(Revision, Prepared)], input: &[u8], what: &str) {
    for (revision, prepared) in chosen(compiled, input) {
        let outcome = prepared.run_without_memory(input, GAS);
        let halt = outcome.halt;
        assert!(
            halt.is_exceptional() && halt != Halt::OutOfGas,
            "{revision}, {what}: {halt:?}: {}",
            hex::encode(input)
        );
        assert_eq!(outcome.gas_used, GAS, "{revision}, {what}: {}", hex::encode(input));
    }
}
