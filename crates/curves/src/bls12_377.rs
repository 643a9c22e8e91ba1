//! BLS12-377: its constants and its two groups; it has a [`pairing`](crate::pairing).
//!
//! p(x) = (x − 1)²·(x⁴ − x² + 1)/3 + x and r(x) = x⁴ − x² + 1 at x = 0x8508c00000000001. G1 is the subgroup of order r of y² = x³ + 1 over
//! Fp, G2 that of the twist y² = x³ + 1/√−5 over Fp2; EIP-2539, “Specification”, after Bowe et al. 2018 (2018/962), §6. The twist has an
//! odd number of points. The curve has points of order two, one of which is (−1, 0).
//!
//! EIP-2539 makes Fp2 with √−5. Here it has the golden ratio u, see [`Tower::IS_GOLDEN`]: √−5 = √−1·√5 = √−1·(2u − 1), as −1 is a square in Fp.
//! [`from_eip_2539`] and [`to_eip_2539`] change the basis.

use crate::bls12::{Bls12, power};
use crate::conditions::{Conditions, all_vanish};
use crate::fixed_base::multiple;
use crate::group::{Affine, Projective};
use crate::pairing::{self, Family, PairingCurve, Twist, psi};
use crate::tower::{self, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_ir::Machine;
use residue_modular::fields::Bls12_377Fp;
use std::sync::LazyLock;

/// x. EIP-2539, “Specification”.
pub const X: u64 = 0x8508_c000_0000_0001;

/// The curve, as a parameter of towers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bls12_377;

/// Fp2 of this curve.
pub type Fp2<F> = tower::Fp2<F, Bls12_377>;
/// Fp12 of this curve.
pub type Fp12<F> = tower::Fp12<F, Bls12_377>;

/// u² = u + 1 and ξ = 2 + u = u·√5: u is a sixth power in Fp2, so that ξ is in the class of √−5.
impl Tower for Bls12_377 {
    const N: u32 = 5;
    const IS_GOLDEN: bool = true;
    const K: u32 = 2;
}

/// Constants of programs, as canonical values.
#[derive(Debug)]
pub struct Constants {
    /// b = 1 of G1.
    pub b: BigUint,
    /// β, the cube root of unity with φ(x, y) = (β·x, y) = −x²·(x, y) on G1.
    pub beta: BigUint,
    /// √−1, as 5^((p − 1)/4).
    pub i: BigUint,
    /// 1/2.
    pub half: BigUint,
    /// b′ = 1/√−5 of G2.
    pub twist_b: Fp2<BigUint>,
    /// √12.
    pub root_of_12: BigUint,
    /// 3/5: 3b″ = 3/ξ = (3/5)·(3 − u) on the twist of the loop.
    pub three_fifths: BigUint,
    /// Those of every curve with a pairing.
    pub pairing: pairing::Constants<Bls12_377>,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let small = Bls12_377Fp::from_u64;
    let inverse = |a: Bls12_377Fp| a.inverse().expect("a small number is not zero mod p");
    let p_minus_1 = modulus() - 1u32;
    let i = small(5).pow(&(&p_minus_1 / 4u32));
    let root_of_minus_5 = from_basis(small(0), small(1), i);
    // Of the two cube roots of unity the one with β + 1 = −β², of which −x² is a multiple on G1; see the test.
    let beta = small(2).pow(&(&p_minus_1 / 3u32));
    Constants {
        b: small(1).to_canonical(),
        beta: beta.to_canonical(),
        i: i.to_canonical(),
        half: inverse(small(2)).to_canonical(),
        twist_b: root_of_minus_5.inverse().expect("−5 is not zero").to_canonical(),
        root_of_12: digits(ROOT_OF_12).to_canonical(),
        three_fifths: (small(3) * inverse(small(5))).to_canonical(),
        pairing: pairing::Constants::with_twist_alone(kappa()),
    }
});

/// √12, which is tested.
const ROOT_OF_12: &str =
    "61134141799337779744243169579317764548490943457438569789767076791016838392692895365021181670618017873462480451586";

/// κ of [`pairing::Scale::TwistAlone`]: κ⁶ = √−5/ξ, which is tested. It has six values; another one changes pairing values by an exponent
/// prime to r.
fn kappa() -> Fp2<Bls12_377Fp> {
    let [c0, c1] = [
        "165445892813790005958569119111971890039051522129369147915026663935183882880696954602116077590067432685843716198400",
        "60009248930193249982283837758659955719468675063590850880339896850559046837698348209134751045982378489221514602259",
    ]
    .map(digits);
    Fp2::new(c0, c1)
}

fn digits(digits: &str) -> Bls12_377Fp {
    digits.parse().ok().and_then(|value| Bls12_377Fp::from_canonical(&value)).expect("these are digits of an element")
}

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// p.
pub fn modulus() -> BigUint {
    Bls12_377Fp::modulus()
}

/// The generator of G1. EIP-2539, “Specification”.
pub fn g1_generator() -> Affine<BigUint> {
    let [x, y] = [
        "8848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9ef",
        "1914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6",
    ]
    .map(hexadecimal);
    Affine::new(x, y)
}

/// The generator of G2, as EIP-2539 writes it: c0 and c1 of x and y for √−5.
pub fn g2_generator() -> [[BigUint; 2]; 2] {
    [
        [
            "18480be71c785fec89630a2a3841d01c565f071203e50317ea501f557db6b9b71889f52bb53540274e3e48f7c005196",
            "ea6040e700403170dc5a51b1b140d5532777ee6651cecbe7223ece0799c9de5cf89984bff76fe6b26bfefa6ea16afe",
        ],
        [
            "690d665d446f7bd960736bcbb2efb4de03ed7274b49a58e458c282f832d204f2cf88886d8c7c2ef094094409fd4ddf",
            "f8169fd28355189e549da3151a70aa61ef11ac3d591bf12463b01acee304c24279b83f5e52270bd9a1cdd185eb8f93",
        ],
    ]
    .map(|pair| pair.map(hexadecimal))
}

fn hexadecimal(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("these are digits")
}

/// k·G for the generator of G1 and 0 < k < r, as a constant.
pub fn g1_multiple<M: Machine>(machine: &M, k: &BigUint) -> Affine<M::Fe> {
    let Affine { x, y } = g1_generator();
    let Affine { x, y } = multiple(number(&constants().pairing.three_halves), k, Affine::new(number(&x), number(&y)));
    Affine::new(machine.constant(&x.to_canonical()), machine.constant(&y.to_canonical()))
}

/// The same for the generator of G2.
pub fn g2_multiple<M: Machine>(machine: &M, k: &BigUint) -> Affine<Fp2<M::Fe>> {
    let [x, y] = g2_generator().map(|[c0, c1]| from_basis(number(&c0), number(&c1), number(&constants().i)));
    let Affine { x, y } = multiple(number(&constants().pairing.three_halves), k, Affine::new(x, y));
    Affine::new(x.to_canonical().lift(machine), y.to_canonical().lift(machine))
}

fn number(value: &BigUint) -> Bls12_377Fp {
    Bls12_377Fp::from_canonical(value).expect("constants are below p")
}

/// (c0, c1, √−1) ↦ c0 + c1·√−5.
fn from_basis<F: Fe>(c0: F, c1: F, i: F) -> Fp2<F> {
    let half = c1 * i; //                             c1·√−5 = c1·√−1·(2u − 1)
    Fp2::new(c0 - half, half.double())
}

/// The element that EIP-2539 writes as c0 + c1·√−5.
pub fn from_eip_2539<M: Machine>(machine: &M, c0: M::Fe, c1: M::Fe) -> Fp2<M::Fe> {
    from_basis(c0, c1, machine.constant(&constants().i))
}

/// c0 and c1 of the element.
pub fn to_eip_2539<M: Machine>(machine: &M, a: Fp2<M::Fe>) -> [M::Fe; 2] {
    // a1·u = a1/2 + (a1/2)·√5, and √5 = −√−1·√−5.
    let half = a.c1 * machine.constant(&constants().half);
    [a.c0 + half, -(half * machine.constant(&constants().i))]
}

/// a ↦ a⁻¹ in Fp, by an instruction where there is one; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power)
}

/// a ↦ a⁻¹ = a^(p − 2) in Fp, as a function; 0 ↦ 0.
fn inverse_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.function("fp_inverse", a, |machine, a| power::<M, Bls12_377>(machine, a, &(modulus() - 2u32)))
}

/// y² − x³ − 1: zero exactly if the point lies on the curve.
pub fn g1_curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    point.curve_defect(machine.constant(&constants().b))
}

/// Zero exactly if the point lies on the twist y² = x³ + 1/√−5.
pub fn g2_curve_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Fe {
    let defect = point.curve_defect(constants().twist_b.lift(machine));
    all_vanish(&[defect.c0, defect.c1])
}

impl Bls12 for Bls12_377 {
    fn b() -> &'static BigUint {
        &constants().b
    }

    fn beta() -> &'static BigUint {
        &constants().beta
    }
}

impl PairingCurve for Bls12_377 {
    const FAMILY: Family = Family::Bls { x_abs: X, x_is_negative: false };
    const TWIST: Twist = Twist::D;
    const PAIRS: usize = 7; // with eight the pairing check has more than 24 576 bytes of code

    fn constants() -> &'static pairing::Constants<Self> {
        &constants().pairing
    }

    fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    /// On the twist of the loop 3b″ = 3/ξ = (3/5)·(3 − u).
    fn times_3b<M: Machine>(machine: &M, a: Fp2<M::Fe>) -> Fp2<M::Fe> {
        let difference = a.c1 - a.c0; // (3 − u)(a0 + a1·u) = 3a0 − a1 + (2a1 − a0)·u
        Fp2::new(a.c0.double() - difference, a.c1 + difference).scale(machine.constant(&constants().three_fifths))
    }

    fn root_of_12() -> Option<&'static BigUint> {
        Some(&constants().root_of_12)
    }

    /// ψ(Q) = x·Q. As ψ² − (x + 1)·ψ + p = 0 on the whole twist, this gives (p − x)·Q = h₁·r·Q = 0; the twist has h₂·r points and the
    /// cofactors are coprime (tested below), so r·Q = 0 (Scott 2021, 2021/1130, with the argument of El Housni, Guillevic and Piellard
    /// 2022, 2022/352). If Q is in G2 no step meets an exceptional case: so Z ≠ 0.
    fn membership_from_multiple<M: Machine>(
        machine: &M,
        q: Affine<Fp2<M::Fe>>,
        multiple: Projective<Fp2<M::Fe>>,
    ) -> Conditions<M::Fe> {
        let Projective { x, y, z } = multiple;
        let image = psi(machine, q);
        let z_multiplicand = z.multiplicand();
        let dx = x - image.x * z_multiplicand; //   X = ψ(Q).x·Z
        let dy = y - image.y * z_multiplicand; //   Y = ψ(Q).y·Z
        Conditions { vanishing: all_vanish(&[dx.c0, dx.c1, dy.c0, dy.c1]), invertible: z.norm() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_small(c0: u64, c1: u64) -> Fp2<Bls12_377Fp> {
        Fp2::new(Bls12_377Fp::from_u64(c0), Bls12_377Fp::from_u64(c1))
    }

    #[test]
    fn roots_are_roots() {
        let element = |value: &BigUint| Bls12_377Fp::from_canonical(value).unwrap();
        let i = element(&constants().i);
        assert_eq!(i * i, -Bls12_377Fp::ONE);
        let root = from_basis(Bls12_377Fp::ZERO, Bls12_377Fp::ONE, i);
        assert_eq!(root.square(), -of_small(5, 0));
        let xi = of_small(2, 1);
        assert_eq!(kappa().pow(&6u32.into()) * xi, root);
        assert_eq!(element(&constants().root_of_12).square(), Bls12_377Fp::from_u64(12));
        let fields = modulus().pow(2) - 1u32;
        assert_ne!(xi.pow(&(&fields / 2u32)), Fp2::ONE, "no square");
        assert_ne!(xi.pow(&(fields / 3u32)), Fp2::ONE, "no cube");
        let beta = element(&constants().beta);
        assert_eq!(beta.square() + beta + Bls12_377Fp::ONE, Bls12_377Fp::ZERO);
    }

    #[test]
    fn p_and_r_follow_from_x_and_the_cofactors_are_coprime() {
        let x = BigUint::from(X);
        let r = Bls12_377::FAMILY.order();
        let h1 = (&x - 1u32).pow(2) / 3u32;
        assert_eq!(modulus(), &h1 * &r + &x);
        let positive = x.pow(8) + x.pow(6) * 5u32 + x.pow(3) * 6u32 + 13u32;
        let h2 = (positive - x.pow(7) * 4u32 - x.pow(4) * 4u32 - x.pow(2) * 4u32 - &x * 4u32) / 9u32;
        assert!(h2.bit(0), "the twist has no points of order two");
        let (mut a, mut b) = (h1, h2);
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        assert_eq!(a, BigUint::from(1u32));
    }
}
