//! Keys, proofs and inputs in the JSON of snarkjs and of gnark: fields, each with its place, numbers, points and lists of inputs.
//!
//! Points are lists of decimal numbers in strings, homogeneous with z = 1, or 0 for the identity (snarkjs); or they have `X` and `Y`, in G2 with `A0` and
//! `A1`, where small numbers may stand without quotes or be negative, and all zeros are the identity (gnark).

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

    fn at(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), value: self.value.and_then(|value| value.get(index)) }
    }

    /// That the string in the field `name` is one of `wanted`, in small letters, if there is such a field.
    pub(crate) fn is_one_of(&self, name: &str, wanted: &[&str], expected: &'static str) -> Result<(), KeyError> {
        let field = self.get(name);
        let is_wanted =
            |value: &Value| value.as_str().is_some_and(|text| wanted.contains(&text.to_lowercase().as_str()));
        if field.value.is_none_or(is_wanted) { Ok(()) } else { Err(field.shape(expected)) }
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
        let (radix, digits) = digits.strip_prefix("0x").map_or((10, digits), |digits| (16, digits));
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

    /// A point over Fp in either form; (0, 0) for the identity.
    pub(crate) fn point<N: Number>(&self) -> Result<Affine<N>, KeyError> {
        if let Some(Value::Object(_)) = self.value {
            return Ok(Affine::new(self.get("X").element(Form::Gnark)?, self.get("Y").element(Form::Gnark)?));
        }
        self.exactly(3, "a point: a list of x, y and z")?;
        let point = Affine::new(self.at(0).element(Form::Snarkjs)?, self.at(1).element(Form::Snarkjs)?);
        Ok(if self.at(2).z(1)? { point } else { Affine::new(N::ZERO, N::ZERO) })
    }

    /// A point over Fp2 in either form; (0, 0) for the identity.
    pub(crate) fn twist_point<N: Number, C: PairingCurve>(&self) -> Result<Affine<Fp2<N, C>>, KeyError> {
        if let Some(Value::Object(_)) = self.value {
            let fp2 = |field: Self| {
                let [c0, c1] = ["A0", "A1"].map(|name| field.get(name).element(Form::Gnark));
                Ok::<_, KeyError>(Fp2::new(c0?, c1?))
            };
            return Ok(Affine::new(fp2(self.get("X"))?, fp2(self.get("Y"))?));
        }
        self.exactly(3, "a point: a list of x, y and z")?;
        let fp2 = |field: Self| {
            field.exactly(2, "a list of two numbers")?;
            Ok::<_, KeyError>(Fp2::new(field.at(0).element(Form::Snarkjs)?, field.at(1).element(Form::Snarkjs)?))
        };
        let point = Affine::new(fp2(self.at(0))?, fp2(self.at(1))?);
        let zero = Fp2::new(N::ZERO, N::ZERO);
        Ok(if self.at(2).z(2)? { point } else { Affine::new(zero, zero) })
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
const SHOWN_MAX: usize = 200;

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

/// The inputs in this text, a list of numbers below 2²⁵⁶, of which there must be so many.
pub fn inputs(text: &str, count: usize) -> Result<Vec<BigUint>, KeyError> {
    let json = unique::read(text)?;
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
