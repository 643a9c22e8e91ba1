//! Keys, proofs and inputs in JSON: fields, each with its place, numbers, points and lists of inputs.
//!
//! Points are lists of numbers in strings, homogeneous with z = 1, or 0 for the identity (snarkjs), or x and y alone (ZoKrates); or they have `X` and `Y`, in G2
//! with `A0` and `A1`, where small numbers may stand without quotes or be negative, and all zeros are the identity (gnark), or `x` and `y`, in G2 two numbers
//! each (garaga).

use crate::keyed::unique;
use crate::verifier::KeyError;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::pairing::PairingCurve;
use residue_curves::tower::Fp2;
use residue_formula::Number;
use serde_json::Value;

/// A value with its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    pub(crate) path: String,
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

    /// The field at the end of these names, each within the one before it.
    pub(crate) fn along(&self, names: &[&str]) -> Self {
        names.iter().fold(self.clone(), |field, name| field.get(name))
    }

    /// The first of these fields that there is, or else the first.
    pub(crate) fn first_of(&self, names: &[&str]) -> Self {
        let found = names.iter().map(|name| self.get(name)).find(|field| field.value.is_some());
        found.unwrap_or_else(|| self.get(names[0]))
    }

    /// Its fields by name, if it is an object.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.value.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// True if there is nothing in it: no field, null, zero, false, no text, an empty list, or an object of these.
    pub(crate) fn is_void(&self) -> bool {
        fn is_void(value: &Value) -> bool {
            match value {
                Value::Null => true,
                Value::Bool(flag) => !flag,
                Value::Number(number) => number.as_u64() == Some(0),
                Value::String(text) => text.chars().all(|digit| matches!(digit, '0' | 'x' | 'X')),
                Value::Array(values) => values.is_empty(),
                Value::Object(fields) => fields.values().all(is_void),
            }
        }
        self.value.is_none_or(is_void)
    }

    fn at(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), value: self.value.and_then(|value| value.get(index)) }
    }

    /// The text in it in small letters, without hyphens and low lines.
    pub(crate) fn plain_text(&self) -> Option<String> {
        Some(self.value?.as_str()?.to_lowercase().replace(['-', '_'], ""))
    }

    /// That its text is one of `wanted` in small letters without hyphens and low lines, if there is such a field.
    pub(crate) fn is_one_of(&self, wanted: &[&str], expected: &'static str) -> Result<(), KeyError> {
        let is_wanted = self.plain_text().is_some_and(|text| wanted.contains(&text.as_str()));
        if self.value.is_none() || is_wanted { Ok(()) } else { Err(self.shape(expected)) }
    }

    /// The name of the curve, by any of the fields that have it.
    pub(crate) fn curve(&self) -> Self {
        self.first_of(&["curve", "elliptic_curve_id", "eliptic_curve_id"])
    }

    pub(crate) fn shape(&self, expected: &'static str) -> KeyError {
        let found = self.value.map_or_else(|| "missing".to_owned(), shown);
        let field = if self.path.is_empty() { "the file".to_owned() } else { self.path.clone() };
        KeyError::Shape { field, found, expected }
    }

    pub(crate) fn list(&self, expected: &'static str) -> Result<Vec<Self>, KeyError> {
        let Some(Value::Array(values)) = self.value else { return Err(self.shape(expected)) };
        Ok((0..values.len()).map(|index| self.at(index)).collect())
    }

    /// A number that is not negative, or minus that number if the sign is true.
    pub(crate) fn number(&self) -> Result<(bool, BigUint), KeyError> {
        let expected = "a decimal number, in quotes if it has more than 19 digits";
        let text = match self.value {
            Some(Value::String(text)) if text.len() > DIGITS_MAX => return Err(self.shape("a shorter number")),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) if number.is_i64() || number.is_u64() => number.to_string(),
            _ => return Err(self.shape(expected)),
        };
        let (is_negative, digits) = text.strip_prefix('-').map_or((false, text.as_str()), |digits| (true, digits));
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let (radix, digits) = hexadecimal.map_or((10, digits), |digits| (16, digits));
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        let number = is_number.then(|| BigUint::parse_bytes(digits.as_bytes(), radix)).flatten();
        Ok((is_negative, number.ok_or_else(|| self.shape(expected))?))
    }

    pub(crate) fn too_large(&self, value: &BigUint, what: &'static str, limit: BigUint) -> KeyError {
        KeyError::TooLarge { field: self.path.clone(), value: value.to_string(), what, limit }
    }

    /// An element of Fp. gnark writes numbers next to p as negative ones.
    fn element<N: Number>(&self, form: Form) -> Result<N, KeyError> {
        let (is_negative, number) = self.number()?;
        if is_negative && form == Form::Snarkjs {
            return Err(self.shape("a number that is not negative"));
        }
        let element = N::from_canonical(&number).ok_or_else(|| self.too_large(&number, "p =", N::modulus()))?;
        Ok(if is_negative { -element } else { element })
    }

    /// Exactly `count` fields of a list.
    fn exactly(&self, count: usize, expected: &'static str) -> Result<Vec<Self>, KeyError> {
        let fields = self.list(expected)?;
        if fields.len() == count { Ok(fields) } else { Err(self.shape(expected)) }
    }

    /// Of snarkjs: z, which is true for 1 and false for 0, the identity. In Fp2 it is a list of both coefficients.
    fn z(&self, coefficients: usize) -> Result<bool, KeyError> {
        let expected = "1 or 0 as z";
        let fields = if coefficients == 1 { vec![self.clone()] } else { self.exactly(coefficients, expected)? };
        let numbers = fields.iter().map(Field::number).collect::<Result<Vec<_>, _>>()?;
        let is = |first: u32| {
            numbers.iter().enumerate().all(|(at, (is_negative, number))| {
                !is_negative && *number == BigUint::from(if at == 0 { first } else { 0 })
            })
        };
        if is(1) {
            Ok(true)
        } else if is(0) {
            Ok(false)
        } else {
            Err(self.shape(expected))
        }
    }

    /// Both coordinates of a point, which of the ways to write it that is, and whether it is finite; `coefficients` of an element.
    fn coordinates(&self, coefficients: usize) -> Result<([Self; 2], Form, bool), KeyError> {
        if let Some(Value::Object(_)) = self.value {
            let is_small = self.get("X").value.is_none() && self.get("x").value.is_some();
            let names = if is_small { ["x", "y"] } else { ["X", "Y"] };
            let form = if is_small { Form::Snarkjs } else { Form::Gnark };
            return Ok((names.map(|name| self.get(name)), form, true));
        }
        let expected = "a point: a list of x, y and z";
        let fields = self.list(expected)?;
        let is_finite = match fields.len() {
            2 => true,
            3 => self.at(2).z(coefficients)?,
            _ => return Err(self.shape(expected)),
        };
        Ok(([self.at(0), self.at(1)], Form::Snarkjs, is_finite))
    }

    /// A point over Fp in any form; (0, 0) for the identity.
    pub(crate) fn point<N: Number>(&self) -> Result<Affine<N>, KeyError> {
        let ([x, y], form, is_finite) = self.coordinates(1)?;
        let point = Affine::new(x.element(form)?, y.element(form)?);
        Ok(if is_finite { point } else { Affine::new(N::ZERO, N::ZERO) })
    }

    /// An element of Fp2.
    fn fp2<N: Number, C: PairingCurve>(&self, form: Form) -> Result<Fp2<N, C>, KeyError> {
        let [c0, c1] = match form {
            Form::Gnark => ["A0", "A1"].map(|name| self.get(name)),
            Form::Snarkjs => {
                self.exactly(2, "a list of two numbers")?;
                [self.at(0), self.at(1)]
            }
        };
        Ok(Fp2::new(c0.element(form)?, c1.element(form)?))
    }

    /// A point over Fp2 in any form; (0, 0) for the identity.
    pub(crate) fn twist_point<N: Number, C: PairingCurve>(&self) -> Result<Affine<Fp2<N, C>>, KeyError> {
        let ([x, y], form, is_finite) = self.coordinates(2)?;
        let point = Affine::new(x.fp2(form)?, y.fp2(form)?);
        let zero = Fp2::new(N::ZERO, N::ZERO);
        Ok(if is_finite { point } else { Affine::new(zero, zero) })
    }
}

/// Whose way of writing points it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Snarkjs,
    Gnark,
}

/// Characters of the longest number that is read.
const DIGITS_MAX: usize = 1000;
/// Characters of a value that a message shows.
const SHOWN_MAX: usize = 48;

/// A value as messages show it: a long one by its kind.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() > SHOWN_MAX => {
            format!("\"{}…\" of {} characters", text.chars().take(SHOWN_MAX).collect::<String>(), text.chars().count())
        }
        _ => value.to_string(),
    }
}

/// Fields that inputs stand in beside a proof: what `fullProve` of snarkjs gives, ZoKrates, garaga.
const INPUTS: [&str; 3] = ["publicSignals", "inputs", "public_inputs"];

/// The inputs in this text, numbers below 2²⁵⁶, of which there must be so many: a list, or one in an object.
pub fn inputs(text: &str, count: usize) -> Result<Vec<BigUint>, KeyError> {
    let json = unique::read(text)?;
    let root = Field::root(&json);
    let list = if json.is_object() { root.first_of(&INPUTS) } else { root.clone() };
    let list = if list.value.is_some() { list } else { root };
    let fields =
        list.list("a list of inputs, alone or in an object as \"publicSignals\", \"inputs\" or \"public_inputs\"")?;
    if fields.len() != count {
        return Err(list.shape("a list of as many inputs as the key has"));
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

/// The object `proof` of a file, or else the file.
pub(crate) fn of_proof<'a>(root: &Field<'a>) -> Field<'a> {
    let proof = root.get("proof");
    if proof.value.is_some_and(Value::is_object) { proof } else { root.clone() }
}
