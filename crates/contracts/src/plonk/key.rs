//! Verifying keys and proofs in the JSON of snarkjs.

use super::safety;
use crate::groth16::ProofCurve;
use crate::keyed::json::{Field, of_proof};
use crate::keyed::points::Curve;
use crate::keyed::unique;
use crate::verifier::KeyError;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bn254::Bn254;
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_modular::fields::Bn254Fp;

/// A point of G1; `None` for the identity.
pub type Point = Option<Affine<Bn254Fp>>;

/// A verifying key, whose points are checked.
#[derive(Debug, Clone)]
pub struct Key {
    /// Inputs.
    pub inputs: usize,
    /// The circuit has 2^power gates.
    pub power: u32,
    /// ω, of order 2^power modulo r.
    pub omega: BigUint,
    /// k₁ and k₂, which tell the cosets of wires apart.
    pub k: [BigUint; 2],
    /// Qm, Ql, Qr, Qo and Qc.
    pub q: [Point; 5],
    /// S₁, S₂ and S₃.
    pub s: [Point; 3],
    /// [x]₂.
    pub x: Affine<Fp2<Bn254Fp, Bn254>>,
}

/// A proof: coordinates of A, B, C, Z, T₁, T₂, T₃, Wξ and Wξω, and evaluations of a, b, c, s₁, s₂ and z, as numbers that nothing has checked.
#[derive(Debug, Clone)]
pub struct Proof {
    /// In the order of calldata.
    pub numbers: Vec<BigUint>,
}

/// 2²⁸ divides r − 1, and 2²⁹ does not.
const POWER_MAX: u32 = 28;

/// That the file, if it says of what it is, is of PLONK on BN254.
fn of_this_system(root: &Field<'_>) -> Result<(), KeyError> {
    root.get("protocol").is_one_of(&["plonk"], "\"plonk\"")?;
    root.curve().is_one_of(Bn254::NAMES, "\"bn128\"")
}

/// The key in this text; one for which proofs can be made up, or none can hold, is refused.
pub fn key(text: &str) -> Result<Key, KeyError> {
    let key = any_key(text)?;
    safety::check(&key)?;
    Ok(key)
}

/// The same, whether it is safe or not. Always checked is that the points are in their groups, and that ω, k₁ and k₂ are what they are to be.
pub fn any_key(text: &str) -> Result<Key, KeyError> {
    let json = unique::read(text)?;
    let root = Field::root(&json);
    if !json.is_object() {
        return Err(root.shape("an object"));
    }
    of_this_system(&root)?;
    let r = Bn254::FAMILY.order();
    let scalar = |name: &str| {
        let field = root.get(name);
        match field.number()? {
            (true, _) => Err(field.shape("a number that is not negative")),
            (false, number) if number >= r => Err(field.too_large(&number, "r =", r.clone())),
            (false, number) => Ok(number),
        }
    };
    let small = |name: &str, most: u32, expected: &'static str| {
        let number = u32::try_from(&scalar(name)?).ok().filter(|&number| number <= most);
        number.ok_or_else(|| root.get(name).shape(expected))
    };
    let inputs = small("nPublic", 1024, "a number of inputs, at most 1024")?;
    let power = small("power", POWER_MAX, "the exponent of 2 in the number of gates, at most 28")?;
    if inputs >> power > 0 {
        return Err(root.get("nPublic").shape("fewer inputs than the 2^power gates"));
    }
    let omega = scalar("w")?;
    let half = BigUint::from(1u32) << power.saturating_sub(1);
    let (one, minus_one) = (BigUint::from(1u32), &r - 1u32);
    let expected_of_half = if power == 0 { &one } else { &minus_one };
    if omega.modpow(&half, &r) != *expected_of_half {
        return Err(root.get("w").shape("a root of unity of the order 2^power modulo r"));
    }
    let k = [scalar("k1")?, scalar("k2")?];
    // The three wires are told apart by the cosets of 1, k₁ and k₂.
    let is_in_subgroup = |number: &BigUint| number.modpow(&(BigUint::from(1u32) << power), &r) == one;
    let inverse = k[0].modpow(&(&r - 2u32), &r);
    for (name, number) in [("k1", k[0].clone()), ("k2", k[1].clone()), ("k2", &k[1] * inverse % &r)] {
        if number == BigUint::ZERO || is_in_subgroup(&number) {
            return Err(root.get(name).shape("a number that has a coset of the roots of unity for itself"));
        }
    }
    let curve = Curve::<Bn254>::new();
    let point = |name: &str| curve.g1(&root.get(name));
    Ok(Key {
        inputs: inputs as usize, // u32 to usize widens
        power,
        omega,
        k,
        q: [point("Qm")?, point("Ql")?, point("Qr")?, point("Qo")?, point("Qc")?],
        s: [point("S1")?, point("S2")?, point("S3")?],
        x: curve.g2(&root.get("X_2"))?,
    })
}

/// The proof in this text.
pub fn proof(text: &str) -> Result<Proof, KeyError> {
    let json = unique::read(text)?;
    let root = Field::root(&json);
    if !json.is_object() {
        return Err(root.shape("an object"));
    }
    of_this_system(&root)?;
    let proof = of_proof(&root);
    of_this_system(&proof)?;
    let mut numbers = Vec::new();
    for name in ["A", "B", "C", "Z", "T1", "T2", "T3", "Wxi", "Wxiw"] {
        let Affine { x, y } = proof.get(name).point::<Bn254Fp>()?;
        numbers.extend([x, y].map(residue_formula::Number::to_canonical));
    }
    let r = Bn254::FAMILY.order();
    for name in ["eval_a", "eval_b", "eval_c", "eval_s1", "eval_s2", "eval_zw"] {
        let field = proof.get(name);
        match field.number()? {
            (true, _) => return Err(field.shape("a number that is not negative")),
            (false, number) if number >= r => return Err(field.too_large(&number, "r =", r)),
            (false, number) => numbers.push(number),
        }
    }
    Ok(Proof { numbers })
}
