//! A Solidity file: an interface, and a library that calls the contract, by its functions and by bytes, and deploys it unless its address is known.

use super::{Artifact, FACTORY, FormatError, functions};

/// Bytes of creation code on a line.
const LINE_BYTES: usize = 48;

/// The file of `--format solidity`.
pub fn library(artifact: &Artifact<'_>) -> Result<String, FormatError> {
    let place = match artifact.address {
        Some(address) => known(artifact, &address.to_checksum(None)),
        None => format!("{}{}", deploying(), creation_code(&artifact.creation()?)),
    };
    Ok(file(artifact, &place))
}

/// The file of a package: the address is known, and anybody may create the contract there.
pub fn package(artifact: &Artifact<'_>) -> Result<String, FormatError> {
    let address = artifact.address.ok_or(FormatError::NoAddress)?;
    let known = known(artifact, &address.to_checksum(None));
    Ok(file(artifact, &format!("{known}{}{}", deploying_there(), creation_code(&artifact.creation()?))))
}

/// The file of a contract in linked form: packages of its own code and of its stages, and a library that creates all of them.
pub fn linked(main: &Artifact<'_>, stages: &[Artifact<'_>]) -> Result<String, FormatError> {
    let mut text = package(main)?;
    for stage in stages {
        let package = package(stage)?;
        // A file has one license and one version.
        let own = package.splitn(3, '\n').nth(2).unwrap_or_default();
        text.push_str(own);
    }
    let name = main.identifier();
    let deploys: String = stages.iter().map(|stage| format!("        {}.deploy();\n", stage.identifier())).collect();
    let are_there: String =
        stages.iter().map(|stage| format!(" && {0}.isAt({0}.ADDRESS)", stage.identifier())).collect();
    text.push_str(&format!(
        "
/// The contract with its stages.
library {name}Accounts {{
    /// True if every account has its code.
    function isThere() internal view returns (bool) {{
        return {name}.isAt({name}.ADDRESS){are_there};
    }}

    /// Creates the accounts that are not there by the CREATE2 factory, the stages first.
    function deploy() internal returns (address) {{
{deploys}        return {name}.deploy();
    }}
}}
"
    ));
    Ok(text)
}

fn file(artifact: &Artifact<'_>, place: &str) -> String {
    let name = artifact.identifier();
    let about: String = artifact.about().iter().map(|line| format!("// {line}\n")).collect();
    let (license, hash) = (artifact.license(), artifact.code_hash());
    let of_contract = artifact.functions();
    let in_interface: String = of_contract.iter().map(functions::in_interface).collect();
    let errors = functions::errors(&of_contract);
    let typed: String = of_contract.iter().map(|function| functions::calling(function, &name)).collect();
    format!(
        "// SPDX-License-Identifier: {license}
pragma solidity ^0.8.13;

{about}interface I{name} {{
    fallback(bytes calldata input) external returns (bytes memory output);
{in_interface}}}

library {name} {{
    /// Keccak-256 of the code.
    bytes32 internal constant CODE_HASH = {hash};

    /// The account has no code.
    error NoCode(address account);
    /// The contract did not take the input.
    error Failed(bytes output);
{errors}
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
{typed}{place}}}
"
    )
}

fn known(artifact: &Artifact<'_>, address: &str) -> String {
    let typed: String = artifact.functions().iter().map(functions::calling_known).collect();
    format!(
        "
    /// Address of the contract.
    address internal constant ADDRESS = {address};

    /// Output of the contract for the input.
    function call(bytes memory input) internal view returns (bytes memory output) {{
        return call(ADDRESS, input);
    }}
{typed}"
    )
}

const fn deploying() -> &'static str {
    "
    /// The contract could not be created.
    error NotDeployed();

    /// Creates an account with the code.
    function deploy() internal returns (address account) {
        bytes memory creation = creationCode();
        assembly (\"memory-safe\") {
            account := create(0, add(creation, 32), mload(creation))
        }
        if (account == address(0)) revert NotDeployed();
    }
"
}

fn deploying_there() -> String {
    let factory = FACTORY.to_checksum(None);
    format!(
        "
    /// The CREATE2 factory (EIP-7997) is missing, or it could not create the contract.
    error NotDeployed();

    /// Creates the contract at ADDRESS by the CREATE2 factory, unless it is there.
    function deploy() internal returns (address) {{
        if (isAt(ADDRESS)) return ADDRESS;
        (bool success,) = {factory}.call(abi.encodePacked(bytes32(0), creationCode()));
        if (!success || !isAt(ADDRESS)) revert NotDeployed();
        return ADDRESS;
    }}
"
    )
}

fn creation_code(creation: &[u8]) -> String {
    let lines: String =
        creation.chunks(LINE_BYTES).map(|line| format!("\n            hex\"{}\"", hex::encode(line))).collect();
    format!(
        "
    /// Code that returns the code.
    function creationCode() internal pure returns (bytes memory) {{
        return{lines};
    }}
"
    )
}
