//! Ed25519 with canonical encodings, without points of a small order, and without cofactors: RFC 8032, §5.1.7.

use super::{Encodings, INTERFACE, decode, example, expected, parse};
use crate::Contract;
use residue_curves::edwards25519::{invert, small_order_defect};
use residue_formula::Number;
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Curve25519Fp;

/// `ed25519/verify`.
pub const CONTRACT: Contract = Contract {
    name: "ed25519/verify",
    summary: "is this a signature by Ed25519? (RFC 8032, strict)",
    interface: INTERFACE,
    field: Curve25519Fp::modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let op = |op, a, b| machine.word_op(op, a, b);
    let parsed = parse(machine);
    let key = decode(machine, parsed.key, Encodings::Canonical);
    let sum = expected(machine, &parsed, key);
    let inverse = invert(machine, sum.z);
    let (x, y) = (sum.x * inverse, sum.y * inverse);
    let defects = small_order_defect(key.x, key.y) * small_order_defect(x, y);
    let is_large = machine.not(machine.is_zero(defects));
    // R is the only encoding of the point, which is canonical.
    let sign = op(WordOp::Shl, machine.is_odd(x), machine.small(255));
    let encoding = op(WordOp::Or, machine.word_of(y, 0), sign);
    machine.return_word(op(WordOp::And, is_large, op(WordOp::Eq, parsed.r, encoding)));
}
