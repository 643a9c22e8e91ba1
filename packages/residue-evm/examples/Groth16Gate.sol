// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {IGroth16, Groth16} from "./generated/Groth16.sol";

/// Lets in whoever has a proof, each with other public inputs once. `residue build groth16 --key KEY --use-precompiles --format solidity` makes the
/// verifier of a key; its interface is that of the verifiers of snarkjs.
contract Groth16Gate {
    address public immutable VERIFIER;
    mapping(bytes32 inputs => bool) public isUsed;

    event Entered(address indexed account, uint256[2] inputs);

    error OtherCode();
    error NoProof();
    error AlreadyUsed();

    constructor(address verifier) {
        if (!Groth16.isAt(verifier)) revert OtherCode();
        VERIFIER = verifier;
    }

    function enter(uint256[2] calldata a, uint256[2][2] calldata b, uint256[2] calldata c, uint256[2] calldata inputs) external {
        if (!IGroth16(VERIFIER).verifyProof(a, b, c, inputs)) revert NoProof();
        bytes32 used = keccak256(abi.encode(inputs));
        if (isUsed[used]) revert AlreadyUsed();
        isUsed[used] = true;
        emit Entered(msg.sender, inputs);
    }
}
