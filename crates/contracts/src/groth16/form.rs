//! The forms of keys in JSON, by their fields.

use crate::keyed::json::Field;
use crate::verifier::KeyError;

/// A form of keys.
#[derive(Debug)]
pub(super) struct KeyForm {
    /// The program that writes it.
    of: &'static str,
    /// Paths of α, β, γ, δ and the list of IC: names, each within the one before it.
    places: [&'static [&'static str]; 5],
}

/// The fields of a key.
#[derive(Debug)]
pub(super) struct KeyFields<'a> {
    pub(super) alpha: Field<'a>,
    pub(super) beta: Field<'a>,
    pub(super) gamma: Field<'a>,
    pub(super) delta: Field<'a>,
    pub(super) ic: Field<'a>,
}

/// All of them. The parts of coordinates in Fp2 are c0, c1 in each.
static FORMS: [KeyForm; 6] = [
    KeyForm { of: "snarkjs", places: [&["vk_alpha_1"], &["vk_beta_2"], &["vk_gamma_2"], &["vk_delta_2"], &["IC"]] },
    KeyForm {
        of: "snarkjs before 0.4",
        places: [&["vk_alfa_1"], &["vk_beta_2"], &["vk_gamma_2"], &["vk_delta_2"], &["IC"]],
    },
    KeyForm {
        of: "gnark",
        places: [&["G1", "Alpha"], &["G2", "Beta"], &["G2", "Gamma"], &["G2", "Delta"], &["G1", "K"]],
    },
    KeyForm { of: "ZoKrates", places: [&["alpha"], &["beta"], &["gamma"], &["delta"], &["gamma_abc"]] },
    KeyForm {
        of: "garaga",
        places: [
            &["verifying_key", "alpha_g1"],
            &["verifying_key", "beta_g2"],
            &["verifying_key", "gamma_g2"],
            &["verifying_key", "delta_g2"],
            &["verifying_key", "ic"],
        ],
    },
    KeyForm {
        of: "names of arkworks",
        places: [&["alpha_g1"], &["beta_g2"], &["gamma_g2"], &["delta_g2"], &["gamma_abc_g1"]],
    },
];

/// Fields of a file that a message names.
const NAMED_MAX: usize = 8;

impl KeyForm {
    /// The form of the key: that of which there is α, or else that of which most fields are there.
    pub(super) fn of(root: &Field<'_>) -> Result<&'static Self, KeyError> {
        let is_there = |place: &[&str]| root.along(place).value.is_some();
        let with_alpha: Vec<_> = FORMS.iter().filter(|form| is_there(form.places[0])).collect();
        match with_alpha[..] {
            [form] => return Ok(form),
            [first, second, ..] => {
                let field = |form: &Self| form.places[0].join(".");
                let relation = format!("it has {} and {} too", field(first), field(second));
                return Err(KeyError::Form { found: relation, known: "one form is wanted".to_owned() });
            }
            [] => (),
        }
        // The first of those with most fields: the maximum of an iterator is the last.
        let count = |form: &&Self| form.places.iter().filter(|&&place| is_there(place)).count();
        let form = FORMS.iter().rev().max_by_key(count).filter(|form| count(form) > 0);
        form.ok_or_else(|| {
            let known = FORMS.iter().map(|form| format!("{} ({})", form.places[0].join("."), form.of));
            let names: Vec<&str> = root.names().take(NAMED_MAX).collect();
            let found = if names.is_empty() { "no fields".to_owned() } else { names.join(", ") };
            KeyError::Form { found, known: known.collect::<Vec<_>>().join(", ") }
        })
    }

    /// The fields of a key of this form.
    pub(super) fn fields<'a>(&self, root: &Field<'a>) -> KeyFields<'a> {
        let [alpha, beta, gamma, delta, ic] = self.places.map(|place| root.along(place));
        KeyFields { alpha, beta, gamma, delta, ic }
    }
}
