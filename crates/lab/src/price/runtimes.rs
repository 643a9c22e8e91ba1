//! Times to derive prices from: those of a record, the worst class of each opcode counting.

use residue_isa::{FieldOp, Revision};

use crate::opcodes::EVM_LAYER;
use crate::published;
use crate::record::{Quantity, Record};

/// The time of an opcode over one width, in its worst class.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtime {
    /// The opcode.
    pub mnemonic: String,
    /// The operation, if it is field arithmetic.
    pub operation: Option<FieldOp>,
    /// Width of the modulus.
    pub width_bits: usize,
    /// The class of operands that takes longest.
    pub class: String,
    /// Its median time.
    pub time_ns: f64,
}

/// Something with a price today that others can be priced by.
#[derive(Debug, Clone, PartialEq)]
pub struct Pivot {
    /// Name.
    pub name: String,
    /// Its time.
    pub time_ns: f64,
    /// Its price.
    pub gas: f64,
}

/// All times of a revision's opcodes, and the pivots of the same record.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtimes {
    /// The revision.
    pub revision: Revision,
    /// Source of the times.
    pub source: String,
    /// The times.
    pub opcodes: Vec<Runtime>,
    /// The pivots; KECCAK256 of 192 bytes first, if it was measured.
    pub pivots: Vec<Pivot>,
}

impl Pivot {
    /// Nanoseconds that a gas of it stands for.
    pub fn ns_per_gas(&self) -> f64 {
        self.time_ns / self.gas
    }
}

/// Gas of KECCAK256 over so many bytes: 30 and 6 for each word (Yellow Paper, appendix G; the same since Frontier).
fn keccak_gas(bytes: u64) -> f64 {
    // A small number.
    (30 + 6 * bytes.div_ceil(32)) as f64
}

/// Opcodes of the EVM that serve as pivots beside KECCAK256, with their prices (Yellow Paper, appendix G).
const PIVOTS: [(&str, f64); 3] = [("MULMOD", 8.0), ("ADDMOD", 8.0), ("MUL", 5.0)];

impl Runtimes {
    /// Of a record of `lab measure`; no opcodes if it has none of the revision.
    pub fn of(record: &Record, revision: Revision) -> Self {
        let machine = record.environment.get("cpu").unwrap_or("unknown CPU");
        let source = format!("{machine}, {}", record.date);
        Self { revision, source, opcodes: opcodes(record, revision), pivots: pivots(record) }
    }

    /// The published ones, of version 7: the mean over the machines.
    pub fn published() -> Self {
        let revision = Revision::Evm384V7;
        let runtime = |&(mnemonic, times): &(&str, [f64; 5])| Runtime {
            mnemonic: mnemonic.to_owned(),
            operation: revision.row_named(mnemonic).and_then(|row| revision.arithmetic_of(row.byte)),
            width_bits: 384,
            class: "published mean".to_owned(),
            time_ns: times.iter().sum::<f64>() / 5.0,
        };
        let opcodes = published::RUNTIMES.iter().map(runtime).collect();
        Self { revision, source: published::RUNTIMES_SOURCE.to_owned(), opcodes, pivots: Vec::new() }
    }

    /// The pivot of a name, or the one that prices highest.
    pub fn pivot(&self, name: Option<&str>) -> Option<&Pivot> {
        match name {
            Some(name) => self.pivots.iter().find(|pivot| pivot.name == name),
            None => {
                let hashes = self.pivots.iter().filter(|pivot| pivot.name.starts_with("KECCAK256"));
                hashes.min_by(|a, b| a.ns_per_gas().total_cmp(&b.ns_per_gas()))
            }
        }
    }

    /// The runtime of an opcode over a width.
    pub fn find(&self, mnemonic: &str, width_bits: usize) -> Option<&Runtime> {
        self.opcodes.iter().find(|runtime| runtime.mnemonic == mnemonic && runtime.width_bits == width_bits)
    }
}

/// Layer, opcode, width and class of a row's name.
pub(super) fn parts(name: &str) -> Option<[&str; 4]> {
    let parts: Vec<&str> = name.split('/').collect();
    parts.try_into().ok()
}

fn opcodes(record: &Record, revision: Revision) -> Vec<Runtime> {
    let mut worst: Vec<Runtime> = Vec::new();
    for row in record.rows.iter().filter(|row| row.quantity == Quantity::Time && row.baseline.is_none()) {
        let Some([layer, mnemonic, width, class]) = parts(&row.name) else { continue };
        let Ok(width_bits) = width.parse::<usize>() else { continue };
        // A record may be anybody's: no prices are asked for that the revision cannot have.
        if !(1..=64 * revision.width_limbs_max()).contains(&width_bits) {
            continue;
        }
        // Memory that no cache holds is paid for by its growth.
        if layer != revision.name() || class == "far" {
            continue;
        }
        let operation = revision.row_named(mnemonic).and_then(|row| revision.arithmetic_of(row.byte));
        let (mnemonic, class) = (mnemonic.to_owned(), class.to_owned());
        let runtime = Runtime { mnemonic, operation, width_bits, class, time_ns: row.spread.median.max(0.0) };
        match worst.iter_mut().find(|known| known.mnemonic == runtime.mnemonic && known.width_bits == width_bits) {
            Some(known) if known.time_ns < runtime.time_ns => *known = runtime,
            Some(_) => {}
            None => worst.push(runtime),
        }
    }
    worst
}

fn pivots(record: &Record) -> Vec<Pivot> {
    let mut pivots = Vec::new();
    for row in record.rows.iter().filter(|row| row.quantity == Quantity::Time) {
        let Some([EVM_LAYER, mnemonic, width, class]) = parts(&row.name) else { continue };
        let known = match mnemonic {
            "KECCAK256" => width.parse().ok().map(|bytes| (format!("KECCAK256/{width}/{class}"), keccak_gas(bytes))),
            _ if class == "random" => {
                PIVOTS.iter().find(|(name, _)| *name == mnemonic).map(|&(name, gas)| (name.to_owned(), gas))
            }
            _ => None,
        };
        if let Some((name, gas)) = known {
            pivots.push(Pivot { name, time_ns: row.spread.median, gas });
        }
    }
    pivots.sort_by_key(|pivot| !pivot.name.starts_with("KECCAK256/192"));
    pivots
}
