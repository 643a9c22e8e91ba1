// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {P256} from "residue-evm/src/P256.sol";

/// A wallet that a passkey owns: an assertion of WebAuthn (§7.2) whose challenge is the hash of what is to be done.
contract PasskeyWallet {
    /// Bits of an assertion's flags (WebAuthn, §6.1): the user was present and was verified.
    uint8 private constant PRESENT_AND_VERIFIED = 0x05;
    /// Half the order of P-256: of a signature and its mirror image one is taken.
    uint256 private constant HALF_ORDER = 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8;
    bytes private constant DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    uint256 public immutable X;
    uint256 public immutable Y;
    uint256 public nonce;

    struct Assertion {
        bytes authenticatorData;
        /// What stands in the client's JSON before and after the challenge.
        string before;
        string behind;
        uint256 r;
        uint256 s;
    }

    error NotSigned();
    error Failed(bytes output);

    constructor(uint256 x, uint256 y) payable {
        (X, Y) = (x, y);
    }

    function challengeOf(address to, uint256 value, bytes calldata data) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), nonce, to, value, data));
    }

    function execute(address to, uint256 value, bytes calldata data, Assertion calldata assertion) external {
        if (!isSigned(challengeOf(to, value, data), assertion)) revert NotSigned();
        nonce += 1;
        (bool success, bytes memory output) = to.call{value: value}(data);
        if (!success) revert Failed(output);
    }

    function isSigned(bytes32 challenge, Assertion calldata assertion) public view returns (bool) {
        bytes calldata data = assertion.authenticatorData;
        if (data.length < 37 || uint8(data[32]) & PRESENT_AND_VERIFIED != PRESENT_AND_VERIFIED) return false;
        // The type and the challenge stand first, as §5.8.1.1 writes the JSON; what follows is the browser's.
        if (keccak256(bytes(assertion.before)) != keccak256('{"type":"webauthn.get","challenge":"')) return false;
        if (bytes(assertion.behind).length == 0 || bytes(assertion.behind)[0] != '"') return false;
        if (assertion.s > HALF_ORDER) return false;
        bytes32 client = sha256(abi.encodePacked(assertion.before, base64Url(challenge), assertion.behind));
        return P256.verify(sha256(abi.encodePacked(data, client)), assertion.r, assertion.s, X, Y);
    }

    /// 32 bytes as 43 digits (RFC 4648, §5, without padding).
    function base64Url(bytes32 value) public pure returns (string memory) {
        bytes memory text = new bytes(43);
        for (uint256 i = 0; i < 43; i++) {
            // The last digit has four bits of the value above two zeros.
            uint256 digit = i < 42 ? uint256(value) >> (250 - 6 * i) : uint256(value) << 2;
            text[i] = DIGITS[digit & 63];
        }
        return string(text);
    }
}
