//! Subjects of measurements, by name. A name stands for a layer of measurements and for everything of it: `wasmi` for
//! both forms of modules, `eip6690-2024` for both engines, `eip6690-2024:batch` for one. Every revision has a name.

use residue_engine::Batching;
use residue_isa::{Revision, UnknownName};
use ruint::aliases::U256;

/// Everybody who can be chosen besides the revisions.
const OTHERS: [&str; 19] = [
    "blst",
    "arkworks",
    "zkcrypto",
    "precompile",
    "residue",
    "modular",
    "lanes",
    "crypto-bigint",
    "num-bigint",
    "spec",
    "gnark",
    "geth",
    "go",
    "wasmi",
    "wasmtime",
    "arkworks-wasmi",
    "arkworks-wasmtime",
    "library",
    "revm",
];

/// When blocks run as plans, with how layers name it: what users have, then every instruction by itself.
pub(crate) const BATCHINGS: [(Batching, &str); 2] = [(Batching::Warm, "batch"), (Batching::Off, "plain")];

/// Names of a revision: its own, then one for each of its engines.
const NAMES_A_REVISION: usize = 1 + BATCHINGS.len();

/// A choice of subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subjects {
    /// Bit i chooses name i; all bits are everybody.
    chosen: U256,
}

const _: () = assert!(OTHERS.len() + NAMES_A_REVISION * (Revision::ALL.len() + Revision::BESIDE.len()) < U256::BITS);

/// Every name that can be chosen.
pub fn names() -> impl Iterator<Item = String> {
    let of_revision = |revision: Revision| {
        let engines = BATCHINGS.map(|(_, engine)| format!("{revision}:{engine}"));
        [revision.to_string()].into_iter().chain(engines)
    };
    OTHERS.into_iter().map(str::to_owned).chain(Revision::every().flat_map(of_revision))
}

/// True if a name selects a layer.
pub(crate) fn stands_for(name: &str, layer: &str) -> bool {
    layer.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

impl Subjects {
    /// Everybody.
    pub const ALL: Self = Self { chosen: U256::MAX };

    /// Those of these names; everybody without a name.
    pub fn named<S: AsRef<str>>(chosen: &[S]) -> Result<Self, UnknownName> {
        if chosen.is_empty() {
            return Ok(Self::ALL);
        }
        let place = |name: &S| {
            let known: Vec<String> = names().collect();
            let place = known.iter().position(|known| known.eq_ignore_ascii_case(name.as_ref()));
            place
                .map(|place| U256::ONE << place)
                .ok_or_else(|| UnknownName::new("subject", name.as_ref(), known.iter().map(String::as_str)))
        };
        let bits: Vec<U256> = chosen.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Self { chosen: bits.iter().fold(U256::ZERO, |chosen, bit| chosen | bit) })
    }

    /// This choice; that of `names` if it is everybody. Panics if a name is nobody's: they are this crate's own.
    #[must_use]
    pub fn or_of_everybody(self, names: &[&str]) -> Self {
        if self == Self::ALL { Self::named(names).expect("names of subjects") } else { self }
    }

    /// True if a layer is chosen: by its own name or by that of a group that contains it.
    pub fn include(self, layer: &str) -> bool {
        self == Self::ALL || self.chosen().iter().any(|name| stands_for(name, layer))
    }

    /// The names that were chosen; none where everybody is.
    pub fn chosen(self) -> Vec<String> {
        let is_chosen = |place: usize| self != Self::ALL && self.chosen.bit(place);
        names().enumerate().filter(|&(place, _)| is_chosen(place)).map(|(_, name)| name).collect()
    }

    /// The revisions with a chosen engine; `usual` where nobody was chosen by name.
    pub fn revisions(self, usual: &[Revision]) -> Vec<Revision> {
        if self == Self::ALL {
            return usual.to_vec();
        }
        let is_chosen =
            |revision: &Revision| BATCHINGS.iter().any(|(_, engine)| self.include(&format!("{revision}:{engine}")));
        Revision::every().filter(is_chosen).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_workbench::MEASURED;

    #[test]
    fn a_name_stands_for_everything_of_its_layer() {
        let some = Subjects::named(&["wasmi", "evm384-v1:batch"]).unwrap();
        for (layer, is_in) in [
            ("wasmi:self-contained", true),
            ("wasmi", true),
            ("wasmtime:self-contained", false),
            ("evm384-v1:batch", true),
            ("evm384-v1:plain", false),
            ("evm384-v10:batch", false),
        ] {
            assert_eq!(some.include(layer), is_in, "{layer}");
        }
        assert_eq!(some.revisions(&MEASURED), [Revision::Evm384V1]);
        assert!(Subjects::named::<&str>(&[]).unwrap().include("anything"));
        assert!(Subjects::named(&["mcl"]).unwrap_err().to_string().contains("unknown subject \"mcl\""));
    }

    #[test]
    fn every_revision_can_be_named_and_a_few_are_measured_if_none_is() {
        for revision in Revision::every() {
            assert_eq!(Subjects::named(&[revision.name()]).unwrap().revisions(&MEASURED), [revision]);
        }
        assert_eq!(Subjects::ALL.revisions(&MEASURED), MEASURED);
    }

    #[test]
    fn names_are_different() {
        let all: Vec<String> = names().collect();
        assert!(all.iter().enumerate().all(|(place, name)| all.iter().position(|other| other == name) == Some(place)));
    }
}
