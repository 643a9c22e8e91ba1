//! Powers by x of elements of the cyclotomic subgroup with compressed squarings, see [`crate::tower::cyclotomic::compressed`]: gᵏ is a product of the
//! g^(2ⁱ) for the bits i of k that are 1. Runs of squarings are compressed up to the last long one, and all that is wanted of them is
//! brought back with one inverse. Only interfaces that invert gain by it.

use super::powers::{Multiple, Power, in_runs, is_odd, multiply, power_of_x_abs, power_of_x_head, tail};
use super::{Family, PairingCurve};
use crate::tower::cyclotomic::compressed::{Compressed, is_compressible};
use crate::tower::cyclotomic::cyclotomic_square_tripled;
use crate::tower::{Fp4, Fp12};
use num_bigint::BigUint;
use residue_formula::{Fe, Fp2Product};
use residue_ir::{Feature, Machine};

/// How powers by x are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// With squarings of whole elements.
    Plain,
    /// With compressed ones.
    Compressed,
}

/// What `text` gives in the way that the interface gains by. Elements such as `sample` are computed with: without sums of products an account has no
/// room for the code.
pub(super) fn in_best_way<M: Machine, C: PairingCurve>(
    machine: &M,
    sample: M::Fe,
    text: impl Fn(&M, Way) -> Fp4<M::Fe, C>,
) -> Fp4<M::Fe, C> {
    if !is_used::<C>() || sample.fp2_product() != Fp2Product::Sums {
        return text(machine, Way::Plain);
    }
    let inverts = machine.has(Feature::Inversion);
    machine.branch(inverts, |machine| text(machine, Way::Compressed), |machine| text(machine, Way::Plain))
}

/// Whether there is [`Way::Compressed`].
fn is_used<C: PairingCurve>() -> bool {
    is_compressible::<C>() && matches!(C::FAMILY, Family::Bls { .. }) && !is_odd::<C>()
}

/// The runs of squarings that are functions.
const SQUARINGS: [(u32, &str); 3] =
    [(1, "fp12_compressed_square"), (8, "fp12_compressed_square_8"), (16, "fp12_compressed_square_16")];

/// The runs of squarings of whole elements that are functions.
const WHOLE_SQUARINGS: [(u32, &str); 3] =
    [(1, "fp12_cyclotomic_square"), (2, "fp12_cyclotomic_square_2"), (3, "fp12_cyclotomic_square_3")];

/// What one decompression costs is saved by so many compressed squarings.
const SQUARINGS_MIN: u32 = 4;

/// g ↦ a multiple of g^|x|.
pub(super) fn of_x_abs<M: Machine, C: PairingCurve>(
    machine: &M,
    power: Power<M::Fe, C>,
    way: Way,
) -> Multiple<M::Fe, C> {
    match way {
        Way::Plain => Multiple::tripled(power_of_x_abs(machine, power)),
        Way::Compressed => {
            let [f, g] = machine.function("fp12_compressed_power_of_x_abs", power, |machine, power| {
                factors(machine, C::FAMILY.x_abs(), power, power_of_x_abs)
            });
            Multiple { value: multiply(machine, f, g), threes: threes::<C>() }
        }
    }
}

/// g ↦ a multiple of g^h, where |x| = 2^[`tail`]·h.
pub(super) fn of_x_head<M: Machine, C: PairingCurve>(
    machine: &M,
    power: Power<M::Fe, C>,
    way: Way,
) -> Multiple<M::Fe, C> {
    match way {
        Way::Plain => Multiple::tripled(power_of_x_head(machine, power)),
        Way::Compressed => {
            let [f, g] = head_factors(machine, power);
            Multiple { value: multiply(machine, f, g), threes: threes::<C>() }
        }
    }
}

/// g ↦ three times the part of g^h in Fp4.
pub(super) fn trace_of_x_head<M: Machine, C: PairingCurve>(
    machine: &M,
    power: Power<M::Fe, C>,
    way: Way,
) -> Fp4<M::Fe, C> {
    match way {
        Way::Plain => power_of_x_head(machine, power).c0,
        Way::Compressed => {
            let [f, g] = head_factors(machine, power);
            let Fp4 { c0, c1 } = f.mul_c0(g);
            let scale = machine.constant(&C::constants().thirds[threes::<C>() - 2]);
            Fp4::new(c0.scale(scale), c1.scale(scale))
        }
    }
}

fn head_factors<M: Machine, C: PairingCurve>(machine: &M, power: Power<M::Fe, C>) -> [Fp12<M::Fe, C>; 2] {
    machine.function("fp12_compressed_power_of_x_head", power, |machine, power| {
        factors(machine, C::FAMILY.x_abs() >> tail::<C>(), power, power_of_x_head)
    })
}

/// Each bit of x that is 1 brings a factor, three times too large.
fn threes<C: PairingCurve>() -> usize {
    C::FAMILY.x_abs().count_ones() as usize // widens
}

/// g ↦ two factors of 3ⁿ·gᵏ, for the n bits of k that are 1 and g in the cyclotomic subgroup, where `plain` makes 3gᵏ.
///
/// What cannot be brought back is met where a norm is zero, as for g = 1: then all is done by `plain`.
fn factors<M: Machine, C: PairingCurve>(
    machine: &M,
    k: u64,
    power: Power<M::Fe, C>,
    plain: impl FnOnce(&M, Power<M::Fe, C>) -> Fp12<M::Fe, C>,
) -> [Fp12<M::Fe, C>; 2] {
    let bits: Vec<u32> = (0..u64::BITS).filter(|bit| k >> bit & 1 == 1).collect();
    let is_long = |&(place, &bit): &(usize, &u32)| {
        let run = if place > 0 { bit - bits[place - 1] } else { bit };
        run == 0 || run >= SQUARINGS_MIN
    };
    let (long, short) = bits.split_at(bits.iter().enumerate().take_while(is_long).count());
    let (mut state, mut position, mut compressed) = (Compressed::new(power.tripled), 0, Vec::new());
    for &bit in long.iter().filter(|&&bit| bit > 0) {
        state = in_runs(machine, &SQUARINGS, bit - position, state, Compressed::square);
        position = bit;
        compressed.push(state);
    }
    let norms: Vec<M::Fe> = compressed.iter().map(|element| element.norm()).collect();
    // The products of the first norms.
    let mut products = vec![norms[0]];
    for &norm in &norms[1..] {
        products.push(products[products.len() - 1] * norm);
    }
    let product = products[products.len() - 1];
    machine.branch(
        machine.is_zero(product),
        |machine| {
            let three = machine.constant(&BigUint::from(3u8));
            let rest = machine.constant(&BigUint::from(3u8).pow(bits.len() as u32 - 2)); // at most 64
            [plain(machine, power).scale(rest), Fp12::one(machine.zero(), three)]
        },
        |machine| {
            let mut inverse = machine.invert(product.double().double()); // 1/(4·the product of all that are left)
            let mut wholes = Vec::new();
            for (place, &element) in compressed.iter().enumerate().rev() {
                let own = if place > 0 { inverse * products[place - 1] } else { inverse };
                inverse = inverse * norms[place];
                wholes.push(decompress(machine, element, own));
            }
            let mut last = wholes.remove(0);
            wholes.extend((long[0] == 0).then_some(power.tripled));
            let others = wholes.into_iter().reduce(|f, g| multiply(machine, f, g));
            let mut product = others.expect("k has two long runs of zeros, or is odd");
            for &bit in short {
                product = multiply(machine, product, last);
                last = in_runs(machine, &WHOLE_SQUARINGS, bit - position, last, cyclotomic_square_tripled);
                position = bit;
            }
            [product, last]
        },
    )
}

/// [`Compressed::decompress`].
fn decompress<M: Machine, C: PairingCurve>(
    machine: &M,
    element: Compressed<M::Fe, C>,
    inverse: M::Fe,
) -> Fp12<M::Fe, C> {
    let third = machine.constant(&C::constants().third);
    element.decompress(inverse, third, machine.constant(&BigUint::from(3u8)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bls12_381::{Bls12_381, X_ABS};
    use crate::pairing::final_exponentiation::easy_part;
    use residue_formula::Number;
    use residue_ir::{Bundle, Numbers};
    use residue_modular::fields::Bls12_381Fp;

    type F = Bls12_381Fp;

    fn check(machine: &Numbers<F>, g: Fp12<F, Bls12_381>) {
        let power = Power::new(g);
        for (of, plain) in [
            (of_x_abs(machine, power, Way::Compressed), of_x_abs(machine, power, Way::Plain)),
            (of_x_head(machine, power, Way::Compressed), of_x_head(machine, power, Way::Plain)),
        ] {
            assert_eq!((of.threes, plain.threes), (6, 1));
            assert_eq!(of.element(machine), plain.element(machine));
        }
        let trace = |way| trace_of_x_head(machine, power, way);
        assert_eq!(trace(Way::Compressed), trace(Way::Plain));
    }

    fn power(g: Fp12<F, Bls12_381>, exponent: &BigUint) -> Fp12<F, Bls12_381> {
        (0..exponent.bits()).rev().fold(Fp12::one(F::ZERO, F::ONE), |power, bit| {
            let square = power.square();
            if exponent.bit(bit) { square * g } else { square }
        })
    }

    #[test]
    fn powers_are_those_of_whole_elements() {
        let machine = Numbers::<F>::new(Vec::new());
        let mut next = F::from_u64(7);
        let mut random = || {
            next = next * next + F::from_u64(3);
            next.pow(&BigUint::from(X_ABS))
        };
        let one = Fp12::one(F::ZERO, F::ONE);
        let p = F::modulus();
        let order: BigUint = p.pow(4) - p.pow(2) + 1u32;
        for _ in 0..3 {
            let f = Fp12::<F, Bls12_381>::from_list((0..12).map(|_| random()).collect());
            let g = easy_part(&machine, f);
            check(&machine, g);
            // Of the least order but one: 4513 divides that of the subgroup.
            let least = power(g, &(&order / 4513u32));
            assert!(least != one && power(least, &4513u32.into()) == one);
            (0..4).fold(least, |element, _| {
                check(&machine, element);
                element * least
            });
            // What cannot be brought back: no element of the subgroup but one lies in Fp4.
            check(&machine, Fp12 { c0: f.c0, c1: f.c0 - f.c0, c2: f.c0 - f.c0 });
        }
        check(&machine, one);
        check(&machine, one - one);
    }
}
