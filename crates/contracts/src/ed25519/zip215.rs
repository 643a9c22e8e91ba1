//! Ed25519 by ZIP-215: any encoding, any point, and the equation times 8.

use super::{Encodings, INTERFACE, decode, example, expected, parse};
use crate::Contract;
use residue_curves::edwards25519::{addend, small_order_defect};
use residue_formula::Number;
use residue_ir::Machine;
use residue_modular::fields::Curve25519Fp;

/// `ed25519/zip215`.
pub const CONTRACT: Contract = Contract {
    name: "ed25519/zip215",
    summary: "is this a signature by Ed25519? (ZIP-215)",
    interface: INTERFACE,
    field: Curve25519Fp::modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let parsed = parse(machine);
    let decoded = |number| {
        let point = decode(machine, number, Encodings::Any);
        (point.x, point.y)
    };
    let (key, r) = (decoded(parsed.key), decoded(parsed.r));
    let point = |(x, y)| residue_curves::Affine::new(x, y);
    let sum = expected(machine, &parsed, point(key));
    // T was not kept: X·Y, Y·Z, X·Z … are the same point with it.
    let with_t = residue_curves::edwards25519::Extended {
        x: sum.x * sum.z,
        y: sum.y * sum.z,
        z: sum.z * sum.z,
        t: sum.x * sum.y,
    };
    let difference = with_t.add(addend(machine, point(r)), true).projective();
    machine.return_word(machine.is_zero(small_order_defect(difference.x, difference.y)));
}
