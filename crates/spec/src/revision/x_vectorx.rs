//! `x-vectorx`: `eip6690-2024` with lanes priced as vectors, and values in memory that have as many bytes as the modulus.

use super::eip6690_2024::{self, Contexts};
use super::{FieldState, Revision};
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-vectorx",
    summary: "eip6690-2024 with lanes priced as vectors and short values in memory.",
    opcodes: eip6690_2024::OPCODES,
    prefix: None,
    prices: || vec![vector()],
    start,
};

/// A frame's state at its start.
fn start() -> Box<dyn FieldState> {
    Box::new(Contexts::packed())
}

/// The EIP's prices in thousandths of gas, with lanes of one limb at their time after a start: rounded up for each instruction.
fn vector() -> Prices {
    let eip = eip6690_2024::eip6690();
    let with_one_limb = |ByWidth(prices): &ByWidth, one: u64| {
        let wider = prices.iter().skip(1).map(|gas| 1000 * gas);
        ByWidth([one].into_iter().chain(wider).collect())
    };
    let ByWidth(new) = &eip.set_modulus;
    Prices {
        name: "vector".to_owned(),
        set_modulus: ByWidth(new.iter().map(|gas| 1000 * gas).collect()),
        start: Some(with_one_limb(&ByWidth(vec![0; new.len()]), 650)),
        add: with_one_limb(&eip.add, 250),
        sub: with_one_limb(&eip.sub, 250),
        mul: with_one_limb(&eip.mul, 350),
        load: with_one_limb(&eip.load, 200),
        store: with_one_limb(&eip.store, 200),
        in_thousandths: true,
        ..eip
    }
}
