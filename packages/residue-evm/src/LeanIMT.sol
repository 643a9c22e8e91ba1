// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {PoseidonT3} from "residue-evm/contracts/PoseidonT3.sol";

/// Paths of a lean incremental Merkle tree (zk-kit, "LeanIMT") with Poseidon as its hash: a node without a sibling is its parent, so a path has the
/// siblings that there are, and bit i of the index says that the i-th of them is the left one.
library LeanIMT {
    /// The root of the tree that has this leaf at the end of this path.
    function root(uint256 leaf, uint256 index, uint256[] memory siblings) internal view returns (uint256 node) {
        node = leaf;
        for (uint256 i = 0; i < siblings.length; i++) {
            node = (index >> i) & 1 == 1 ? PoseidonT3.hash([siblings[i], node]) : PoseidonT3.hash([node, siblings[i]]);
        }
    }
}
