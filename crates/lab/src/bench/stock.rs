//! The group `stock`: code without field instructions in transactions on the engine, beside the same transactions on revm as it is. What the engine
//! wraps is to cost such code nothing.
//!
//! Output and gas are compared with revm's, before anything is timed and in every round.

mod programs;

use residue_engine::revm::context::result::{ExecutionResult, HaltReason};
use residue_engine::revm::context::{BlockEnv, CfgEnv, Context, Journal, TxEnv};
use residue_engine::revm::database::InMemoryDB;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Address, Bytes, TxKind};
use residue_engine::revm::state::{AccountInfo, Bytecode};
use residue_engine::revm::{ExecuteEvm, MainBuilder};
use residue_engine::{Engine, EngineConfig};
use residue_isa::Revision;
use residue_isa::assembly::assemble_text;
use residue_workbench::harness::{Sample, Subject, interleave};

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::engines::EngineLayer;
use crate::bench::group::{Group, none_missing};
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};
use programs::{CALLEE, PROGRAMS, Program};

/// `stock`.
pub const GROUP: Group = Group {
    name: "stock",
    summary: "transactions without field instructions on the engine, beside revm as it is",
    columns: &[Column::microseconds("µs", Quantity::Time), Column::ratio("/ revm", Quantity::Time, &[REVM])],
    missing: none_missing,
    measure,
};

/// The layer of revm as it is.
const REVM: &str = "revm";

/// Default subjects.
const SUBJECTS: [&str; 2] = [REVM, "eip6690-2024"];

/// The most that a transaction may have (EIP-7825).
const GAS: u64 = 1 << 24;

const ENTRY: Address = Address::repeat_byte(1);
const CALLER: Address = Address::repeat_byte(0xca);

/// revm's context over a state in memory.
type Plain = Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB, Journal<InMemoryDB>, ()>;

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for program in PROGRAMS {
        rows.extend(measure_one(program, &effort, observer)?);
    }
    Ok(rows)
}

/// The transactions of a program on everybody, each on an EVM of its own.
fn measure_one(program: &Program, effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let name_in = |layer: &str| format!("{layer}/{}", program.name);
    let mut revm = context(program).build_mainnet();
    let answer = run(&mut revm, program.transactions);
    assert!(!answer.is_empty(), "{} succeeds", program.name);
    let mut subjects = Vec::new();
    if effort.subjects.include(REVM) {
        let run = move || run(&mut revm, program.transactions);
        subjects.push(Subject::new(name_in(REVM), &answer, run));
    }
    for revision in effort.subjects.revisions(&[Revision::Eip6690_2024]) {
        for layer in EngineLayer::chosen(revision, effort.subjects)? {
            let config = layer.engine.config().clone();
            // The EVM's own opcodes at the fork's prices.
            let engine = Engine::new(EngineConfig { schedule: config.schedule.with_stock_evm(), ..config })?;
            let mut evm = engine.evm(context(program));
            let run = move || run(&mut evm, program.transactions);
            subjects.push(Subject::new(name_in(&layer.name), &answer, run));
        }
    }
    let mut done = 0;
    let mut samples = interleave(&mut subjects, effort.rounds, || {
        done += 1;
        observer(Progress { step: program.name, done, total: effort.rounds });
    })?;
    let transactions = f64::from(program.transactions);
    samples.iter_mut().flat_map(|sample| &mut sample.times_ns).for_each(|time_ns| *time_ns /= transactions);
    Ok(times(&samples, &name_in(REVM)))
}

/// Times of a transaction, and ratios to revm's.
fn times(samples: &[Sample], baseline: &str) -> Vec<RecordRow> {
    let revms = samples.iter().find(|sample| sample.name == baseline);
    let mut rows = Vec::new();
    for Sample { name, times_ns } in samples {
        rows.push(RecordRow::new(name, Quantity::Time, times_ns));
        if let Some(revms) = revms.filter(|revms| revms.name != *name) {
            rows.push(RecordRow::ratio(name, Quantity::Time, times_ns, (baseline, &revms.times_ns)));
        }
    }
    rows
}

/// Gas of so many transactions, each from the same state, with the output of the last one; nothing if one of them does not succeed.
fn run<E>(evm: &mut E, transactions: u32) -> Vec<u8>
where
    E: ExecuteEvm<Tx = TxEnv, ExecutionResult = ExecutionResult<HaltReason>>,
{
    let tx = TxEnv { caller: CALLER, kind: TxKind::Call(ENTRY), gas_limit: GAS, gas_price: 0, ..TxEnv::default() };
    let (mut gas, mut output) = (0, Bytes::new());
    for _ in 0..transactions {
        let Ok(done) = evm.transact(tx.clone()) else { return Vec::new() };
        if !done.result.is_success() {
            return Vec::new();
        }
        gas += done.result.tx_gas_used();
        output = done.result.into_output().unwrap_or_default();
    }
    [gas.to_be_bytes().as_slice(), &output].concat()
}

/// The program's contract, and the one that it may call.
fn context(program: &Program) -> Plain {
    let mut db = InMemoryDB::default();
    for (address, text) in [(ENTRY, program.text().as_str()), (Address::from(CALLEE), programs::CALLEE_TEXT)] {
        let code = Bytecode::new_legacy(
            assemble_text(text, Revision::Evm).expect("the texts are programs of the EVM").bytes.into(),
        );
        let info = AccountInfo { nonce: 1, code_hash: code.hash_slow(), code: Some(code), ..AccountInfo::default() };
        db.insert_account_info(address, info);
    }
    Plain::new(db, SpecId::OSAKA)
}

#[cfg(test)]
mod tests {
    use ruint::aliases::U256;

    use super::*;

    #[test]
    fn everybody_is_measured_beside_revm() {
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        for program in PROGRAMS {
            for layer in ["eip6690-2024:plain", "eip6690-2024:batch"] {
                let (name, baseline) = (format!("{layer}/{}", program.name), format!("{REVM}/{}", program.name));
                let is_ratio = |row: &&RecordRow| row.name == name && row.baseline.as_deref() == Some(&baseline);
                assert!(rows.iter().find(is_ratio).is_some_and(|row| row.spread.median > 0.0), "{name}");
            }
        }
    }

    #[test]
    fn calls_compute_what_they_say() {
        let calls = PROGRAMS.iter().find(|program| program.name == "calls").unwrap();
        let answer = run(&mut context(calls).build_mainnet(), 1);
        let expected = (0..programs::TURNS).fold(U256::from(7), |x, _| x.wrapping_mul(U256::from(3)) + U256::ONE);
        assert_eq!(answer[8..], expected.to_be_bytes::<32>());
    }
}
