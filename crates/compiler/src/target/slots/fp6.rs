//! Products in Fp6 by one instruction each.

use super::{modulus_size_bytes, slot_index};
use crate::pipeline::{Interface, Priced};
use residue_ir::Modulus;
use residue_isa::{FieldOp, Form, Fp6Product};
use residue_passes::Slot;
use residue_passes::fp6::SlotFp6;

/// Operations of a product without an instruction: multiplications, then additions; four of these make ξ times
/// coefficients for ξ = 1 + u.
const OPERATIONS: [u64; 2] = [36, 30 + 4];

/// True if a product by its instruction, if there is one, costs less than by its operations.
pub(crate) fn is_cheaper(priced: &Priced<'_>, modulus: &Modulus) -> bool {
    let Priced { interface: Interface { rules, .. }, schedule, .. } = *priced;
    let Some(rules) = rules else { return false };
    if !rules.has(Form::MulFp6) {
        return false;
    }
    let width = rules.price_width(modulus_size_bytes(rules, modulus));
    let fused = schedule.formed(Form::MulFp6, width, 1);
    let of = |operation| schedule.instruction(operation, width, 1).whole();
    let [multiplications, additions] = OPERATIONS;
    fused.whole() < multiplications * of(FieldOp::Mul) + additions * of(FieldOp::Add)
}

/// The instruction of a product.
pub fn instruction(product: &SlotFp6) -> Fp6Product {
    let [out, x, y] = [product.out, product.x, product.y].map(|slots| slots.map(slot_index));
    Fp6Product { out, x, y, xi: product.xi }
}

/// The product of an instruction.
pub fn product(instruction: &Fp6Product) -> SlotFp6 {
    let [out, x, y] = [instruction.out, instruction.x, instruction.y].map(|slots| slots.map(Slot::from));
    SlotFp6 { out, x, y, xi: instruction.xi }
}
