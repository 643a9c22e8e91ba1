//! The constants of BLS12-381, computed from p and x by arithmetic on numbers, and lifted into programs.

use super::{Bls12_381, Fp2};
use crate::group::Affine;
use crate::pairing;
use num_bigint::BigUint;
use residue_formula::Number;
use residue_modular::fields::Bls12_381Fp;
use std::sync::LazyLock;

/// |x|; x itself is negative. draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1, t.
pub const X_ABS: u64 = 0xd201_0000_0001_0000;

/// Constants of programs, as canonical values.
#[derive(Debug)]
pub struct Constants {
    /// b = 4 of G1; b′ = 4ξ of G2 has it in both coefficients.
    pub b: BigUint,
    /// β = 2^((p − 1)/3), the cube root of unity with φ(x, y) = (β·x, y) = −x²·(x, y) on G1.
    pub beta: BigUint,
    /// Those of every curve with a pairing. Coordinates are changed by μ with μ⁶ = 1/6, which turns the constant 3b′ = 12ξ of the
    /// doubling step into 2ξ; for sums of products by μ², which makes 9b′ = 36ξ ξ.
    pub pairing: pairing::Constants<Bls12_381>,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let small = |value: u64| Bls12_381Fp::from_u64(value);
    // 1/6 has an order that divides m = (p − 1)/18, which is prime to 6: its sixth root is its power by 1/6 mod m.
    let p_minus_1 = modulus() - 1u32;
    let m = &p_minus_1 / 18u32;
    let sixth = BigUint::from(6u32).modinv(&m).expect("m is prime to 6");
    let mu = small(6).inverse().expect("6 is not zero mod p").pow(&sixth);
    assert_eq!(mu.pow(&6u32.into()) * small(6), small(1), "μ⁶ = 1/6");
    Constants {
        b: small(4).to_canonical(),
        beta: small(2).pow(&(&p_minus_1 / 3u32)).to_canonical(),
        pairing: pairing::Constants::new(Some(mu)).with_sums(mu * mu),
    }
});

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// p.
pub fn modulus() -> BigUint {
    Bls12_381Fp::modulus()
}

/// x and y of the generator of G1. draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1.
const G1_GENERATOR: [&str; 2] = [
    "3685416753713387016781088315183077757961620795782546409894578378688607592378376318836054947676345821548104185464507",
    "1339506544944476473020471379941921221584933875938349620426543736416511423956333506472724655353366534992391756441569",
];

/// The coefficients of x and y of the generator of G2. draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1.
const G2_GENERATOR: [[&str; 2]; 2] = [
    [
        "352701069587466618187139116011060144890029952792775240219908644239793785735715026873347600343865175952761926303160",
        "3059144344244213709971259814753781636986470325476647558659373206291635324768958432433509563104347017837885763365758",
    ],
    [
        "1985150602287291935568054521177171638300868978215655730859378665066344726373823718423869104263333984641494340347905",
        "927553665492332455747201965776037880757740193453592970025027978793976877002675564980949289727957565575433344219582",
    ],
];

/// The generator of G1, as canonical values.
pub fn g1_generator() -> Affine<BigUint> {
    let [x, y] = G1_GENERATOR.map(decimal);
    Affine::new(x, y)
}

/// The generator of G2, as canonical values.
pub fn g2_generator() -> Affine<Fp2<BigUint>> {
    let [x, y] = G2_GENERATOR.map(|[c0, c1]| Fp2::new(decimal(c0), decimal(c1)));
    Affine::new(x, y)
}

fn decimal(digits: &str) -> BigUint {
    digits.parse().expect("a constant of this file is written in decimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_follows_from_x_and_the_cofactors_are_odd_and_coprime() {
        // In terms of z = |x| = −x, to stay with positive numbers.
        let z = BigUint::from(X_ABS);
        let r = z.pow(4) - z.pow(2) + 1u32;
        let h1 = (&z + 1u32).pow(2) / 3u32;
        assert_eq!(modulus(), &h1 * &r - &z);
        // h₂ = (x⁸ − 4x⁷ + 5x⁶ − 4x⁴ + 6x³ − 4x² − 4x + 13)/9.
        let positive = z.pow(8) + z.pow(7) * 4u32 + z.pow(6) * 5u32 + &z * 4u32 + 13u32;
        let h2 = (positive - z.pow(4) * 4u32 - z.pow(3) * 6u32 - z.pow(2) * 4u32) / 9u32;
        assert!(h1.bit(0) && h2.bit(0), "neither curve has points of order two");
        let (mut a, mut b) = (h1, h2);
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        assert_eq!(a, BigUint::from(1u32), "the cofactors are coprime");
    }
}
