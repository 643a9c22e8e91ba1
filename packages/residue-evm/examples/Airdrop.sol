// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {PoseidonT3} from "residue-evm/contracts/PoseidonT3.sol";
import {LeanIMT} from "residue-evm/src/LeanIMT.sol";

/// Pays each account of a Merkle tree once. A leaf is the hash of account and amount; Poseidon makes the tree cheap in circuits too.
contract Airdrop {
    uint256 public immutable ROOT;
    mapping(uint256 leaf => bool) public isPaid;

    error NotInTree();
    error AlreadyPaid();
    error NotTaken();

    constructor(uint256 root) payable {
        ROOT = root;
    }

    function leafOf(address account, uint256 amount) public view returns (uint256) {
        return PoseidonT3.hash([uint256(uint160(account)), amount]);
    }

    function claim(address payable account, uint256 amount, uint256 index, uint256[] calldata siblings) external {
        uint256 leaf = leafOf(account, amount);
        if (LeanIMT.root(leaf, index, siblings) != ROOT) revert NotInTree();
        if (isPaid[leaf]) revert AlreadyPaid();
        isPaid[leaf] = true;
        (bool success,) = account.call{value: amount}("");
        if (!success) revert NotTaken();
    }
}
