//! `FP6MULX`: products in Fp6 = Fp2[v] with v³ = a + b·u, over Fp2 = Fp[u] with u² = −1, an element in six slots.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::Context;
use num_bigint::BigUint;

/// x·y by the definition: products of coefficients of 1, v and v²; those of v³ and v⁴ are reduced by v³ = ξ. All
/// operands are read before a result is written.
pub fn multiply(
    opcode: &FieldOpcode,
    immediate: &[u8],
    frame: &mut Frame<'_>,
    prices: &Prices,
    context: &mut Context,
) -> Result<(), Halt> {
    let [slots @ .., a, b] = immediate else { return Err(Halt::InvalidInstruction) };
    let slots: Vec<usize> = slots.iter().map(|&byte| usize::from(byte)).collect();
    if slots.len() != 18 {
        return Err(Halt::InvalidInstruction);
    }
    if slots.iter().any(|slot| *slot >= context.slots.len()) {
        return Err(Halt::SlotOutOfRange);
    }
    let price = prices.added("fp6", context.width_limbs(), opcode)?;
    frame.charge(prices.times(price, 1))?;
    let m = context.modulus.clone();
    // The coefficients of 1, v and v², each of 1 and u.
    let element = |first: usize| -> Vec<Fp2> {
        let coefficients = slots[first..first + 6].chunks(2);
        coefficients.map(|pair| [context.slots[pair[0]].clone(), context.slots[pair[1]].clone()]).collect()
    };
    let (x, y) = (element(6), element(12));
    let xi = [BigUint::from(*a) % &m, BigUint::from(*b) % &m];
    let mut results = vec![[BigUint::ZERO, BigUint::ZERO]; 3];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            let mut product = times(x, y, &m);
            if i + j >= 3 {
                product = times(&product, &xi, &m);
            }
            let result = &mut results[(i + j) % 3];
            *result = [0, 1].map(|part: usize| (&result[part] + &product[part]) % &m);
        }
    }
    for (slot, value) in slots[..6].iter().zip(results.into_iter().flatten()) {
        context.slots[*slot] = value;
    }
    Ok(())
}

/// The coefficients of 1 and u.
type Fp2 = [BigUint; 2];

/// (x₀ + x₁·u)(y₀ + y₁·u) with u² = −1.
fn times([x0, x1]: &Fp2, [y0, y1]: &Fp2, m: &BigUint) -> Fp2 {
    [(x0 * y0 + m * m - x1 * y1 % m) % m, (x0 * y1 + x1 * y0) % m]
}
