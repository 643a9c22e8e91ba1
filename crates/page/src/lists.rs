//! Choices of the page, and properties of listed contracts.

use residue_contracts::{CONTRACTS, PROOF_SYSTEMS, VerifierOptions};
use residue_ir::text;
use residue_isa::{GasSchedule, Revision};
use residue_workbench::{catalogue, report};
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::said;

/// Revisions, gas schedules, contracts and proof systems, as `residue list --json` says them.
#[wasm_bindgen]
pub fn lists() -> String {
    let schedules = catalogue::schedules(Revision::every());
    json!({
        "revisions": Revision::every().map(catalogue::revision).collect::<Vec<_>>(),
        "schedules": schedules.iter().map(catalogue::schedule).collect::<Vec<_>>(),
        "contracts": CONTRACTS.iter().map(catalogue::contract).collect::<Vec<_>>(),
        "verifiers": PROOF_SYSTEMS.iter().map(catalogue::proof_system).collect::<Vec<_>>(),
    })
    .to_string()
}

/// A contract as text, in the formulas that it is written in.
#[wasm_bindgen(js_name = contractText)]
pub fn contract_text(name: &str) -> Result<String, String> {
    Ok(text::print(&residue_contracts::named(name).map_err(said)?.program()))
}

/// The verifier of a key of a proof system as text. A key for which proofs can be made up is refused.
#[wasm_bindgen(js_name = verifierText)]
pub fn verifier_text(system: &str, key: &str) -> Result<String, String> {
    let known = PROOF_SYSTEMS.iter().find(|known| known.name == system);
    let known = known.ok_or_else(|| format!("{system:?} is no proof system of `residue list verifiers`"))?;
    let verifier = (known.verifier)(key, VerifierOptions::default()).map_err(said)?;
    Ok(text::print(&verifier.program()))
}

/// The input that comes with a contract, in hexadecimal.
#[wasm_bindgen]
pub fn example(name: &str) -> Result<String, String> {
    Ok(report::hex(&(residue_contracts::named(name).map_err(said)?.example)()))
}

/// Gas of the precompile that a contract replaces for an input; none where it replaces none, or that refuses the input.
#[wasm_bindgen(js_name = precompileGas)]
pub fn precompile_gas(name: &str, input: &[u8]) -> Result<Option<f64>, String> {
    let contract = residue_contracts::named(name).map_err(said)?;
    let answered = residue_workbench::native(contract, input).and_then(Result::ok);
    Ok(answered.map(|output| output.gas_used as f64)) // Below 2⁵³.
}

/// The text of a gas schedule of a revision, its own where none is named.
#[wasm_bindgen(js_name = scheduleText)]
pub fn schedule_text(revision: &str, schedule: Option<String>) -> Result<String, String> {
    let revision: Revision = revision.parse().map_err(said)?;
    let found = match schedule {
        Some(name) => GasSchedule::named(&name, revision),
        None => GasSchedule::default_for(revision),
    };
    Ok(found.map_err(said)?.to_toml())
}
