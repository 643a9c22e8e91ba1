//! JSON from outside: its bytes as text, and objects that name nothing twice.

use std::fmt::{self, Display};
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use residue_isa::text_of;

/// Reads JSON. An object that has a name twice is refused, with the place as serde_json's messages have it.
pub fn value(bytes: &[u8]) -> Result<Value, String> {
    let text = text_of(bytes).map_err(|error| error.to_string())?;
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Unique.deserialize(&mut json).map_err(|error| error.to_string())?;
    json.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Reads an object as a map by keys that may be written in several ways; one that is there twice is refused.
pub fn unique<'de, D, M, K, V>(deserializer: D) -> Result<M, D::Error>
where
    D: Deserializer<'de>,
    M: FromIterator<(K, V)>,
    K: Deserialize<'de> + Ord + Clone + Display,
    V: Deserialize<'de>,
{
    struct Entries<K, V>(PhantomData<(K, V)>);
    impl<'de, K, V> Visitor<'de> for Entries<K, V>
    where
        K: Deserialize<'de> + Ord + Clone + Display,
        V: Deserialize<'de>,
    {
        type Value = Vec<(K, V)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut seen = std::collections::BTreeSet::new();
            let mut entries = Vec::new();
            while let Some(key) = map.next_key::<K>()? {
                if !seen.insert(key.clone()) {
                    return Err(A::Error::custom(format!("{key} is there twice")));
                }
                entries.push((key, map.next_value()?));
            }
            Ok(entries)
        }
    }
    let entries: Vec<(K, V)> = deserializer.deserialize_map(Entries(PhantomData))?;
    Ok(entries.into_iter().collect())
}

/// Reads a value whose objects name nothing twice.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Unique)? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("{key:?} is there twice")));
            }
            object.insert(key, map.next_value_seed(Unique)?);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_with_a_mark_and_refused_with_a_place() {
        let json = "{\"a\": [1, -2, 0.5, null, true, \"b\"], \"c\": {}}";
        let plain: Value = serde_json::from_str(json).unwrap();
        assert_eq!(value(json.as_bytes()), Ok(plain.clone()));
        assert_eq!(value(format!("\u{feff}{json}").as_bytes()), Ok(plain));
        for (json, part) in [
            (&b"{\"a\": 1,\n \"a\": 2}"[..], "\"a\" is there twice at line 2"),
            (b"{\"a\": ", "EOF while parsing a value at line 1 column 6"),
            (b"{} {}", "trailing characters"),
            (b"\xff\xfe{\0}\0", "UTF-16"),
            (b"{\n\"\xff\"}", "line 2: byte 0xff at offset 3 is not UTF-8"),
        ] {
            let error = value(json).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
