//! Published numbers of the documents that Residue implements, as data: each table cites its document and place.
//!
//! Times are of machines of 2020 to 2024: only ratios within one column can be compared with ours.

mod counts;
mod interfaces;
mod prices;
mod programs;
mod tables;

pub use counts::{COUNTS, COUNTS_SOURCE, F2MUL, F2MUL_SOURCE, FP12_MUL, OpCount};
pub use interfaces::{
    ADJUSTMENT, CALLS_SOURCE, ENGINES, ENGINES_SOURCE, F6M_MUL, INTERFACES, INTERFACES_SOURCE, Interface,
    SYNTHETIC_CALLS,
};
pub use prices::{
    KECCAK_RELATIVE, MACHINES, MODEL_COLUMNS, MODELS, MODELS_SOURCE, RUNTIMES, RUNTIMES_SOURCE, WIDTHS_6690,
    WIDTHS_6690_SOURCE,
};
pub use programs::{
    AGAINST, AGAINST_SOURCE, G1_MULTIPLICATIONS, G1_SOURCE, G1Multiplication, GAS, GAS_SOURCE, PairingGas,
};
pub use tables::{PublishedTable, TABLES};
