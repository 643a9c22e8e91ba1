//! State of a search, to resume from: its tally after any interruption equals that of an uninterrupted search.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::mode::Mode;
use crate::search::{Search, Tally};

/// The form of what is saved; another one cannot be gone on from.
const FORM: u32 = 1;

/// A search that can go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    form: u32,
    seed: u64,
    shard: String,
    revision: Option<String>,
    modes: Vec<String>,
    /// Seconds that it has taken so far.
    pub seconds: u64,
    /// Tally so far.
    pub tally: Tally,
}

/// Something saved that belongs to another search.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("it is of a search with {what} {saved}, not {asked}")]
pub struct OtherSearch {
    /// Name of the parameter that differs.
    pub what: &'static str,
    /// Value of the saved search.
    pub saved: String,
    /// Value of the requested search.
    pub asked: String,
}

impl Saved {
    /// State of a search after so many seconds.
    pub fn new(search: &Search, tally: Tally, seconds: u64) -> Self {
        let modes = search.modes.iter().map(|mode| Mode::name(*mode).to_owned()).collect();
        let revision = search.revision.map(|revision| revision.name().to_owned());
        Self { form: FORM, seed: search.seed, shard: search.shard.to_string(), revision, modes, seconds, tally }
    }

    /// The tally to go on from, if it is of this search.
    pub fn tally_for(self, search: &Search) -> Result<Tally, OtherSearch> {
        let asked = Self::new(search, Tally::default(), 0);
        let any = |revision: &Option<String>| revision.clone().unwrap_or_else(|| "any".to_owned());
        for (what, saved, asked) in [
            ("form", self.form.to_string(), asked.form.to_string()),
            ("seed", self.seed.to_string(), asked.seed.to_string()),
            ("shard", self.shard.clone(), asked.shard.clone()),
            ("revision", any(&self.revision), any(&asked.revision)),
            ("modes", self.modes.join(","), asked.modes.join(",")),
        ] {
            if saved != asked {
                return Err(OtherSearch { what, saved, asked });
            }
        }
        Ok(self.tally)
    }
}
