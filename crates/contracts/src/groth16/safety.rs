//! Relations between points of a key by which proofs can be made up.
//!
//! A proof holds if A ⊗ B = α ⊗ β + S ⊗ γ + C ⊗ δ, where S is the sum IC₀ + Σ sᵢ·ICᵢ and ⊗ the pairing. Of the points of the key alone it can be made up if the right side
//! is one product for a C that is a sum of known multiples: if two of β, γ and δ, or all three, are in a known linear relation, for any inputs; or if S is a known
//! multiple of α, which may be 0, for those inputs. With the powers of the setup, which are public, α, β and δ must not be known multiples of a generator either (Groth 2016,
//! §3.2); γ may be the generator, and is in keys of snarkjs. `docs/groth16.md` has each with its proof.

use super::curve::ProofCurve;
use super::form::KeyFields;
use super::key::Key;
use crate::keyed::points::Curve;
use crate::keyed::relations::{Ratio, relation_to};
use crate::verifier::KeyError;
use residue_curves::Affine;

const ANY_INPUTS: &str = "proofs of any inputs can be made up";
const FIRST_PHASE: &str =
    "nothing was contributed to the first phase of the setup, and proofs of any inputs can be made up";
const SECOND_PHASE: &str =
    "nothing was contributed to the second phase of the setup, and proofs of any inputs can be made up";
const SOME_INPUTS: &str = "proofs of some inputs can be made up";
const ZEROS: &str = "a proof of inputs that are zero can be made up";
const UNREAD: &str = "proofs hold whatever this input is, as no constraint reads it";
const NOT_APART: &str = "a proof for some inputs holds for others, as no constraint tells these inputs apart";

/// Refuses a key for which proofs can be made up, or proofs of some inputs be used for others.
pub(super) fn check<C: ProofCurve>(key: &Key<C::Number, C>, fields: &KeyFields<'_>) -> Result<(), KeyError> {
    let curve = Curve::<C>::new();
    let (g2, generator) = curve.of_g2();
    let (points, names) = ([key.beta, key.gamma, key.delta], [&fields.beta, &fields.gamma, &fields.delta]);
    let [beta, gamma, delta] = names.map(|field| field.path.as_str());
    // β comes last: if both are known, it is the second phase that a user has forgotten.
    if let Some(number) = g2.multiple(generator, &[key.delta, key.beta]) {
        let (name, point, consequence) = [(delta, key.delta, SECOND_PHASE), (beta, key.beta, FIRST_PHASE)][number];
        let relation = relation_to((name, point), ("the generator of G2", generator));
        let are_both = number == 0 && key.gamma == key.delta;
        let of_both = || format!("{gamma} and {}", relation.replacen(" is ", " are ", 1));
        let relation = if are_both { of_both() } else { relation };
        return Err(KeyError::Unsafe { relation, consequence });
    }
    if let Some(ratio) = g2.ratio(&points) {
        return Err(KeyError::Unsafe {
            relation: of_ratio(ratio, &points, &[beta, gamma, delta]),
            consequence: ANY_INPUTS,
        });
    }
    if g2.sum(&points).is_some() {
        let relation = format!("{beta}, {gamma} and {delta} add up to the identity, but for signs");
        return Err(KeyError::Unsafe { relation, consequence: ANY_INPUTS });
    }
    let (g1, generator) = curve.of_g1();
    let alpha = fields.alpha.path.as_str();
    if g1.multiple(generator, &[key.alpha]).is_some() {
        let relation = relation_to((alpha, key.alpha), ("the generator of G1", generator));
        return Err(KeyError::Unsafe { relation, consequence: FIRST_PHASE });
    }
    let ic = |number: usize| format!("{}[{number}]", fields.ic.path);
    if let Some(number) = key.ic.iter().position(Option::is_none) {
        let relation = format!("{} is the identity", ic(number));
        return Err(KeyError::Unsafe { relation, consequence: if number == 0 { ZEROS } else { UNREAD } });
    }
    let points: Vec<_> = key.ic.iter().flatten().copied().collect();
    let first = [key.alpha, points[0]];
    if let Some(ratio) = g1.ratio(&first) {
        return Err(KeyError::Unsafe { relation: of_ratio(ratio, &first, &[alpha, &ic(0)]), consequence: ZEROS });
    }
    let of_inputs = |numbers: &[usize]| if numbers.contains(&0) { SOME_INPUTS } else { NOT_APART };
    let names: Vec<String> = (0..points.len()).map(ic).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some(ratio) = g1.ratio(&points) {
        return Err(KeyError::Unsafe {
            relation: of_ratio(ratio, &points, &names),
            consequence: of_inputs(&ratio.points),
        });
    }
    if let Some(numbers) = g1.sum(&points) {
        let [first, second, third] = numbers.map(|number| names[number]);
        let relation = format!("{first}, {second} and {third} add up to the identity, but for signs");
        return Err(KeyError::Unsafe { relation, consequence: of_inputs(&numbers) });
    }
    Ok(())
}

/// The second point of a pair as a multiple of the first.
fn of_ratio<K: PartialEq + Copy>(ratio: Ratio, points: &[Affine<K>], names: &[&str]) -> String {
    let [first, second] = ratio.points;
    let relation = relation_to((names[second], points[second]), (names[first], points[first]));
    match ratio.factors {
        [1, 1] => relation,
        [a, 1] => format!("{relation} ({a} times it, but for its sign)"),
        [a, b] => format!("{relation} ({a}/{b} times it, but for its sign)"),
    }
}
