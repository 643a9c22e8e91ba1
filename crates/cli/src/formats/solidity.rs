//! A Solidity file: an interface, and a library that calls the contract, and deploys it unless its address is known.

use anyhow::Result;

use super::Artifact;

/// Bytes of creation code on a line.
const LINE_BYTES: usize = 48;

/// The file.
pub fn library(artifact: &Artifact<'_>) -> Result<String> {
    let name = artifact.identifier();
    let about: String = artifact.about().iter().map(|line| format!("// {line}\n")).collect();
    let (license, hash) = (artifact.license(), artifact.code_hash());
    let place = match artifact.address {
        Some(address) => known(&address.to_checksum(None)),
        None => deployed(&artifact.creation()?),
    };
    Ok(format!(
        "// SPDX-License-Identifier: {license}
pragma solidity ^0.8.13;

{about}interface I{name} {{
    fallback(bytes calldata input) external returns (bytes memory output);
}}

library {name} {{
    /// Keccak-256 of the code.
    bytes32 internal constant CODE_HASH = {hash};

    /// The account has no code.
    error NoCode(address account);
    /// The contract did not take the input.
    error Failed(bytes output);

    /// True if the account has this code.
    function isAt(address account) internal view returns (bool) {{
        return account.codehash == CODE_HASH;
    }}

    /// Output of the contract at the account for the input.
    function call(address account, bytes memory input) internal view returns (bytes memory output) {{
        if (account.code.length == 0) revert NoCode(account);
        bool success;
        (success, output) = account.staticcall(input);
        if (!success) revert Failed(output);
    }}
{place}}}
"
    ))
}

fn known(address: &str) -> String {
    format!(
        "
    /// Address of the contract.
    address internal constant ADDRESS = {address};

    /// Output of the contract for the input.
    function call(bytes memory input) internal view returns (bytes memory output) {{
        return call(ADDRESS, input);
    }}
"
    )
}

fn deployed(creation: &[u8]) -> String {
    let lines: String =
        creation.chunks(LINE_BYTES).map(|line| format!("\n            hex\"{}\"", hex::encode(line))).collect();
    format!(
        "
    /// The contract could not be created.
    error NotDeployed();

    /// Creates an account with the code.
    function deploy() internal returns (address account) {{
        bytes memory creation = creationCode();
        assembly (\"memory-safe\") {{
            account := create(0, add(creation, 32), mload(creation))
        }}
        if (account == address(0)) revert NotDeployed();
    }}

    /// Code that returns the code.
    function creationCode() internal pure returns (bytes memory) {{
        return{lines};
    }}
"
    )
}
