// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

interface Vm {
    function etch(address account, bytes calldata code) external;
    function signP256(uint256 key, bytes32 hash) external pure returns (bytes32 r, bytes32 s);
    function publicKeyP256(uint256 key) external pure returns (uint256 x, uint256 y);
    function writeLine(string calldata path, string calldata line) external;
    function toString(uint256 number) external pure returns (string memory);
    function envString(string calldata name) external view returns (string memory);
}

/// Random inputs, sums of gas, and the lines that the script makes a table of.
abstract contract Rows {
    Vm internal constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 internal constant BN254_ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
    uint256 internal constant P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551;

    /// Gas of both sides.
    struct Pair {
        uint256 theirs;
        uint256 ours;
    }

    uint256 private state = 1;

    function element() internal returns (uint256) {
        state = uint256(keccak256(abi.encode(state)));
        return state % BN254_ORDER;
    }

    /// Adds to the sum, but for the first call, which makes the accounts warm.
    function take(Pair memory sum, uint256 call, uint256 theirs, uint256 ours) internal pure {
        if (call > 0) (sum.theirs, sum.ours) = (sum.theirs + theirs, sum.ours + ours);
    }

    function rows(string memory what, string memory package, address theirs, string memory name, address ours, Pair memory sum, uint256 calls)
        internal
    {
        row(what, package, sum.theirs / calls, theirs.code.length);
        row(what, name, sum.ours / calls, ours.code.length);
    }

    function row(string memory what, string memory code, uint256 gas, uint256 size) internal {
        VM.writeLine("rows.tsv", string.concat(what, "\t", code, "\t", VM.toString(gas), "\t", VM.toString(size)));
    }
}
