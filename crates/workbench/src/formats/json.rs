//! An artifact: `contractName`, `abi`, `bytecode` and `deployedBytecode` as tools for Solidity call them, and the
//! report of the code.

use residue_compiler::source_map::{SourceMap, Span};
use serde_json::{Value, json};

use super::{Artifact, FormatError, functions};
use crate::report;

/// The object.
pub fn artifact(artifact: &Artifact<'_>) -> Result<Value, FormatError> {
    let compiled = artifact.compiled;
    Ok(json!({
        "contractName": artifact.identifier(),
        "sourceName": artifact.name,
        "abi": functions::abi(&artifact.functions()),
        "functions": artifact.functions().iter().map(functions::described).collect::<Vec<_>>(),
        "bytecode": report::hex(&artifact.creation()?),
        "deployedBytecode": report::hex(&compiled.code),
        "codeHash": artifact.code_hash().to_string(),
        "revision": compiled.revision.name(),
        "schedule": artifact.schedule,
        "fork": artifact.dialect.fork.name(),
        "portable": artifact.dialect.portable,
        "precompiles": artifact.dialect.precompiles,
        "slots": compiled.slots,
        "memoryBytes": compiled.memory_bytes,
        "instructionBytes": compiled.instruction_bytes,
        "sourceMap": source_map(&compiled.source_map),
    }))
}

/// Functions with their bytes, the paths of named stretches, and instructions of blocks as [start, end, [path of each operation]].
fn source_map(map: &SourceMap) -> Value {
    let functions =
        map.functions().map(|(name, bytes)| json!({ "name": name, "start": bytes.start, "end": bytes.end }));
    let paths = map.paths().iter().map(|path| path.iter().map(|name| &**name).collect::<Vec<&str>>());
    let instructions = map.spans().iter().map(|Span { bytes, lanes, .. }| json!([bytes.start, bytes.end, lanes]));
    json!({
        "functions": functions.collect::<Vec<_>>(),
        "paths": paths.collect::<Vec<_>>(),
        "instructions": instructions.collect::<Vec<_>>(),
    })
}
