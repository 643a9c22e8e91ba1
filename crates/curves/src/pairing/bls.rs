//! The hard part of the final exponentiation on curves of the family BLS: to 3·(p⁴ − p² + 1)/r, which maps to one
//! exactly the elements that (p⁴ − p² + 1)/r does.
//!
//! 3·(p⁴ − p² + 1)/r = (x − 1)²·(x + p)·(x² + p² − 1) + 3: Hayashida, Hayasaka and Teruya 2020 (2020/875), the chain for BLS12.
//!
//! For an odd x = ±(h·2ᵗ + 1) the last factor is taken as (x² − 1) + p², with x² − 1 = 2ᵗ⁺¹·(2ᵗ⁻¹·h + 1)·h: there are t + 1 squarings at its end.

use super::compressed_powers::{Room, Way, in_best_way, of_x_abs};
use super::powers::{
    Multiple, Power, frobenius, frobenius_squared, is_odd, multiply, power_of_even_part, power_of_x_abs,
    power_of_x_head, square_repeatedly, square_tail, tail, third,
};
use super::{Family, PairingCurve};
use crate::conditions::all_vanish;
use crate::tower::cyclotomic::{shifted_trace, shifted_trace_of_square, trace_of_square};
use crate::tower::{Fp4, Fp12};
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine};

/// m ↦ m^(3(p⁴ − p² + 1)/r) for m in the cyclotomic subgroup.
pub(super) fn hard_part<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>) -> Fp12<M::Fe, C> {
    let (y, [a, b]) = factors(machine, m, Way::Plain);
    let power = if is_odd::<C>() {
        square_tail(machine, tail::<C>() + 1, power_before_squarings(machine, y))
    } else {
        power_of_x_abs(machine, Power::of(machine, Multiple::tripled(power_of_x_abs(machine, y))))
    };
    multiply(machine, third(machine, power), third(machine, multiply(machine, a, b)))
}

/// 1 if the hard part maps m, in the cyclotomic subgroup, to one, else 0.
///
/// It compares traces over Fp4: that of Y^(x² − 1) for an odd x, of which the last squarings are done on the trace alone, with that of Z = rest⁻¹.
/// For an even x, |x| = 2ᵗ·(2ˢ·k + 1), Y^(x²) is G^|x| with G = Y^|x|, and so a product of G^(2^(t + s)·k), whose last t + s squarings are done on the
/// trace, and G^(2ᵗ), which goes to the rest. Elements of the cyclotomic subgroup with the same trace are the same
/// up to the conjugations by p⁴ and p⁸ (Lenstra and Verheul 2000, §2.2). So the answer is 1 exactly if m^a = m^(b·p⁴ʲ) for
/// a j in 0, 1, 2, where m^a is the power of Y or G and m^b = Z. For j = 0 this says m^(a − b) = 1, which is the question. For j = 1 and
/// 2, r does not divide a − b·p⁴ʲ (tested below), so the part of m of order r is one, and m^(a − b) too, as r divides the
/// order of m only once and a − b is a multiple of the rest.
pub(super) fn is_hard_part_one<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>, room: Room) -> M::Word {
    let difference = in_best_way(machine, m.c0.c0.c0, room, |machine, way| difference_of_traces(machine, m, way));
    machine.is_zero(all_vanish(&difference.to_list()))
}

/// The difference of the two traces.
fn difference_of_traces<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>, way: Way) -> Fp4<M::Fe, C> {
    let (y, [a, b]) = factors(machine, m, way);
    let (start, twos, z) = if is_odd::<C>() {
        let power = power_before_squarings(machine, y).c0;
        let start = if tail::<C>().is_multiple_of(2) { trace_of_square(power) } else { power };
        (start, tail::<C>().div_ceil(2), a.mul_c0(b).conjugate()) //   tail + 1 squarings
    } else {
        let (start, last) = ends_of_power(machine, Power::of(machine, of_x_abs(machine, y, way)));
        let z = scaled_down(machine, multiply_c0(machine, multiply(machine, a, b), last), 1);
        (start, (tail::<C>() + gap::<C>()) / 2, z.conjugate())
    };
    let order = vec![0; twos as usize];
    if let Some(start) = shifted_trace(start, || machine.one()) {
        let trace = machine.sequence(&order, 1, start, |machine, _, trace| {
            let [two, four] = [2u32, 4].map(|value| machine.constant(&value.into()));
            shifted_trace_of_square(shifted_trace_of_square(trace, two, four), two, four)
        });
        return trace - shifted_trace(z, || machine.one()).expect("all traces are squared in one way");
    }
    let trace = machine.sequence(&order, 1, start, |_, _, trace| trace_of_square(trace_of_square(trace)));
    trace - z
}

/// With |x| = 2ᵗ·(2ˢ·k + 1) for odd k the number s: between the last bit of |x| that is 1 and the one before are s − 1 zeros.
const fn gap<C: PairingCurve>() -> u32 {
    (C::FAMILY.x_abs() >> (tail::<C>() + 1)).trailing_zeros() + 1
}

/// g ↦ the part of gᵏ in Fp4 and g^(2ᵗ), both tripled, for |x| = 2ᵗ·(2ˢ·k + 1).
fn ends_of_power<M: Machine, C: PairingCurve>(machine: &M, g: Power<M::Fe, C>) -> (Fp4<M::Fe, C>, Fp12<M::Fe, C>) {
    let k = C::FAMILY.x_abs() >> (tail::<C>() + gap::<C>());
    let last = k.ilog2();
    assert!(last <= tail::<C>(), "squarings on the way to the power by 2ᵗ pass all that k needs");
    let (mut square, mut position, mut product, mut threes) = (g.tripled, 0, g.g, 0);
    for bit in (1..last).filter(|bit| k >> bit & 1 == 1) {
        square = square_repeatedly(machine, bit - position, square);
        position = bit;
        product = multiply(machine, square, product);
        threes += 1;
    }
    square = square_repeatedly(machine, last - position, square);
    let trace = scaled_down(machine, multiply_c0(machine, square, product), threes);
    (trace, square_repeatedly(machine, tail::<C>() - last, square))
}

/// (f, g) ↦ the part of f·g in Fp4, as a function.
fn multiply_c0<M: Machine, C: PairingCurve>(machine: &M, f: Fp12<M::Fe, C>, g: Fp12<M::Fe, C>) -> Fp4<M::Fe, C> {
    machine.function("fp12_mul_c0", (f, g), |_, (f, g)| f.mul_c0(g))
}

/// 3ⁿ·a ↦ a.
fn scaled_down<M: Machine, C: PairingCurve>(machine: &M, a: Fp4<M::Fe, C>, threes: usize) -> Fp4<M::Fe, C> {
    let Some(power) = threes.checked_sub(1) else { return a };
    let scale = machine.constant(&C::constants().thirds[power]);
    Fp4::new(a.c0.scale(scale), a.c1.scale(scale))
}

/// Y ↦ Y^((2ᵗ⁻¹·h + 1)·h), tripled, for an odd |x| = h·2ᵗ + 1.
fn power_before_squarings<M: Machine, C: PairingCurve>(machine: &M, y: Power<M::Fe, C>) -> Fp12<M::Fe, C> {
    let once = Power::of(machine, Multiple::tripled(power_of_x_head(machine, y))); // Y^h
    let twice = power_of_x_head(machine, once); //                     Y^(h²), tripled
    multiply(machine, square_tail(machine, tail::<C>() - 1, twice), once.g)
}

/// Y, and two factors of a rest, tripled.
type Factors<F, C> = (Power<F, C>, [Fp12<F, C>; 2]);

/// m ↦ Y and two factors of a rest, tripled, with Y^(x²)·rest = m^(3(p⁴ − p² + 1)/r), or Y^(x² − 1)·rest for an odd x.
fn factors<M: Machine, C: PairingCurve>(machine: &M, m: Fp12<M::Fe, C>, way: Way) -> Factors<M::Fe, C> {
    let _scope = enter("hard_part");
    let x_is_negative = matches!(C::FAMILY, Family::Bls { x_is_negative: true, .. });
    // For x = −|x| the power by x is the conjugate of the power by |x|, and g^(x − 1) that of g^(|x| + 1).
    let signed = |power: Fp12<M::Fe, C>| if x_is_negative { power.conjugate() } else { power };
    let by_x_minus_1 = |power: Power<M::Fe, C>| {
        if is_odd::<C>() && !x_is_negative {
            return Power::of(machine, Multiple::tripled(power_of_even_part(machine, power)));
        }
        let once = if x_is_negative { power.g } else { power.g.conjugate() };
        let multiple = of_x_abs(machine, power, way).map(|power| signed(multiply(machine, power, once)));
        Power::of(machine, multiple)
    };
    let m = Power::new(m);
    let y2 = by_x_minus_1(by_x_minus_1(m)); //                                              Y₂ = m^((x − 1)²)
    let y2_x = of_x_abs(machine, y2, way).map(signed); //                                   Y₂^x
    let by_p = frobenius(machine, y2.g);
    let y = Power::of(machine, y2_x.map(|power| multiply(machine, power, by_p))); //        Y = Y₂^(x + p)
    let y_p2 = frobenius_squared(machine, y.g); //                                          Y^(p²)
    let y_rest = if is_odd::<C>() { y_p2 } else { multiply(machine, y_p2, y.g.conjugate()) }; // Y^(p² − 1)
    let m3 = multiply(machine, square_repeatedly(machine, 1, m.tripled), m.g); //           m³, tripled
    (y, [y_rest, m3])
}

#[cfg(test)]
mod tests {
    use crate::bls12_377;
    use crate::bls12_381::X_ABS;
    use crate::bls12_381::constants::modulus;
    use num_bigint::BigInt;

    #[test]
    fn the_same_of_an_odd_x() {
        let x = BigInt::from(bls12_377::X);
        let p = BigInt::from(bls12_377::modulus());
        let r: BigInt = x.pow(4) - x.pow(2) + 1;
        let cyclotomic: BigInt = p.pow(4) - p.pow(2) + 1;
        let y = (&x - 1u32).pow(2) * (&x + &p);
        let (a, rest) = (&y * (x.pow(2) - 1u32), &y * p.pow(2) + 3);
        assert_eq!((&a + &rest) % &cyclotomic, BigInt::from(3) * (&cyclotomic / &r) % &cyclotomic);
        assert_ne!(&cyclotomic / &r % &r, BigInt::ZERO, "r divides the order once");
        for j in [1, 2] {
            assert_ne!((&a + &rest * p.pow(4 * j)) % &r, BigInt::ZERO, "conjugate {j}");
        }
    }

    #[test]
    fn conjugates_with_the_same_trace_are_told_apart_where_it_matters() {
        let x = -BigInt::from(X_ABS);
        let p = BigInt::from(modulus());
        let r: BigInt = x.pow(4) - x.pow(2) + 1;
        let cyclotomic: BigInt = p.pow(4) - p.pow(2) + 1;
        let x_minus_1: BigInt = &x - 1;
        let y = x_minus_1.pow(2) * (&x + &p);
        let (x_abs, last): (BigInt, BigInt) = (-&x, BigInt::from(1u32 << 16)); // 2ᵗ
        let (a, rest) = (&y * &x_abs * (&x_abs - &last), &y * (p.pow(2) - 1) + 3 + &y * &x_abs * last);
        assert_eq!((&a + &rest) % &cyclotomic, BigInt::from(3) * (&cyclotomic / &r) % &cyclotomic);
        assert_ne!(&cyclotomic / &r % &r, BigInt::ZERO, "r divides the order once");
        for j in [1, 2] {
            assert_ne!((&a + &rest * p.pow(4 * j)) % &r, BigInt::ZERO, "conjugate {j}");
        }
    }
}
