// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {P256Verify} from "residue-evm/contracts/P256Verify.sol";
import {PoseidonT3} from "residue-evm/contracts/PoseidonT3.sol";

interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

/// `forge script Deploy.s.sol --rpc-url URL --private-key KEY --broadcast`. A contract that is there already is left alone.
contract Deploy {
    bool public constant IS_SCRIPT = true;
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function run() external {
        VM.startBroadcast();
        PoseidonT3.deploy();
        P256Verify.deploy();
        VM.stopBroadcast();
    }
}
