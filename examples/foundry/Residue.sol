// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// Calls that a residue node executes. Foundry runs scripts and tests in an EVM of its own, which has no field instructions; `vm.rpc` reaches
/// the node of `--rpc-url`, so what is called here sees the state of that node's newest block, not that of the script.
interface ResidueVm {
    function rpc(string calldata method, string calldata params) external returns (bytes memory);
    function toString(address value) external pure returns (string memory);
    function toString(bytes calldata value) external pure returns (string memory);
}

library Residue {
    ResidueVm private constant VM = ResidueVm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// What a contract of the node returns; reverts where the call does.
    function call(address target, bytes memory input) internal returns (bytes memory) {
        string memory request =
            string.concat('[{"to":"', VM.toString(target), '","input":"', VM.toString(input), '"},"latest"]');
        return VM.rpc("eth_call", request);
    }

    /// Puts code at an address of the node, field instructions or not.
    function setCode(address target, bytes memory code) internal {
        VM.rpc("anvil_setCode", string.concat('["', VM.toString(target), '","', VM.toString(code), '"]'));
    }
}
