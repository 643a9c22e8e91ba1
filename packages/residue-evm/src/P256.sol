// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {P256Verify} from "residue-evm/contracts/P256Verify.sol";

/// Signatures by ECDSA on P-256, by the precompile of EIP-7951 where the chain has it, and by the contract of the catalogue elsewhere.
library P256 {
    /// EIP-7951, `P256VERIFY`.
    address private constant PRECOMPILE = address(0x100);

    /// Whether (r, s) is a signature of the hash by the key (x, y). s may be in either half: who forbids one of both signatures compares it himself.
    function verify(bytes32 hash, uint256 r, uint256 s, uint256 x, uint256 y) internal view returns (bool) {
        // 1 from the precompile is an answer. Nothing comes from a chain without it as well as for a signature that does not hold.
        (bool success, bytes memory output) = PRECOMPILE.staticcall(abi.encode(hash, r, s, x, y));
        if (success && output.length == 32 && abi.decode(output, (uint256)) == 1) return true;
        if (hasPrecompile()) return false;
        return P256Verify.verify(hash, r, s, x, y);
    }

    /// Whether the chain has the precompile, asked by a signature that holds.
    function hasPrecompile() internal view returns (bool) {
        (bool success, bytes memory output) = PRECOMPILE.staticcall(KNOWN);
        return success && output.length == 32;
    }

    /// The call of the precompile that `residue example p256/verify` prints.
    bytes private constant KNOWN = hex"54c41110931f6e4b611d99b7b63aebde8f637a1dbbf98058159c591ee9cc0575b5ff1cf73cf264c024aabb5197092bcf7a0ce2668fa1601f66327cf75b5848da72e15ccca646c535bf2ff2bf93c25cff8aef2fd0e19f9ea1c9178795eea308c007cec104fac8bd1d0d126780e776fda77f82074ded6c1aa8fd90cb5e04c980e0e620b33804447f9c1ce400aa5238fe49130f772f9ec53851fbbdc527557cb9cc";
}
