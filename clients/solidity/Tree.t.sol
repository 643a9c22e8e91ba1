// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {InternalLeanIMT, LeanIMTData} from "@zk-kit/lean-imt.sol/InternalLeanIMT.sol";
import {PoseidonT3} from "poseidon-solidity/PoseidonT3.sol";
import {LeanImtPoseidon} from "../ours/LeanImtPoseidon.sol";
import {Rows} from "./Rows.sol";

contract Tree {
    using InternalLeanIMT for LeanIMTData;

    LeanIMTData private data;

    function insert(uint256 leaf) external returns (uint256) {
        return data._insert(leaf);
    }
}

/// zk-kit's tree as it is, linked to a hasher: without a name in LINKED to its own, else to ours, whose code is put where the linker was told.
contract TreeTest is Rows {
    uint256 private constant LEAVES = 64;

    function test_Tree() public {
        bool isOurs = bytes(VM.envString("LINKED")).length > 0;
        if (isOurs) VM.etch(address(PoseidonT3), LeanImtPoseidon.deploy().code);
        Tree tree = new Tree();
        uint256 root;
        uint256 start = gasleft();
        for (uint256 i = 1; i <= LEAVES; i++) root = tree.insert(i);
        uint256 gas = (start - gasleft()) / LEAVES;
        // Both hashers have to come to the root that circomlib's constants give: the script compares this line.
        VM.writeLine("roots.txt", VM.toString(root));
        string memory hasher = isOurs ? "lean_imt/poseidon" : "poseidon-solidity";
        row("a leaf into zk-kit's tree of 64", hasher, gas, address(PoseidonT3).code.length);
    }
}
