//! The EVM without field instructions: `evm`, and `evm-callsub` with the subroutines of EIP-7979.

use super::{Revision, subroutines};
use crate::prices::Prices;

/// The EVM as it is.
pub const EVM: Revision = Revision {
    name: "evm",
    summary: "The EVM without field instructions.",
    opcodes: &[],
    prefix: None,
    prices: || vec![Prices::of_base("evm", &[])],
    start: subroutines::start,
};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evm-callsub",
    summary: "The EVM without field instructions, with subroutines.",
    opcodes: subroutines::OPCODES,
    prefix: None,
    prices: || vec![Prices::of_base("evm", &subroutines::PRICES)],
    start: subroutines::start,
};
