//! JSON whose objects have each field once: where one stands twice, a reader of the file and its parser may take different ones.

use crate::verifier::KeyError;
use residue_isa::text::without_mark;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The value in this text, which may begin with a byte order mark.
pub(crate) fn read(text: &str) -> Result<Value, KeyError> {
    let Unique(value) = serde_json::from_str(without_mark(text))?;
    Ok(value)
}

/// A value in which no object has a field twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the field {name:?} is there twice")));
            }
            let Unique(value) = fields.next_value()?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde_json::Value;

    #[test]
    fn what_has_each_field_once_is_read_as_by_the_parser() {
        for text in [
            "null",
            "[true, false, -7, 18446744073709551615, 1.5, \"\\u00e9\", {}]",
            "[1e400]",
            "[1e40, -0, \"\", [], [[]]]",
            "{\"a\": {\"b\": [1, {\"a\": 2}]}, \"b\": \"a\"}",
            "{\"a\": 1",
            "[1] 2",
            "",
        ] {
            let expected = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            let found = read(text).map_err(|error| error.to_string());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.ends_with(&expected), "{text}: {found}, {expected}"),
                (found, expected) => panic!("{text}: {found:?}, {expected:?}"),
            }
        }
        // Deeper than the parser goes.
        assert!(read(&"[".repeat(1000)).unwrap_err().to_string().contains("it is not JSON: recursion limit"));
    }

    #[test]
    fn a_field_that_is_there_twice_is_named_with_its_place() {
        for text in ["{\"IC\": 1,\n\"IC\": 1}", "[{\"a\": {\"IC\": [],\n\"IC\" : 2}}]", "{\"IC\": 1,\n\"\\u0049C\": 2}"]
        {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("the field \"IC\" is there twice at line 2"), "{text}: {error}");
        }
    }
}
