//! Subjects: who is measured, by name. A name stands for a layer of measurements and for everything of it: `wasmi` for both
//! forms of modules, `eip6690-2024` for both engines, `eip6690-2024:batch` for one.

use thiserror::Error;

/// Every name that can be chosen.
pub const NAMES: &[&str] = &[
    "blst",
    "arkworks",
    "zkcrypto",
    "precompile",
    "residue",
    "gnark",
    "geth",
    "wasmi",
    "wasmtime",
    "evm384-v7",
    "evm384-v7:batch",
    "evm384-v7:plain",
    "eip6690-2024",
    "eip6690-2024:batch",
    "eip6690-2024:plain",
];

/// A choice of subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subjects {
    /// Bit i chooses name i; all bits are everybody.
    chosen: u32,
}

const _: () = assert!(NAMES.len() < 32);

/// A name of nobody.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no subject {0:?}; known are {known}", known = NAMES.join(", "))]
pub struct UnknownSubject(pub String);

impl Subjects {
    /// Everybody.
    pub const ALL: Self = Self { chosen: u32::MAX };

    /// Those of these names; everybody without a name.
    pub fn named<S: AsRef<str>>(names: &[S]) -> Result<Self, UnknownSubject> {
        if names.is_empty() {
            return Ok(Self::ALL);
        }
        let mut chosen = 0;
        for name in names {
            let name = name.as_ref();
            let place = NAMES.iter().position(|known| *known == name);
            chosen |= 1 << place.ok_or_else(|| UnknownSubject(name.to_owned()))?;
        }
        Ok(Self { chosen })
    }

    /// This choice; that of `names` if it is everybody. Panics if a name is nobody's: they are this crate's own.
    #[must_use]
    pub fn or_of_everybody(self, names: &[&str]) -> Self {
        if self == Self::ALL { Self::named(names).expect("names of subjects") } else { self }
    }

    /// Whether a layer is chosen: by its own name or by that of the layers it belongs to.
    pub fn include(self, layer: &str) -> bool {
        let is_named =
            |name: &str| layer.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        self == Self::ALL
            || NAMES.iter().enumerate().any(|(place, name)| self.chosen >> place & 1 == 1 && is_named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MEASURED;

    #[test]
    fn a_name_stands_for_everything_of_its_layer() {
        let some = Subjects::named(&["wasmi", "evm384-v7:batch"]).unwrap();
        for (layer, is_in) in [
            ("wasmi:self-contained", true),
            ("wasmi", true),
            ("wasmtime:self-contained", false),
            ("evm384-v7:batch", true),
            ("evm384-v7:plain", false),
            ("evm384-v70:batch", false),
        ] {
            assert_eq!(some.include(layer), is_in, "{layer}");
        }
        assert!(Subjects::named::<&str>(&[]).unwrap().include("anything"));
        assert!(Subjects::named(&["mcl"]).unwrap_err().to_string().contains("\"mcl\"; known are blst, "));
    }

    #[test]
    fn every_measured_revision_can_be_named() {
        for revision in MEASURED {
            assert!(NAMES.contains(&revision.name()));
        }
    }
}
