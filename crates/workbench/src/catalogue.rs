//! Catalogue of the choices, as data: revisions, gas schedules, hard forks, opcodes and contracts.

use residue_contracts::{Contract, ProofSystem};
use residue_engine::Fork;
use residue_isa::{Family, GasSchedule, OpcodeRow, Revision};
use serde_json::{Value, json};

/// The revision when none is chosen.
pub const DEFAULT_REVISION: Revision = Revision::Eip6690_2024;

/// A revision, with the place of its values and its own gas schedule.
pub fn revision(revision: Revision) -> Value {
    json!({
        "name": revision.name(),
        "summary": revision.summary(),
        "values": place_of_values(revision),
        "schedule": revision.default_schedule(),
        "default": revision == DEFAULT_REVISION,
    })
}

/// A gas schedule, with the revisions that it prices.
pub fn schedule(schedule: &GasSchedule) -> Value {
    json!({
        "name": schedule.name(),
        "summary": schedule.summary(),
        "revisions": schedule.revisions().iter().map(|revision| revision.name()).collect::<Vec<_>>(),
        "default_for": default_for(schedule),
    })
}

/// A hard fork.
pub fn fork(fork: Fork) -> Value {
    json!({ "name": fork.name(), "default": fork == Fork::default() })
}

/// An opcode of a revision, or of the EVM itself.
pub fn opcode(revision: Option<Revision>, row: &OpcodeRow) -> Value {
    json!({
        "revision": revision.map(Revision::name),
        "prefix": revision.and_then(Revision::prefix),
        "byte": row.byte,
        "mnemonic": row.mnemonic,
        "sentence": row.sentence,
        "immediate_bytes": row.immediate_bytes,
        "pops": row.pops,
        "pushes": row.pushes,
    })
}

/// A contract of ours, with the precompile that it replaces.
pub fn contract(contract: &Contract) -> Value {
    json!({
        "name": contract.name,
        "summary": contract.summary,
        "interface": contract.interface,
        "precompile": contract.precompile,
    })
}

/// A proof system whose verifiers are made of a key.
pub fn proof_system(system: &ProofSystem) -> Value {
    json!({ "name": system.name, "summary": system.summary, "interface": system.interface })
}

/// Place where a revision keeps values.
pub fn place_of_values(revision: Revision) -> &'static str {
    match revision.family() {
        Family::Memory384 => "memory",
        Family::MemorySlots => "slots in memory",
        Family::Slots => "slots",
        Family::Words => "words",
    }
}

/// The schedules that come with the program for any of `revisions`, each once.
pub fn schedules(revisions: impl IntoIterator<Item = Revision>) -> Vec<GasSchedule> {
    let of = |revision: Revision| {
        let named = move |name: String| GasSchedule::named(&name, revision);
        GasSchedule::names(revision).into_iter().filter_map(move |name| named(name).ok())
    };
    let mut found: Vec<GasSchedule> = Vec::new();
    for schedule in revisions.into_iter().flat_map(of) {
        if !found.contains(&schedule) {
            found.push(schedule);
        }
    }
    found
}

/// The revisions whose default schedule this is.
pub fn default_for(schedule: &GasSchedule) -> Vec<&'static str> {
    let is_default = |revision: &&Revision| revision.default_schedule() == schedule.name();
    schedule.revisions().iter().filter(is_default).map(|revision| revision.name()).collect()
}
