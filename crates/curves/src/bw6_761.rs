//! BW6-761: its constants, its two groups and its pairing. El Housni and Guillevic 2020 (2020/351); EIP-3026, “Specification”.
//!
//! Its order r is p of BLS12-377, with u = x of that curve, so that proofs on that curve are checked on this one. G1 is the subgroup of order r of y² = x³ − 1 over Fp, G2 that of the
//! twist y² = x³ + 4, over Fp too: (x, y) ↦ (x/w², y/w³) with w⁶ = −4 brings it to the first curve over Fp6.
//!
//! Fp6 is `Fp2[v] / (v³ − 2)` over Fp2 = Fp[i], i² = −1: w is −i·v, so that w² = −v² and w³ = 2i.

pub mod final_exponentiation;
pub mod fp6;
pub mod miller;

pub use final_exponentiation::is_final_exponentiation_one;
pub use fp6::Fp6;

use crate::base_chain::pow_in_base;
use crate::bls12_377;
use crate::conditions::{Conditions, all_vanish};
use crate::fixed_base::multiple;
use crate::group::{Affine, Jacobian};
use crate::ladder::ladder;
use crate::side_by_side::multiply_all;
use crate::tower::{self, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::Machine;
use residue_modular::fields::Bw6_761Fp;
use std::sync::LazyLock;

/// u, the x of BLS12-377.
pub const U: u64 = bls12_377::X;

/// The curve, as a parameter of towers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bw6_761;

/// Fp2 of this curve.
pub type Fp2<F> = tower::Fp2<F, Bw6_761>;

/// u² = −1 and v³ = 2; there is no Fp12.
impl Tower for Bw6_761 {
    const N: u32 = 1;
    const K: u32 = 0;
    const CUBE: Option<u32> = Some(2);
}

/// Constants of programs, as canonical values.
#[derive(Debug)]
pub struct Constants {
    /// b = −1 of G1.
    pub b: BigUint,
    /// b′ = 4 of G2.
    pub twist_b: BigUint,
    /// β = 2^((p − 1)/3), a cube root of one: vᵖ = β·v, and ψ(x, y) = (β·x, −y) is multiplication by p on G2.
    pub beta: BigUint,
    /// β²; φ(x, y) = (β²·x, −y) is multiplication by p on G1 too.
    pub beta_squared: BigUint,
    /// 3/2.
    pub three_halves: BigUint,
    /// 1/3.
    pub third: BigUint,
    /// μ² and μ³, μ⁶ = −1/12: (x, y) ↦ (μ²x, μ³y) makes 3b′ = −1 for the steps of the loop.
    pub mu_squared: BigUint,
    /// See above.
    pub mu_cubed: BigUint,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let small = Bw6_761Fp::from_u64;
    let inverse = |a: Bw6_761Fp| a.inverse().expect("a small number is not zero mod p");
    let p_minus_1 = modulus() - 1u32;
    let beta = small(2).pow(&(&p_minus_1 / 3u32));
    // −1/12 is a sixth power: its order divides (p − 1)/6, which is prime to 6.
    let m = &p_minus_1 / 6u32;
    let sixth = BigUint::from(6u32).modinv(&m).expect("m is prime to 6");
    let mu = (-inverse(small(12))).pow(&sixth);
    assert_eq!(mu.pow(&6u32.into()) * small(12), -small(1), "μ⁶ = −1/12");
    Constants {
        b: p_minus_1.clone(),
        twist_b: small(4).to_canonical(),
        beta: beta.to_canonical(),
        beta_squared: (beta * beta).to_canonical(),
        three_halves: (small(3) * inverse(small(2))).to_canonical(),
        third: inverse(small(3)).to_canonical(),
        mu_squared: (mu * mu).to_canonical(),
        mu_cubed: (mu * mu * mu).to_canonical(),
    }
});

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// p.
pub fn modulus() -> BigUint {
    Bw6_761Fp::modulus()
}

/// r.
pub fn order() -> BigUint {
    bls12_377::modulus()
}

/// The generator of G1. EIP-3026, “Specification”.
pub fn g1_generator() -> Affine<BigUint> {
    let [x, y] = [
        "1075b020ea190c8b277ce98a477beaee6a0cfb7551b27f0ee05c54b85f56fc779017ffac15520ac11dbfcd294c2e746a17a54ce47729b905bd71fa0c9ea097103758f9a280ca27f6750dd0356133e82055928aca6af603f4088f3af66e5b43d",
        "58b84e0a6fc574e6fd637b45cc2a420f952589884c9ec61a7348d2a2e573a3265909f1af7e0dbac5b8fa1771b5b806cc685d31717a4c55be3fb90b6fc2cdd49f9df141b3053253b2b08119cad0fb93ad1cb2be0b20d2a1bafc8f2db4e95363",
    ]
    .map(hexadecimal);
    Affine::new(x, y)
}

/// The generator of G2. EIP-3026, “Specification”.
pub fn g2_generator() -> Affine<BigUint> {
    let [x, y] = [
        "110133241d9b816c852a82e69d660f9d61053aac5a7115f4c06201013890f6d26b41c5dab3da268734ec3f1f09feb58c5bbcae9ac70e7c7963317a300e1b6bace6948cb3cd208d700e96efbc2ad54b06410cf4fe1bf995ba830c194cd025f1c",
        "17c3357761369f8179eb10e4b6d2dc26b7cf9acec2181c81a78e2753ffe3160a1d86c80b95a59c94c97eb733293fef64f293dbd2c712b88906c170ffa823003ea96fcd504affc758aa2d3a3c5a02a591ec0594f9eac689eb70a16728c73b61",
    ]
    .map(hexadecimal);
    Affine::new(x, y)
}

/// k·G for the generator of G1 and 0 < k < r, as a constant.
pub fn g1_multiple<M: Machine>(machine: &M, k: &BigUint) -> Affine<M::Fe> {
    constant_multiple(machine, k, &g1_generator())
}

/// The same for the generator of G2.
pub fn g2_multiple<M: Machine>(machine: &M, k: &BigUint) -> Affine<M::Fe> {
    constant_multiple(machine, k, &g2_generator())
}

fn constant_multiple<M: Machine>(machine: &M, k: &BigUint, Affine { x, y }: &Affine<BigUint>) -> Affine<M::Fe> {
    let number = |value: &BigUint| Bw6_761Fp::from_canonical(value).expect("constants are below p");
    let Affine { x, y } = multiple(number(&constants().three_halves), k, Affine::new(number(x), number(y)));
    Affine::new(machine.constant(&x.to_canonical()), machine.constant(&y.to_canonical()))
}

fn hexadecimal(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits")
}

/// (a, e) ↦ aᵉ in Fp, for exponents that are short in base u.
fn power<M: Machine>(machine: &M, a: M::Fe, exponent: &BigUint) -> M::Fe {
    pow_in_base(a, exponent, U, |a| {
        machine.function("fp_power_of_u", a, |_, a| {
            let squarings = |(): &(), count, power: M::Fe| (0..count).fold(power, |power, _| power.square());
            ladder(&(), U, a, squarings, |(), power| power * a)
        })
    })
}

/// a ↦ a⁻¹ in Fp, by an instruction where there is one; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power)
}

/// a ↦ a⁻¹ = a^(p − 2) in Fp, as a function; 0 ↦ 0.
fn inverse_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("fp_inverse", a, |machine, a| power(machine, a, &(modulus() - 2u32)))
}

/// y² − x³ + 1: zero exactly if the point lies on the curve.
pub fn g1_curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    point.curve_defect(machine.constant(&constants().b))
}

/// y² − x³ − 4: zero exactly if the point lies on the twist.
pub fn g2_curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    point.curve_defect(machine.constant(&constants().twist_b))
}

/// Conditions that hold exactly if `point` lies on the curve and in G1: (u + 1)·P + (u³ − u² − u)·φ(P) = 0 for φ(x, y)
/// = (β²·x, −y).
///
/// Exact for every pair of field elements. If the conditions hold then P is on the curve and both Z ≠ 0, so the multiples were computed without an exceptional case (see
/// [`crate::group`]). As φ² − φ + 1 = 0 on the whole curve, N·P = 0 for the norm N = a² + a·b + b² of a + b·φ; N is 3r, and r is its greatest common divisor with the number of
/// points (tested below), so r·P = 0. There is one subgroup of order r. If P is in G1 (and not the identity), then all additions are of multiples k·P and l·P with
/// k ≠ ±l modulo r: so Z ≠ 0, and the equation holds. The vector is that of the optimal ate pairing, 2020/351, §3.3; the argument is that of El Housni, Guillevic and
/// Piellard 2022 (2022/352).
pub fn g1_membership<M: Machine>(machine: &M, point: Affine<M::Fe>) -> Conditions<M::Fe> {
    let times_u = |point| multiply_all(machine, U, &constants().three_halves, Jacobian::of([point]), 4).alone();
    let one = times_u(point.to_jacobian(machine.one())); //                 u·P
    let two = times_u(one); //                                              u²·P
    let b = times_u((two + one.addend().negated()).subtract_mixed(point)); // (u³ − u² − u)·P
    let a = one.add_mixed(point); //                                        (u + 1)·P
    let (aa, bb) = (a.z.square(), b.z.square());
    let dx = b.x * machine.constant(&constants().beta_squared) * aa - a.x * bb; // φ(b·P) = −a·P
    let dy = b.y * (aa * a.z) - a.y * (bb * b.z);
    let defect = g1_curve_defect(machine, point);
    Conditions { vanishing: all_vanish(&[dx, dy, defect]), invertible: a.z * b.z }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of points of the curve and of the twist: p + 1 − t with traces t of CM discriminant −3, 4p = t² + 3y², 2020/351, §3.1.
    fn points() -> [BigUint; 2] {
        let h = |cofactor: &str| hexadecimal(cofactor) * order();
        [
            h("ad1972339049ce762c77d5ac34cb12efc856a0853c9db94cc61c554757551c0c832ba4061000003b3de580000000007c"),
            h("ad1972339049ce762c77d5ac34cb12efc856a0853c9db94cc61c554757551c0c832ba4061000003b3de5800000000075"),
        ]
    }

    fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
        let (mut a, mut b) = (a.clone(), b.clone());
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        a
    }

    #[test]
    fn the_membership_tests_have_no_other_points() {
        let u = BigUint::from(U);
        let (a, b) = (&u + 1u32, u.pow(3) - u.pow(2) - &u);
        let norm = a.pow(2) + &a * &b + b.pow(2);
        assert_eq!(norm, order() * 3u32);
        let [curve, twist] = points();
        assert_eq!(gcd(&norm, &curve), order());
        assert_eq!(gcd(&norm, &twist), order() * 3u32);
        for number in [&curve, &twist] {
            assert_ne!(number / order() % order(), BigUint::ZERO, "one subgroup of order r");
        }
        assert_ne!(&twist % 9u32, BigUint::ZERO);
        assert!(twist.bit(0) && !curve.bit(0));
        // Both within Hasse's bounds.
        for number in [curve, twist] {
            let p1 = modulus() + 1u32;
            let t = if number > p1 { number - &p1 } else { p1 - number };
            assert!(t.pow(2) <= modulus() * 4u32);
        }
    }

    #[test]
    fn the_nonresidues_are_none() {
        let p_minus_1 = modulus() - 1u32;
        let small = Bw6_761Fp::from_u64;
        assert_eq!((-small(1)).pow(&(&p_minus_1 / 2u32)), -small(1), "−1 is no square");
        assert_ne!(small(2).pow(&(p_minus_1 / 3u32)), small(1), "2 is no cube");
    }
}
