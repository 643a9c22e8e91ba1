//! Keys and proofs of Groth16 in JSON. [`super::form`] has the fields of keys; proofs have `pi_a`, `pi_b`, `pi_c` (snarkjs), `Ar`, `Bs`, `Krs` (gnark) or `a`, `b`, `c`
//! (ZoKrates, garaga), and may stand in an object `proof` beside their inputs.

use super::curve::ProofCurve;
use super::form::{KeyFields, KeyForm};
use super::key::{INPUTS_MAX, Key, Proof};
use super::safety;
pub use crate::keyed::json::inputs;
use crate::keyed::json::{Field, of_proof};
use crate::keyed::points::Curve;
use crate::keyed::unique;
use crate::verifier::KeyError;
use residue_curves::bls12_381::Bls12_381;
use residue_curves::bn254::Bn254;
use residue_formula::Number;
use serde_json::Value;

/// A key in JSON.
#[derive(Debug)]
pub struct KeyFile {
    json: Value,
}

impl KeyFile {
    /// The key in this text.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let json = unique::read(text)?;
        if json.is_object() { Ok(Self { json }) } else { Err(Field::root(&json).shape("an object")) }
    }

    /// True if it is a key on this curve: by the name of the curve, or for keys without one, as gnark's, by whether α
    /// is on it.
    pub fn is_of<C: ProofCurve>(&self) -> Result<bool, KeyError> {
        let root = Field::root(&self.json);
        let name = root.curve();
        match (name.value, name.plain_text()) {
            (Some(_), Some(curve)) if [Bn254::NAMES, Bls12_381::NAMES].concat().contains(&curve.as_str()) => {
                Ok(C::NAMES.contains(&curve.as_str()))
            }
            (Some(_), _) => Err(name.shape("\"bn128\" or \"bls12381\"")),
            (None, _) => match KeyForm::of(&root)?.fields(&root).alpha.point::<C::Number>() {
                Ok(point) => Ok(point.curve_defect(Curve::<C>::new().b) == C::Number::ZERO),
                Err(KeyError::TooLarge { .. }) => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// The key, all of whose points are checked; one for which proofs can be made up is refused.
    pub fn key<C: ProofCurve>(&self) -> Result<Key<C::Number, C>, KeyError> {
        let key = self.any_key()?;
        let root = Field::root(&self.json);
        safety::check(&key, &KeyForm::of(&root)?.fields(&root))?;
        Ok(key)
    }

    /// The same, whether proofs can be made up for it or not.
    pub fn any_key<C: ProofCurve>(&self) -> Result<Key<C::Number, C>, KeyError> {
        let (curve, root) = (Curve::<C>::new(), Field::root(&self.json));
        root.get("protocol").is_one_of(&PROTOCOLS, "\"groth16\"")?;
        root.get("scheme").is_one_of(&["g16"], "\"g16\"")?;
        let form = KeyForm::of(&root)?;
        no_commitments(&root)?;
        let KeyFields { alpha, beta, gamma, delta, ic } = form.fields(&root);
        let points = ic.list("a list of points, of which the first is there without inputs")?;
        if points.is_empty() || points.len() > INPUTS_MAX + 1 {
            return Err(ic.shape("a list of points, one more than inputs, which are 4096 at most"));
        }
        let declared = root.get("nPublic");
        if declared.value.is_some() && declared.number()? != (false, (points.len() - 1).into()) {
            return Err(declared.shape("one less than the points of IC"));
        }
        let alpha = curve.g1(&alpha)?.ok_or(KeyError::Identity { field: alpha.path })?;
        let [beta, gamma, delta] = [curve.g2(&beta)?, curve.g2(&gamma)?, curve.g2(&delta)?];
        let ic = points.iter().map(|point| curve.g1(point)).collect::<Result<_, _>>()?;
        Ok(Key { alpha, beta, gamma, delta, ic })
    }
}

/// Names of the system in files of snarkjs, and in those of versions before 0.4.
const PROTOCOLS: [&str; 2] = ["groth16", "groth"];

/// That a key of gnark is of a circuit without commitments. From 0.11 on `CommitmentKeys` has one for each; from 0.9 on `PublicAndCommitmentCommitted` has an entry
/// for each, and `CommitmentKey` is there without any; in 0.8 `CommitmentInfo` says what is committed to.
fn no_commitments(root: &Field<'_>) -> Result<(), KeyError> {
    let lists = ["PublicAndCommitmentCommitted", "CommitmentInfo"].map(|name| root.get(name));
    let says = lists.iter().any(|list| list.value.is_some());
    for name in root.names().filter(|name| name.contains("Commit")) {
        let field = root.get(name);
        if !(field.is_void() || says && name == "CommitmentKey") {
            return Err(field.shape("an empty list: circuits with commitments have another check"));
        }
    }
    Ok(())
}

/// The proof in this text. Its coordinates are below p; that they are those of points is for the verifier to see.
pub fn proof<C: ProofCurve>(text: &str) -> Result<Proof<C::Number, C>, KeyError> {
    let json = unique::read(text)?;
    let root = Field::root(&json);
    if !json.is_object() {
        return Err(root.shape("an object"));
    }
    root.get("scheme").is_one_of(&["g16"], "\"g16\"")?;
    root.curve().is_one_of(C::NAMES, "the curve of the key")?;
    let proof = of_proof(&root);
    proof.get("protocol").is_one_of(&PROTOCOLS, "\"groth16\"")?;
    proof.curve().is_one_of(C::NAMES, "the curve of the key")?;
    for name in proof.names().filter(|name| name.contains("Commit")) {
        let field = proof.get(name);
        if !field.is_void() {
            return Err(field.shape("empty: the key is of a circuit without commitments"));
        }
    }
    let forms = [["pi_a", "pi_b", "pi_c"], ["Ar", "Bs", "Krs"], ["a", "b", "c"]];
    let named = |names: &&[&str; 3]| names.iter().any(|name| proof.get(name).value.is_some());
    let [a, b, c] = forms.iter().find(named).unwrap_or(&forms[0]).map(|name| proof.get(name));
    Ok(Proof { a: a.point()?, b: b.twist_point()?, c: c.point()? })
}
