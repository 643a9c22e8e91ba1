//! Contracts in linked form: each code fits an account, and a call whose stage is not there fails.

use std::num::NonZeroU64;

use residue_compiler::{Deployment, Dialect, SmallMultiples, compile_as};
use residue_contracts::Source;
use residue_contracts::linked::{LINKED, Part, named};
use residue_engine::{Engine, EngineConfig, Halt, Installed};
use residue_ir::{Account, Form, Length};
use residue_isa::{GasSchedule, Revision};

/// Bytes of code of an account (EIP-170).
const CODE_BYTES_MAX: usize = 24_576;
/// More than any example takes.
const GAS: u64 = 1_000_000_000;

/// A contract in linked form under a revision.
pub struct LinkedCode {
    /// The contract's own code.
    pub code: Vec<u8>,
    /// Accounts of its stages.
    pub accounts: Vec<Installed>,
}

impl LinkedCode {
    pub fn new(name: &str, revision: Revision) -> Self {
        let linked = named(name).unwrap();
        let (mut accounts, mut known) = (Vec::new(), Vec::new());
        for (number, stage) in (1..).zip(linked.stages) {
            let address = [number; Account::BYTES];
            let code = short_enough(&linked.stage(stage, known.clone()), revision);
            accounts.push(Installed { address, code, is_warm: false });
            known.push((stage.name, Account::at(address).unwrap()));
        }
        Self { code: short_enough(&linked.main(known), revision), accounts }
    }

    /// An engine that finds its accounts, and whether they have been accessed.
    pub fn engine(&self, revision: Revision, is_warm: bool) -> Engine {
        let accounts = self.accounts.iter().map(|account| Installed { is_warm, ..account.clone() }).collect();
        Engine::new(EngineConfig { accounts, ..EngineConfig::default_for(revision) }).unwrap()
    }
}

/// Code that an account holds, for as many calls as there is such code: by the steps of `residue build --code-limit`.
fn short_enough(part: &Part, revision: Revision) -> Vec<u8> {
    let schedule = GasSchedule::default_for(revision).unwrap();
    let program = part.program_as(Form { length: Some(Length::Full), ..Form::default() });
    let compile = |deployment: Option<Deployment>| {
        let dialect = Dialect { deployment, ..Dialect::default() };
        compile_as(&program, revision, &schedule, SmallMultiples::AsWritten, dialect).unwrap().code
    };
    let with_calls = |step: u32| {
        let calls = NonZeroU64::new((u64::from(4 + step % 4) << (step / 4)) / 4).unwrap();
        compile(Some(Deployment { gas_a_byte: 32 * 200, calls }))
    };
    let any = compile(None);
    if any.len() <= CODE_BYTES_MAX {
        return any;
    }
    let (mut best, mut fits, mut too_long) = (with_calls(0), 0, 124);
    assert!(best.len() <= CODE_BYTES_MAX, "{} is too long", part.name());
    while too_long - fits > 1 {
        let middle = u32::midpoint(fits, too_long);
        let next = with_calls(middle);
        if next.len() <= CODE_BYTES_MAX {
            (best, fits) = (next, middle);
        } else {
            too_long = middle;
        }
    }
    best
}

#[test]
fn stages_answer_cold_and_warm_and_fail_where_they_are_missing() {
    for linked in LINKED {
        let revision = Revision::Evm;
        let code = LinkedCode::new(linked.name, revision);
        for (number, stage) in linked.stages.iter().enumerate() {
            let input = (stage.example)();
            let [cold, warm] =
                [false, true].map(|is_warm| code.engine(revision, is_warm).run_code(&code.code, &input, GAS));
            assert_eq!((cold.halt, warm.halt), (Halt::Return, Halt::Return), "{}", stage.name);
            assert_eq!(cold.gas_used - warm.gas_used, 2_500, "{}", stage.name);
            assert_eq!(cold.output, warm.output, "{}", stage.name);
            let mut without = code.accounts.clone();
            without.remove(number);
            let engine = LinkedCode { code: Vec::new(), accounts: without }.engine(revision, false);
            let missing = engine.run_code(&code.code, &input, GAS);
            assert!(missing.halt.is_exceptional() && missing.output.is_empty(), "{}: {}", stage.name, missing.halt);
        }
    }
}

/// Codes at the address of a stage that return nothing, revert and halt, and one that returns a byte.
#[test]
fn calls_end_as_their_stage_does() {
    let revision = Revision::Evm;
    let code = LinkedCode::new("modexp/words", revision);
    let stage = &named("modexp/words").unwrap().stages[0];
    for (called, output) in [
        ("00", None),              // STOP
        ("", None),                // no code
        ("5f5ffd", None),          // REVERT with nothing
        ("60015ffd", None),        // REVERT with a byte
        ("fe", None),              // INVALID
        ("5f5ff3", None),          // RETURN of nothing
        ("60015ff3", Some(1)),     // RETURN of a byte
        ("6101005ff3", Some(256)), // RETURN of 256
    ] {
        let mut accounts = code.accounts.clone();
        accounts[0].code = hex::decode(called).unwrap();
        let engine = LinkedCode { code: Vec::new(), accounts }.engine(revision, false);
        let ended = engine.run_code(&code.code, &(stage.example)(), GAS);
        match output {
            Some(bytes) => assert_eq!((ended.halt, ended.output), (Halt::Return, vec![0; bytes]), "{called}"),
            None => assert!(ended.halt.is_exceptional() && ended.output.is_empty(), "{called}: {}", ended.halt),
        }
    }
}
