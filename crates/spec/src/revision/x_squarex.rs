//! `x-squarex`: `eip6690-2024` with a price for squares.

use super::Revision;
use super::eip6690_2024::{self, Contexts};
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-squarex",
    summary: "eip6690-2024 with a price for squares.",
    opcodes: eip6690_2024::OPCODES,
    prefix: None,
    prices: || vec![next()],
    start: || Box::new(Contexts::default()),
};

/// The EIP's prices in thousandths of gas, with squares at 98 % of a product: rounded up for each instruction.
fn next() -> Prices {
    let eip = eip6690_2024::eip6690();
    let times =
        |ByWidth(prices): &ByWidth, thousandths: u64| ByWidth(prices.iter().map(|gas| thousandths * gas).collect());
    Prices {
        name: "next".to_owned(),
        set_modulus: times(&eip.set_modulus, 1000),
        add: times(&eip.add, 1000),
        sub: times(&eip.sub, 1000),
        mul: times(&eip.mul, 1000),
        square: Some(times(&eip.mul, 980)),
        load: times(&eip.load, 1000),
        store: times(&eip.store, 1000),
        in_thousandths: true,
        ..eip
    }
}
