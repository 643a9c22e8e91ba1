//! Jobs that run in a process of their own: the other side of [`crate::bench::process`].

use serde::Deserialize;
use serde_json::json;

use crate::attack::Stay;
use crate::bench::memory::{Errand, Specification};
use crate::bench::process::refused;
use crate::error::LabError;

/// A job by its name.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Job {
    /// The transactions of a world.
    Stay(Stay),
    /// A code on an input.
    Errand(Errand),
}

/// Does the job of this text, and says what it took, as JSON. The specification is nothing that this crate knows.
pub fn run_text(text: &str, specification: &Specification) -> Result<String, LabError> {
    let job: Job = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
    let told = match job {
        Job::Stay(stay) => stay.told()?,
        Job::Errand(errand) => errand.run(specification)?,
    };
    Ok(json!(told).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_job_or_refused() {
        let unspecified = |_, _: &[u8], _: &[u8], _| Err("nothing is said".to_owned());
        for text in ["{}", "", r#"{"errand":{"layer":"eip6690-2024:plain"}}"#] {
            assert!(run_text(text, &unspecified).is_err(), "{text}");
        }
        // STOP.
        let text = r#"{"errand":{"layer":"eip6690-2024:plain","task":"code","code":"00","input":""}}"#;
        if crate::bench::process::peak_bytes().is_some() {
            assert!(run_text(text, &unspecified).unwrap().contains("peak_bytes"));
        }
    }
}
