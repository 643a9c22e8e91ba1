//! Powers by x of elements of the cyclotomic subgroup with compressed squarings, see [`crate::tower::cyclotomic::compressed`]: |x| is a sum of powers of two
//! that are far apart and of (2ᵃ − 1)(2ᵇ − 1)·2ⁿ, where inverses are conjugates. Squarings are compressed up to the n-th, and all that is wanted of them is
//! brought back with one inverse. That pays where an interface inverts, and by less where the inverse is a power and the code has room.

use super::powers::{
    COMPRESSED_SQUARINGS, Multiple, Power, decompress, in_runs, is_odd, multiply, power_of_x_abs, square_repeatedly,
    third,
};
use super::{Family, PairingCurve};
use crate::tower::cyclotomic::compressed::{Compressed, is_compressible};
use crate::tower::{Fp4, Fp12};
use num_bigint::BigUint;
use residue_formula::{Fe, Fp2Product};
use residue_ir::{Feature, Machine};

/// Method for powers by x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// With squarings of whole elements.
    Plain,
    /// With compressed ones.
    Compressed,
}

/// Size of code that a program has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// An account's of 24 KiB.
    Short,
    /// More.
    Long,
}

/// `text` with the method that is better under the interface, for elements such as `sample`. For [`Room::Short`]
/// without sums of products, only an instruction for inversions leaves room for the compressed method.
pub(super) fn in_best_way<M: Machine, C: PairingCurve>(
    machine: &M,
    sample: M::Fe,
    room: Room,
    text: impl Fn(&M, Way) -> Fp4<M::Fe, C>,
) -> Fp4<M::Fe, C> {
    match room {
        _ if !is_used::<C>() => text(machine, Way::Plain),
        Room::Long => text(machine, Way::Compressed),
        Room::Short if sample.fp2_product() != Fp2Product::Sums => text(machine, Way::Plain),
        Room::Short => {
            let inverts = machine.has(Feature::Inversion);
            machine.branch(inverts, |machine| text(machine, Way::Compressed), |machine| text(machine, Way::Plain))
        }
    }
}

/// True if the curve has [`Way::Compressed`].
fn is_used<C: PairingCurve>() -> bool {
    is_compressible::<C>()
        && matches!(C::FAMILY, Family::Bls { .. })
        && !is_odd::<C>()
        && Chain::of(C::FAMILY.x_abs()).is_some()
}

/// g ↦ a multiple of g^|x|.
pub(super) fn of_x_abs<M: Machine, C: PairingCurve>(
    machine: &M,
    power: Power<M::Fe, C>,
    way: Way,
) -> Multiple<M::Fe, C> {
    match way {
        Way::Plain => Multiple::tripled(power_of_x_abs(machine, power)),
        Way::Compressed => {
            let chain = Chain::of(C::FAMILY.x_abs()).expect("there is this way: see `is_used`");
            let [f, g] = machine.function("fp12_compressed_power_of_x_abs", power, |machine, power| {
                factors(machine, &chain, power, power_of_x_abs)
            });
            Multiple { value: multiply(machine, f, g), threes: chain.threes() }
        }
    }
}

/// Exponent of g^|x| as a chain: |x| = Σ 2ⁱ over the places of `ones` and (2ᵃ − 1)(2ᵇ − 1)·2ⁿ.
struct Chain {
    /// Long runs of squarings end at each of them.
    ones: Vec<u32>,
    /// n, which is the last.
    last: u32,
    /// a and b.
    exponents: [u32; 2],
}

impl Chain {
    /// That of |x|, if it has one.
    fn of(x_abs: u64) -> Option<Self> {
        let bits: Vec<u32> = (0..u64::BITS).filter(|bit| x_abs >> bit & 1 == 1).collect();
        bits.iter().enumerate().skip(1).find_map(|(place, &last)| {
            let product = x_abs >> last;
            let factor = |a: u32| (1u64 << a) - 1;
            let exponents = (2..32).flat_map(|a| (2..=a).map(move |b| [a, b]));
            let exponents = exponents.into_iter().find(|&[a, b]| factor(a) * factor(b) == product)?;
            Some(Self { ones: bits[..place].to_vec(), last, exponents })
        })
    }

    /// The factor in which a power comes out is three to this, see [`factors`].
    fn threes(&self) -> usize {
        self.ones.len() + 2
    }
}

/// g ↦ two factors of 3ⁿ·g^|x| for n = [`Chain::threes`] and g in the cyclotomic subgroup, where `plain` makes 3g^|x|.
///
/// If a norm is zero, as for g = 1, the element cannot be decompressed, and `plain` computes all.
fn factors<M: Machine, C: PairingCurve>(
    machine: &M,
    chain: &Chain,
    power: Power<M::Fe, C>,
    plain: impl FnOnce(&M, Power<M::Fe, C>) -> Fp12<M::Fe, C>,
) -> [Fp12<M::Fe, C>; 2] {
    let (mut state, mut position, mut compressed) = (Compressed::new(power.tripled), 0, Vec::new());
    for &bit in chain.ones.iter().chain([&chain.last]) {
        state = in_runs(machine, &COMPRESSED_SQUARINGS, bit - position, state, Compressed::square);
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
            let rest = machine.constant(&BigUint::from(3u8).pow(chain.threes() as u32 - 2)); // at most 64
            [plain(machine, power).scale(rest), Fp12::one(machine.zero(), three)]
        },
        |machine| {
            let mut inverse = C::invert(machine, product.double().double()); // 1/(4·the product of all that are left)
            let mut wholes = Vec::new();
            for (place, &element) in compressed.iter().enumerate().rev() {
                let own = if place > 0 { inverse * products[place - 1] } else { inverse };
                inverse = inverse * norms[place];
                wholes.push(decompress(machine, element, own));
            }
            let last = wholes.remove(0);
            let others = wholes.into_iter().reduce(|f, g| multiply(machine, f, g));
            let [a, b] = chain.exponents;
            // 3g ↦ 9g^(2ᵃ − 1)
            let less_one = |count, tripled: Fp12<M::Fe, C>| {
                multiply(machine, square_repeatedly(machine, count, tripled), tripled.conjugate())
            };
            let first = third(machine, less_one(a, last));
            [less_one(b, first), others.expect("there are runs before the last")]
        },
    )
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
        let [of, plain] = [Way::Compressed, Way::Plain].map(|way| of_x_abs(machine, power, way));
        assert_eq!((of.threes, plain.threes), (4, 1));
        assert_eq!(of.element(machine), plain.element(machine));
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
