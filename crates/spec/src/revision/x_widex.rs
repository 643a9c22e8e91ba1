//! `x-widex`: `eip6690-2024` with moduli of up to 4096 bits.
//!
//! Source: none outside; this file defines it. Its prices are the EIP's up to 12 limbs; the page of the revision has
//! the source of those above.

use super::Revision;
use super::eip6690_2024::{self, Contexts};
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-widex",
    summary: "eip6690-2024 with moduli of up to 4096 bits.",
    opcodes: eip6690_2024::OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::of_moduli(MODULUS_BYTES_MAX)),
};

/// Most bytes of a modulus.
const MODULUS_BYTES_MAX: u64 = 512;

fn prices() -> Prices {
    let eip = eip6690_2024::eip6690();
    let wide = |ByWidth(mut prices): ByWidth, price: fn(u64) -> u64| {
        prices.extend((13..=64).map(price));
        ByWidth(prices)
    };
    let sum = |limbs: u64| (limbs + 12).div_ceil(5);
    let transfer = |limbs: u64| (21 * limbs * limbs + 50 * limbs).div_ceil(100);
    Prices {
        name: "next".to_owned(),
        set_modulus: wide(eip.set_modulus.clone(), |limbs| (8 * limbs * limbs).div_ceil(5)),
        add: wide(eip.add.clone(), sum),
        sub: wide(eip.sub.clone(), sum),
        mul: wide(eip.mul.clone(), |limbs| (21 * limbs * limbs).div_ceil(100)),
        load: wide(eip.load.clone(), transfer),
        store: wide(eip.store.clone(), transfer),
        ..eip
    }
}
