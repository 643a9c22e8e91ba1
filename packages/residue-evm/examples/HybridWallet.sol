// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {SphincsC13} from "residue-evm/contracts/SphincsC13.sol";
import {P256} from "residue-evm/src/P256.sol";

/// A wallet that two keys own together: P-256, which hardware has, and SPHINCS- C13, which quantum computers leave whole. A contract of its own, or the
/// code of an account by EIP-7702, which sets its keys in a transaction to itself.
contract HybridWallet {
    /// Half the order of P-256: of a signature and its mirror image one is taken.
    uint256 private constant HALF_ORDER = 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8;

    struct Keys {
        /// Seed and root of C13.
        bytes32 c13;
        /// The point of P-256.
        uint256 x;
        uint256 y;
    }

    struct Signature {
        uint256 r;
        uint256 s;
        bytes c13;
    }

    Keys public keys;
    uint256 public nonce;

    error NotSelf();
    error NotSigned();
    error Failed(bytes output);

    constructor(Keys memory owner) payable {
        keys = owner;
    }

    receive() external payable {}

    /// Keys are changed by the wallet alone: in `execute`, or in a transaction of the account whose code this is.
    function setKeys(Keys calldata owner) external {
        if (msg.sender != address(this)) revert NotSelf();
        keys = owner;
    }

    function hashOf(address to, uint256 value, bytes calldata data) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), nonce, to, value, data));
    }

    /// Calls an account if both keys have signed the call. Anybody may send it.
    function execute(address to, uint256 value, bytes calldata data, Signature calldata signature) external {
        bytes32 hash = hashOf(to, value, data);
        Keys memory owner = keys;
        if (owner.c13 == 0 || signature.s > HALF_ORDER) revert NotSigned();
        if (!P256.verify(hash, signature.r, signature.s, owner.x, owner.y)) revert NotSigned();
        if (!SphincsC13.verify(owner.c13, hash, signature.c13)) revert NotSigned();
        nonce += 1;
        (bool success, bytes memory output) = to.call{value: value}(data);
        if (!success) revert Failed(output);
    }
}
