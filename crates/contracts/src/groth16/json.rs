//! Keys and proofs of Groth16 in the JSON of snarkjs and of gnark.
//!
//! snarkjs: `vk_alpha_1`, `vk_beta_2`, `vk_gamma_2`, `vk_delta_2` and `IC`; `pi_a`, `pi_b`, `pi_c`. gnark: `G1.Alpha`, `G1.K`, `G2.Beta`, `G2.Gamma` and
//! `G2.Delta`; `Ar`, `Bs`, `Krs`.

use super::curve::ProofCurve;
use super::key::{INPUTS_MAX, Key, Proof};
use crate::keyed::json::Field;
pub use crate::keyed::json::inputs;
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

    fn is_gnark(&self) -> bool {
        self.json.get("G1").is_some() || self.json.get("G2").is_some()
    }

    /// Whether it is a key on this curve: by the name of the curve, or else by whether α is on it, as keys of gnark do not say.
    pub fn is_of<C: ProofCurve>(&self) -> Result<bool, KeyError> {
        let root = Field::root(&self.json);
        let name = root.get("curve");
        match name.value {
            Some(Value::String(curve)) => {
                let curve = curve.to_lowercase();
                let known = [Bn254::NAMES, Bls12_381::NAMES].concat();
                if !known.contains(&curve.as_str()) {
                    return Err(name.shape("\"bn128\" or \"bls12381\""));
                }
                Ok(C::NAMES.contains(&curve.as_str()))
            }
            Some(_) => Err(name.shape("\"bn128\" or \"bls12381\"")),
            None => {
                let alpha = if self.is_gnark() { root.get("G1").get("Alpha") } else { root.get("vk_alpha_1") };
                Ok(match alpha.point::<C::Number>() {
                    Ok(point) => point.curve_defect(Curve::<C>::new().b) == C::Number::ZERO,
                    Err(KeyError::TooLarge { .. }) => false,
                    Err(error) => return Err(error),
                })
            }
        }
    }

    /// The key, all of whose points are checked.
    pub fn key<C: ProofCurve>(&self) -> Result<Key<C::Number, C>, KeyError> {
        let (curve, root) = (Curve::<C>::new(), Field::root(&self.json));
        let [alpha, beta, gamma, delta, ic] = if self.is_gnark() {
            for list in ["CommitmentKeys", "PublicAndCommitmentCommitted"] {
                let field = root.get(list);
                let is_empty = field.value.is_none_or(|value| value.is_null() || value == &Value::Array(Vec::new()));
                if !is_empty {
                    return Err(field.shape("an empty list: circuits with commitments have another check"));
                }
            }
            let (g1, g2) = (root.get("G1"), root.get("G2"));
            [g1.get("Alpha"), g2.get("Beta"), g2.get("Gamma"), g2.get("Delta"), g1.get("K")]
        } else {
            root.is_one_of("protocol", &["groth16"], "\"groth16\"")?;
            ["vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"].map(|name| root.get(name))
        };
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

/// The proof in this text. Its coordinates are below p; that they are those of points is for the verifier to see.
pub fn proof<C: ProofCurve>(text: &str) -> Result<Proof<C::Number, C>, KeyError> {
    let json = unique::read(text)?;
    let root = Field::root(&json);
    if !json.is_object() {
        return Err(root.shape("an object"));
    }
    root.is_one_of("protocol", &["groth16"], "\"groth16\"")?;
    root.is_one_of("curve", C::NAMES, "the curve of the key")?;
    let names = if json.get("Ar").is_some() { ["Ar", "Bs", "Krs"] } else { ["pi_a", "pi_b", "pi_c"] };
    let [a, b, c] = names.map(|name| root.get(name));
    Ok(Proof { a: a.point()?, b: b.twist_point()?, c: c.point()? })
}
