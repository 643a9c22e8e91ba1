//! `lab measure`: the time of every opcode, of the EVM and of every revision, apart from its loop and its operands.
//!
//! Everything is a pair of programs that differ in one thing: with the opcode, and with as many POPs in its place as leave
//! the stack alike. Both run in every round, one after the other; the difference of each round, divided by the number of
//! opcodes, is a sample. Instructions run one by one, not in blocks: that is what a price is for.
//!
//! Rows are named `layer/opcode/width/class`: the layer is `evm` or a revision, the width is that of the modulus in bits (for
//! KECCAK256 the bytes hashed), the class says which operands.

mod answers;
mod chain;
mod conversions;
mod evm;
mod forms;
mod fp2;
mod fp6;
mod frames;
mod gasfit;
mod keccak;
mod memory;
mod pair;
mod slots;
mod sums;
mod values;

pub use gasfit::{GasfitFiles, gasfit_files};
pub(crate) use memory::Memory;
pub use pair::Observation;
pub(crate) use values::to_be;

use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::{Form, Revision, SlotRules};
use residue_workbench::statistics::Spread;

use crate::bench::effort::{Observer, Progress};
use crate::bench::group::record_of;
use crate::error::LabError;
use crate::record::{Quantity, Record, RecordRow};
use pair::{Pair, Setting};

/// Name of the records.
pub const GROUP: &str = "opcodes";
/// The layer of the EVM's own opcodes.
pub const EVM_LAYER: &str = "evm";
/// Pairs that take turns in the same rounds; what disturbs a pair disturbs both of its sides.
const TOGETHER: usize = 8;

/// Rounds and widths of a measurement of opcodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasureEffort {
    /// Rounds of each pair.
    pub rounds: usize,
    /// About how long one program of a pair runs.
    pub program_ns: u64,
    /// True to measure every width and class, false for the most relevant ones.
    pub is_complete: bool,
    /// First executions that are measured.
    pub cold_starts: usize,
}

impl MeasureEffort {
    /// For records.
    pub const FULL: Self = Self { rounds: 101, program_ns: 80_000, is_complete: true, cold_starts: 11 };
    /// Under a minute.
    pub const QUICK: Self = Self { rounds: 15, program_ns: 30_000, is_complete: false, cold_starts: 3 };
    /// For tests: the numbers are worth nothing, the answers are checked all the same.
    pub const SMOKE: Self = Self { rounds: 2, program_ns: 2_000, is_complete: false, cold_starts: 1 };
}

/// Record of a measurement, with the executions behind it.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The record.
    pub record: Record,
    /// Every program with its times.
    pub observations: Vec<Observation>,
}

/// Measures on one core of this machine. Without revisions, all of them.
pub fn measure(
    effort: &MeasureEffort,
    revisions: &[Revision],
    observer: &mut Observer<'_>,
) -> Result<Measured, LabError> {
    let mut observations = Vec::new();
    let mut left_out = Vec::new();
    let mut record = record_of(GROUP, || {
        let mut rows = Vec::new();
        let engine = plain_engine(Revision::Eip6690_2024)?;
        let pop_ns = pair::pop_ns(&engine, effort)?;
        rows.push(RecordRow::new(format!("{EVM_LAYER}/POP/256/plain"), Quantity::Time, &pop_ns));
        let setting = Setting { pop_ns: Spread::of(&pop_ns).median, effort: *effort };

        let (mut pairs, reasons) = evm::pairs(&engine, effort)?;
        left_out.extend(reasons);
        pairs.extend(keccak::pairs()?);
        run(&setting, &engine, "EVM", pairs, observer, &mut rows, &mut observations)?;
        for &revision in revisions {
            left_out.extend(like_others(revision));
            let engine = plain_engine(revision)?;
            let pairs = match revision.evm384() {
                Some(_) => memory::pairs(revision, effort)?,
                None => slots::pairs(revision, effort)?,
            };
            run(&setting, &engine, revision.name(), pairs, observer, &mut rows, &mut observations)?;
        }
        Ok(rows)
    })?;
    record.environment.set("left out", &left_out.join("; "));
    Ok(Measured { record, observations })
}

/// Opcodes that are not measured, as they are like others, each with the reason.
fn like_others(revision: Revision) -> impl Iterator<Item = String> {
    let forms = revision.slot_rules().into_iter().flat_map(SlotRules::all_forms);
    let reasons = forms.filter_map(|form| match form {
        Form::LoadPadded | Form::StorePadded => Some((form, "it takes the time of LOADX or STOREX")),
        Form::SetModulusInCode | Form::StoreFromCode => Some((form, "it takes the time of the same from memory")),
        _ => None,
    });
    reasons.map(move |(form, reason)| format!("{revision}/{}: {reason}", form.row().mnemonic))
}

/// The base field of BLS12-381.
pub(crate) fn bls12_381() -> num_bigint::BigUint {
    values::modulus(6)
}

/// The bytes of a program.
pub(crate) fn assembled(code: &residue_isa::Assembly, revision: Revision) -> Result<Vec<u8>, LabError> {
    pair::bytes(code, revision)
}

/// An engine that runs every instruction by itself.
fn plain_engine(revision: Revision) -> Result<Engine, LabError> {
    let config = EngineConfig { batching: Batching::Off, ..EngineConfig::default_for(revision) };
    Ok(Engine::new(config)?)
}

fn run(
    setting: &Setting,
    engine: &Engine,
    step: &str,
    pairs: Vec<Pair>,
    observer: &mut Observer<'_>,
    rows: &mut Vec<RecordRow>,
    observations: &mut Vec<Observation>,
) -> Result<(), LabError> {
    let total = pairs.len();
    for (number, together) in pairs.chunks(TOGETHER).enumerate() {
        observer(Progress { step, done: number * TOGETHER, total });
        pair::run(setting, engine, together, rows, observations)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_is_measured_or_named_as_left_out() {
        // Those with opcodes of their own, and one of each kind.
        let revisions = [
            Revision::Evm384V2,
            Revision::Evm384V7,
            Revision::Geth5843,
            Revision::Eip6690_2024,
            Revision::Evmone2025,
            Revision::XWidex,
            Revision::XCodex,
            Revision::XFp2x,
            Revision::XMovx,
            Revision::XFp6x,
            Revision::XSelectx,
            Revision::XCmpx,
            Revision::XExtx,
            Revision::EvmmaxNext,
        ];
        let measured = measure(&MeasureEffort::SMOKE, &revisions, &mut |_| ()).unwrap();
        let left_out = measured.record.environment.get("left out").unwrap().to_owned();
        let is_known = |layer: &str, mnemonic: &str| {
            let begin = format!("{layer}/{mnemonic}/");
            measured.record.rows.iter().any(|row| row.name.starts_with(&begin))
                || left_out.contains(&format!("{layer}/{mnemonic}:"))
        };
        for row in residue_isa::opcode::evm::OPCODES {
            assert!(is_known(EVM_LAYER, row.mnemonic), "{}", row.mnemonic);
        }
        for revision in revisions {
            for row in revision.opcodes() {
                assert!(is_known(revision.name(), row.mnemonic), "{revision} {}", row.mnemonic);
            }
        }
        for row in &measured.record.rows {
            assert!(row.interval.is_some(), "{row:?}");
        }
        for name in [
            "evm/KECCAK256/192/5000",
            "evm384-v7/MULMODMONT384/384/pages",
            "eip6690-2024/MULMODX/768/near",
            "evmone-2025/INVMODX/384/plain",
            "x-widex/MULMODX/4096/near",
            "x-widex/SETMODX/1024/new",
            "evmmax-next/INVMODX/384/plain",
            "evmmax-next/ISZEROX/384/plain",
            "evmmax-next/SUM2X/384/near",
            "evmmax-next/SUM6X/384/random",
            "x-fp2x/FP2MULX/384/near",
            "x-fp2x/FP2MULX/256/8",
            "x-fp6x/FP6MULX/384/near",
            "x-fp6x/FP6MULX/256/255",
            "x-movx/MOVX/384/16",
            "x-selectx/SELECTX/384/3",
            "x-cmpx/EQX/384/equal",
            "x-cmpx/LTX/384/random",
            "evmmax-next/GETX/384/3",
            "evmmax-next/PUTX/768/1",
            "evm/RETURN/256/1024",
            "evm/CREATE2/256/empty",
        ] {
            assert!(measured.record.rows.iter().any(|row| row.name == name), "{name}");
        }
        assert!(measured.observations.len() > measured.record.rows.len());
    }
}
