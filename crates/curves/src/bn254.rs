//! BN254, which EIP-196 and EIP-197 call alt_bn128: its constants and its two groups; it has a [`pairing`](crate::pairing).
//!
//! p(x) = 36x⁴ + 36x³ + 24x² + 6x + 1 and r(x) = 36x⁴ + 36x³ + 18x² + 6x + 1 at x = 4965661367192848881. G1 is all of y² = x³ + 3
//! over Fp, G2 the subgroup of order r of the twist y² = x³ + 3/(9 + u) over Fp2; EIP-197, “Definition of the groups”.

mod multiple;
pub mod rows;

use crate::chain::pow_constant;
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Projective};
use crate::pairing::{self, Family, PairingCurve, Twist, psi};
use crate::tower::{self, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::Machine;
use residue_modular::fields::Bn254Fp;
use std::sync::LazyLock;

/// x. EIP-197 has r by its value; that x gives it is tested.
pub const X: u64 = 4_965_661_367_192_848_881;

/// The curve, as a parameter of towers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bn254;

/// Fp2 of this curve.
pub type Fp2<F> = tower::Fp2<F, Bn254>;
/// Fp12 of this curve.
pub type Fp12<F> = tower::Fp12<F, Bn254>;

/// u² = −1. EIP-197, “Definition of the groups”, makes Fp12 with 9 + u; with w³ = 3 and s² = 2 + u there are fewer additions.
impl Tower for Bn254 {
    const N: u32 = 1;
    const K: u32 = 2;
    const CUBE: Option<u32> = Some(3);
}

/// k of the k + u of EIP-197.
const TWIST_K: u64 = 9;

/// Constants of programs, as canonical values.
#[derive(Debug)]
pub struct Constants {
    /// b = 3 of G1.
    pub b: BigUint,
    /// β = −(18x³ + 18x² + 9x + 2), a cube root of one; φ(x, y) = (β·x, y) is multiplication by (6x² + 2x)/(2x + 1) on G1.
    pub beta: BigUint,
    /// b′ = 3/(9 + u) of G2.
    pub twist_b: Fp2<BigUint>,
    /// Those of every curve with a pairing.
    pub pairing: pairing::Constants<Bn254>,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let small = Bn254Fp::from_u64;
    let twist_b = Fp2::new(small(TWIST_K), small(1)).inverse().expect("9 + u is not zero").scale(small(3));
    Constants {
        b: small(3).to_canonical(),
        beta: {
            let x = small(X);
            (-(((x + small(1)) * x * small(18) + small(9)) * x + small(2))).to_canonical()
        },
        twist_b: twist_b.to_canonical(),
        pairing: pairing::Constants::on_twist(kappa()),
    }
});

/// κ of [`pairing::Scale::Twist`]: κ⁶ = (ξ³/3)/(3/(9 + u)), which is tested. It has six values; another one changes pairing values by an
/// exponent prime to r.
fn kappa() -> Fp2<Bn254Fp> {
    let [c0, c1] = [
        "2443597221550718545009546691920986254471208852458381679711740641931284279529",
        "18919591268614343567557463651487235898038144060841273832122595491943673408228",
    ]
    .map(|digits| {
        digits.parse().ok().and_then(|value| Bn254Fp::from_canonical(&value)).expect("these are digits of an element")
    });
    Fp2::new(c0, c1)
}

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// p.
pub fn modulus() -> BigUint {
    Bn254Fp::modulus()
}

/// The generator of G1: EIP-197, “Definition of the groups”, P1.
pub fn g1_generator() -> Affine<BigUint> {
    Affine::new(1u32.into(), 2u32.into())
}

/// The generator of G2: EIP-197, “Definition of the groups”, P2.
pub fn g2_generator() -> Affine<Fp2<BigUint>> {
    let [x0, x1, y0, y1] = [
        "10857046999023057135944570762232829481370756359578518086990519993285655852781",
        "11559732032986387107991004021392285783925812861821192530917403151452391805634",
        "8495653923123431417604973247489272438418190587263600148770280649306958101930",
        "4082367875863433681332203403145435568316851327593401208105741076214120093531",
    ]
    .map(|digits| digits.parse().expect("these are digits"));
    Affine::new(Fp2::new(x0, x1), Fp2::new(y0, y1))
}

/// a ↦ a⁻¹ in Fp, by an instruction where there is one; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power)
}

/// a ↦ a⁻¹ = a^(p − 2) in Fp, as a function; 0 ↦ 0.
pub fn inverse_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("fp_inverse", a, |machine, a| {
        let at_once = |_: &M| pow_constant(a, &(modulus() - 2u32));
        pairing::in_short_code(machine, |machine| inverse_by_powers_of_x(machine, a), at_once)
    })
}

/// The same by one chain that is called five times: p − 2 = (((36x + 36)·x + 24)·x + 5)·x + x − 1.
fn inverse_by_powers_of_x<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    let to_less = |a| machine.function("fp_power_of_x_less_1", a, |_, a| pow_constant(a, &(X - 1).into()));
    let a4 = a.square().square();
    let a5 = a4 * a;
    let a12 = (a5 * a).square();
    let a24 = a12.square();
    let a36 = a24 * a12;
    let power = [a36, a24, a5].into_iter().fold(a36, |power, digit| to_less(power) * power * digit);
    to_less(power) * power * to_less(a)
}

/// y² − x³ − 3: zero exactly if the point lies on G1's curve, all of which is G1.
pub fn g1_curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    point.curve_defect(machine.constant(&constants().b))
}

/// Zero exactly if the point lies on the twist y² = x³ + 3/ξ.
pub fn g2_curve_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Fe {
    let defect = point.curve_defect(constants().twist_b.lift(machine));
    all_vanish(&[defect.c0, defect.c1])
}

impl PairingCurve for Bn254 {
    const FAMILY: Family = Family::Bn { x: X };
    const TWIST: Twist = Twist::D;

    fn constants() -> &'static pairing::Constants<Self> {
        &constants().pairing
    }

    fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    /// On the twist of the loop 3b″ = ξ³ = 2 + 11u.
    fn times_3b<M: Machine>(machine: &M, a: Fp2<M::Fe>) -> Fp2<M::Fe> {
        let eleven = a.scale(machine.constant(&11u32.into()));
        Fp2::new(a.c0.double() - eleven.c1, a.c1.double() + eleven.c0)
    }

    /// The loop ends with T = (6x + 2)·Q + ψ(Q) − ψ²(Q), and T = −ψ³(Q) exactly for Q in G2. On G2 ψ is p, and r divides
    /// 6x + 2 + p − p² + p³ (Vercauteren 2010, “Optimal pairings”, §IV.B). Any other Q on the twist for which this holds has an
    /// order that divides both the norm of 6x + 2 + ψ − ψ² + ψ³ in Z[ψ] and the number r·(2p − r) of points, and r is their
    /// greatest common divisor (tested below); there is one subgroup of order r (the argument of El Housni, Guillevic and
    /// Piellard 2022, 2022/352). If Q is in G2 no step meets an exceptional case: so Z ≠ 0.
    fn membership_from_multiple<M: Machine>(
        machine: &M,
        q: Affine<Fp2<M::Fe>>,
        multiple: Projective<Fp2<M::Fe>>,
    ) -> Conditions<M::Fe> {
        let Projective { x, y, z } = multiple;
        let image = psi(machine, psi(machine, psi(machine, q)));
        let z_multiplicand = z.multiplicand();
        let dx = x - image.x * z_multiplicand; //   X = ψ³(Q).x·Z
        let dy = y + image.y * z_multiplicand; //   Y = −ψ³(Q).y·Z
        Conditions { vanishing: all_vanish(&[dx.c0, dx.c1, dy.c0, dy.c1]), invertible: z.norm() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use residue_modular::fields::Bn254Fr;

    #[test]
    fn the_twist_of_the_loop_is_isomorphic_to_that_of_g2() {
        let number = |c0: u64, c1: u64| Fp2::new(Bn254Fp::from_u64(c0), Bn254Fp::from_u64(c1));
        let xi = number(Bn254::K.into(), 1);
        assert_eq!(xi.pow(&3u32.into()), number(2, 11));
        assert_eq!(kappa().pow(&6u32.into()) * number(9, 0), xi.pow(&3u32.into()) * number(TWIST_K, 1));
        let fields = modulus().pow(2) - 1u32;
        assert_ne!(xi.pow(&(&fields / 2u32)), Fp2::ONE, "no square");
        assert_ne!(number(3, 0).pow(&(fields / 3u32)), Fp2::ONE, "no cube");
    }

    #[test]
    fn the_inverse_by_powers_of_x_is_the_inverse() {
        let machine = residue_ir::Numbers::<Bn254Fp>::new(Vec::new());
        for a in [0, 1, 2, 3, 1 << 40].map(Bn254Fp::from_u64) {
            let inverse = inverse_by_powers_of_x(&machine, a);
            assert_eq!(Some(inverse), if a == Bn254Fp::ZERO { Some(a) } else { a.inverse() });
            assert_eq!(inverse, pow_constant(a, &(modulus() - 2u32)));
        }
    }

    #[test]
    fn p_and_r_follow_from_x() {
        let r = Bn254::FAMILY.order();
        assert_eq!(r, Bn254Fr::modulus());
        assert_eq!(modulus(), r + BigUint::from(X).pow(2) * 6u32);
    }

    /// Elements a + b·ψ of Z[ψ], where ψ² = t·ψ − p for the trace t = 6x² + 1, have the norm a² + a·b·t + b²·p.
    #[test]
    fn the_membership_test_has_no_other_points() {
        let (p, x) = (BigInt::from(modulus()), BigInt::from(X));
        let t: BigInt = &x * &x * 6 + 1;
        let times_psi = |(a, b): &(BigInt, BigInt)| (-(b * &p), a + b * &t);
        let one = (BigInt::from(0), BigInt::from(1));
        let two = times_psi(&one);
        let three = times_psi(&two);
        let a: BigInt = &x * 6 + 2 + &one.0 - &two.0 + &three.0;
        let b: BigInt = &one.1 - &two.1 + &three.1;
        let norm: BigInt = &a * &a + &a * &b * &t + &b * &b * &p;
        let r = BigInt::from(Bn254::FAMILY.order());
        let (mut gcd, mut rest) = (&r * (&p * 2 - &r), norm);
        while rest != BigInt::ZERO {
            (gcd, rest) = (rest.clone(), gcd % rest);
        }
        assert_eq!(gcd, r);
    }
}
