//! Keys, proofs and inputs in the JSON of snarkjs and of gnark.
//!
//! snarkjs: `vk_alpha_1`, `vk_beta_2`, `vk_gamma_2`, `vk_delta_2` and `IC`, points as lists of decimal numbers in strings, homogeneous with z = 1, or 0 for the
//! identity; `pi_a`, `pi_b`, `pi_c`. gnark: `G1.Alpha`, `G1.K`, `G2.Beta`, `G2.Gamma`, `G2.Delta` with `X` and `Y`, in G2 with `A0` and `A1`, where
//! small numbers may stand without quotes or be negative, and all zeros are the identity; `Ar`, `Bs`, `Krs`.

use super::curve::ProofCurve;
use super::key::{INPUTS_MAX, Key, KeyError, Proof, is_in_subgroup};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::Bls12_381;
use residue_curves::bn254::Bn254;
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_formula::Number;
use serde_json::Value;

/// A value with its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    path: String,
    pub(crate) value: Option<&'a Value>,
}

impl<'a> Field<'a> {
    pub(crate) const fn root(value: &'a Value) -> Self {
        Self { path: String::new(), value: Some(value) }
    }

    pub(crate) fn get(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { path: format!("{}{dot}{name}", self.path), value: self.value.and_then(|value| value.get(name)) }
    }

    fn at(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), value: self.value.and_then(|value| value.get(index)) }
    }

    pub(crate) fn shape(&self, expected: &'static str) -> KeyError {
        let found = self.value.map_or_else(|| "missing".to_owned(), shown);
        let field = if self.path.is_empty() { "the file".to_owned() } else { self.path.clone() };
        KeyError::Shape { field, found, expected }
    }

    fn list(&self, expected: &'static str) -> Result<Vec<Self>, KeyError> {
        let Some(Value::Array(values)) = self.value else { return Err(self.shape(expected)) };
        Ok((0..values.len()).map(|index| self.at(index)).collect())
    }

    /// A number that is not negative, or minus that number if the sign is true.
    pub(crate) fn number(&self) -> Result<(bool, BigUint), KeyError> {
        let expected = "a decimal number";
        let text = match self.value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) if number.is_i64() || number.is_u64() => number.to_string(),
            _ => return Err(self.shape(expected)),
        };
        let (is_negative, digits) = text.strip_prefix('-').map_or((false, text.as_str()), |digits| (true, digits));
        let (radix, digits) = digits.strip_prefix("0x").map_or((10, digits), |digits| (16, digits));
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        let number = is_number.then(|| BigUint::parse_bytes(digits.as_bytes(), radix)).flatten();
        Ok((is_negative, number.ok_or_else(|| self.shape(expected))?))
    }

    pub(crate) fn too_large(&self, value: &BigUint, what: &'static str, limit: BigUint) -> KeyError {
        KeyError::TooLarge { field: self.path.clone(), value: value.to_string(), what, limit }
    }

    fn element<N: Number>(&self) -> Result<N, KeyError> {
        let (is_negative, number) = self.number()?;
        let element = N::from_canonical(&number).ok_or_else(|| self.too_large(&number, "p =", N::modulus()))?;
        Ok(if is_negative { -element } else { element })
    }

    /// Of snarkjs: the number of coordinates that say where a point is, 0 for the identity.
    fn z(&self, one: &[&str]) -> Result<bool, KeyError> {
        let expected = "1 or 0 as z";
        if self.value.is_none() {
            return Ok(true);
        }
        let fields = if one.len() == 1 { vec![self.clone()] } else { self.list(expected)? };
        if fields.len() != one.len() {
            return Err(self.shape(expected));
        }
        let numbers = fields.iter().map(Field::number).collect::<Result<Vec<_>, _>>()?;
        let are = |wanted: &dyn Fn(usize) -> u32| {
            numbers.iter().enumerate().all(|(at, (sign, number))| !sign && *number == BigUint::from(wanted(at)))
        };
        if are(&|at| u32::from(one[at] == "1")) {
            Ok(true)
        } else if are(&|_| 0) {
            Ok(false)
        } else {
            Err(self.shape(expected))
        }
    }

    /// A point over Fp in either form; (0, 0) for the identity.
    pub(crate) fn point<N: Number>(&self) -> Result<Affine<N>, KeyError> {
        if let Some(Value::Object(_)) = self.value {
            return Ok(Affine::new(self.get("X").element()?, self.get("Y").element()?));
        }
        self.list("a point")?;
        let point = Affine::new(self.at(0).element()?, self.at(1).element()?);
        Ok(if self.at(2).z(&["1"])? { point } else { Affine::new(N::ZERO, N::ZERO) })
    }

    /// A point over Fp2 in either form; (0, 0) for the identity.
    fn twist_point<N: Number, C: PairingCurve>(&self) -> Result<Affine<Fp2<N, C>>, KeyError> {
        if let Some(Value::Object(_)) = self.value {
            let fp2 = |field: Self| Ok::<_, KeyError>(Fp2::new(field.get("A0").element()?, field.get("A1").element()?));
            return Ok(Affine::new(fp2(self.get("X"))?, fp2(self.get("Y"))?));
        }
        self.list("a point")?;
        let fp2 = |field: Self| {
            field.list("a list of two numbers")?;
            Ok::<_, KeyError>(Fp2::new(field.at(0).element()?, field.at(1).element()?))
        };
        let point = Affine::new(fp2(self.at(0))?, fp2(self.at(1))?);
        let zero = Fp2::new(N::ZERO, N::ZERO);
        Ok(if self.at(2).z(&["1", "0"])? { point } else { Affine::new(zero, zero) })
    }
}

/// A value as messages show it: a long one by its kind.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(_) => "an object".to_owned(),
        _ => value.to_string(),
    }
}

/// What points of a curve are checked by.
pub(crate) struct Curve<C: ProofCurve> {
    b: C::Number,
    twist_b: Fp2<C::Number, C>,
}

impl<C: ProofCurve> Curve<C> {
    pub(crate) fn new() -> Self {
        let element = |value| C::Number::from_canonical(value).expect("constants are below p");
        let twist_b = C::twist_b();
        Self { b: element(C::b()), twist_b: Fp2::new(element(&twist_b.c0), element(&twist_b.c1)) }
    }

    /// The point of G1 at `field`; `None` for the identity.
    pub(crate) fn g1(&self, field: &Field<'_>) -> Result<Option<Affine<C::Number>>, KeyError> {
        let point: Affine<C::Number> = field.point()?;
        if point == Affine::new(C::Number::ZERO, C::Number::ZERO) {
            return Ok(None);
        }
        let shown = || (point.x.to_canonical().to_string(), point.y.to_canonical().to_string());
        let is_on_curve = point.curve_defect(self.b) == C::Number::ZERO;
        let is_member = || {
            is_in_subgroup::<C::Number, C::Number>(point, self.b, [C::Number::ZERO, C::Number::ONE], &C::FAMILY.order())
        };
        check(&field.path, is_on_curve, is_member, shown)?;
        Ok(Some(point))
    }

    /// The point of G2 at `field`, which may not be the identity.
    pub(crate) fn g2(&self, field: &Field<'_>) -> Result<Affine<Fp2<C::Number, C>>, KeyError> {
        let point: Affine<Fp2<C::Number, C>> = field.twist_point()?;
        let zero = Fp2::new(C::Number::ZERO, C::Number::ZERO);
        if point == Affine::new(zero, zero) {
            return Err(KeyError::Identity { field: field.path.clone() });
        }
        let both = |value: Fp2<C::Number, C>| format!("{} + {}·u", value.c0.to_canonical(), value.c1.to_canonical());
        let shown = || (both(point.x), both(point.y));
        let is_on_curve = point.curve_defect(self.twist_b) == zero;
        let is_member = || {
            is_in_subgroup::<C::Number, Fp2<C::Number, C>>(point, self.twist_b, [zero, Fp2::ONE], &C::FAMILY.order())
        };
        check(&field.path, is_on_curve, is_member, shown)?;
        Ok(point)
    }
}

/// A key in JSON.
#[derive(Debug)]
pub struct KeyFile {
    json: Value,
}

impl KeyFile {
    /// The key in this text.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let json: Value = serde_json::from_str(text)?;
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
                if let Some(Value::Array(values)) = field.value
                    && !values.is_empty()
                {
                    return Err(field.shape("empty: circuits with commitments have another check"));
                }
            }
            let (g1, g2) = (root.get("G1"), root.get("G2"));
            [g1.get("Alpha"), g2.get("Beta"), g2.get("Gamma"), g2.get("Delta"), g1.get("K")]
        } else {
            if let protocol @ Field { value: Some(value), .. } = root.get("protocol")
                && value != "groth16"
            {
                return Err(protocol.shape("\"groth16\""));
            }
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

fn check(
    field: &str,
    is_on_curve: bool,
    is_member: impl FnOnce() -> bool,
    shown: impl FnOnce() -> (String, String),
) -> Result<(), KeyError> {
    let field = || field.to_owned();
    if !is_on_curve {
        let (x, y) = shown();
        return Err(KeyError::NotOnCurve { field: field(), x, y });
    }
    if !is_member() {
        let (x, y) = shown();
        return Err(KeyError::NotInSubgroup { field: field(), x, y });
    }
    Ok(())
}

/// The proof in this text. Its coordinates are below p; that they are those of points is for the verifier to see.
pub fn proof<N: Number, C: PairingCurve>(text: &str) -> Result<Proof<N, C>, KeyError> {
    let json: Value = serde_json::from_str(text)?;
    let root = Field::root(&json);
    if !json.is_object() {
        return Err(root.shape("an object"));
    }
    let names = if json.get("Ar").is_some() { ["Ar", "Bs", "Krs"] } else { ["pi_a", "pi_b", "pi_c"] };
    let [a, b, c] = names.map(|name| root.get(name));
    Ok(Proof { a: a.point()?, b: b.twist_point()?, c: c.point()? })
}

/// The inputs in this text, a list of numbers below 2²⁵⁶, of which there must be so many.
pub fn inputs(text: &str, count: usize) -> Result<Vec<BigUint>, KeyError> {
    let json: Value = serde_json::from_str(text)?;
    let root = Field::root(&json);
    let fields = root.list("a list of inputs")?;
    if fields.len() != count {
        return Err(root.shape("a list of as many inputs as the key has"));
    }
    let input = |field: &Field<'_>| match field.number()? {
        (true, _) => Err(field.shape("a number that is not negative")),
        (false, number) if number.bits() > 256 => {
            Err(field.too_large(&number, "2²⁵⁶ =", BigUint::from(1u32) << 256u32))
        }
        (false, number) => Ok(number),
    };
    fields.iter().map(input).collect()
}
