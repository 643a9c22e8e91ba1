//! A Yul object. `verbatim` is for objects that stand alone: `solc --strict-assembly`, or language `Yul` of its standard input.

use super::Artifact;

/// An object that deploys the code, and within it the code, which stands at offset 0 as its jumps want it. The optimizer of solc
/// adds a STOP to it, as to all code that does not end by itself.
pub fn object(artifact: &Artifact<'_>) -> String {
    let name = artifact.identifier();
    let about: String = artifact.about().iter().map(|line| format!("// {line}\n")).collect();
    let (license, code) = (artifact.license(), hex::encode(&artifact.compiled.code));
    format!(
        "// SPDX-License-Identifier: {license}
{about}object \"{name}\" {{
    code {{
        datacopy(0, dataoffset(\"runtime\"), datasize(\"runtime\"))
        return(0, datasize(\"runtime\"))
    }}
    object \"runtime\" {{
        code {{
            verbatim_0i_0o(hex\"{code}\")
        }}
    }}
}}
"
    )
}
