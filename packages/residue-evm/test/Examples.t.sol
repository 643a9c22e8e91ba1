// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {P256Verify} from "residue-evm/contracts/P256Verify.sol";
import {PoseidonT3} from "residue-evm/contracts/PoseidonT3.sol";
import {LeanIMT} from "residue-evm/src/LeanIMT.sol";
import {P256} from "residue-evm/src/P256.sol";
import {Airdrop} from "residue-evm/examples/Airdrop.sol";
import {Groth16} from "residue-evm/examples/generated/Groth16.sol";
import {Proof} from "residue-evm/examples/generated/Proof.sol";
import {Groth16Gate} from "residue-evm/examples/Groth16Gate.sol";
import {PasskeyWallet} from "residue-evm/examples/PasskeyWallet.sol";

interface Vm {
    function etch(address account, bytes calldata code) external;
    function signP256(uint256 key, bytes32 hash) external pure returns (bytes32 r, bytes32 s);
    function publicKeyP256(uint256 key) external pure returns (uint256 x, uint256 y);
}

/// The examples as their users call them, by forge and by Hardhat.
contract ExamplesTest {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    address private constant FACTORY = 0x4e59b44847b379578588920cA78FbF26c0B4956C;
    bytes private constant FACTORY_CODE =
        hex"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";
    uint256 private constant ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551;

    function setUp() public {
        // Test runners of some versions begin without the factory.
        if (FACTORY.code.length == 0) VM.etch(FACTORY, FACTORY_CODE);
        require(PoseidonT3.deploy() == PoseidonT3.ADDRESS && PoseidonT3.isAt(PoseidonT3.ADDRESS), "Poseidon");
        require(P256Verify.deploy() == P256Verify.ADDRESS && P256Verify.deploy() == P256Verify.ADDRESS, "P-256");
    }

    /// The value that circomlib, light-poseidon and poseidon-solidity have for 1 and 2.
    function test_Poseidon() public view {
        uint256 expected = 7853200120776062878684798364095072458815029376092732009249414926327459813530;
        require(PoseidonT3.hash([uint256(1), 2]) == expected, "hash of 1 and 2");
    }

    function test_Airdrop() public {
        address payable alice = payable(address(0xa11ce));
        uint256[3] memory leaves;
        leaves[0] = PoseidonT3.hash([uint256(uint160(address(alice))), 1 ether]);
        (leaves[1], leaves[2]) = (PoseidonT3.hash([uint256(2), 2]), PoseidonT3.hash([uint256(3), 3]));
        // Three leaves: the third has no sibling, and is its parent.
        uint256 root = PoseidonT3.hash([PoseidonT3.hash([leaves[0], leaves[1]]), leaves[2]]);
        uint256[] memory path = new uint256[](1);
        path[0] = PoseidonT3.hash([leaves[0], leaves[1]]);
        require(LeanIMT.root(leaves[2], 1, path) == root, "the path of a leaf without a sibling");
        Airdrop airdrop = new Airdrop{value: 2 ether}(root);
        path = new uint256[](2);
        (path[0], path[1]) = (leaves[1], leaves[2]);
        refused(address(airdrop), abi.encodeCall(Airdrop.claim, (alice, 2 ether, 0, path)), Airdrop.NotInTree.selector);
        refused(address(airdrop), abi.encodeCall(Airdrop.claim, (alice, 1 ether, 1, path)), Airdrop.NotInTree.selector);
        airdrop.claim(alice, 1 ether, 0, path);
        require(alice.balance == 1 ether, "paid");
        refused(address(airdrop), abi.encodeCall(Airdrop.claim, (alice, 1 ether, 0, path)), Airdrop.AlreadyPaid.selector);
    }

    function test_PasskeyWallet() public {
        uint256 key = uint256(keccak256("a passkey"));
        (uint256 x, uint256 y) = VM.publicKeyP256(key);
        PasskeyWallet wallet = new PasskeyWallet{value: 3 ether}(x, y);
        address to = address(0xb0b);
        bytes32 challenge = wallet.challengeOf(to, 1 ether, "");
        PasskeyWallet.Assertion memory assertion;
        assertion.authenticatorData = abi.encodePacked(sha256("example.org"), uint8(0x05), uint32(1));
        assertion.before = '{"type":"webauthn.get","challenge":"';
        assertion.behind = '","origin":"https://example.org","crossOrigin":false}';
        bytes32 client = sha256(abi.encodePacked(assertion.before, wallet.base64Url(challenge), assertion.behind));
        bytes32 hash = sha256(abi.encodePacked(assertion.authenticatorData, client));
        (bytes32 r, bytes32 s) = VM.signP256(key, hash);
        (assertion.r, assertion.s) = (uint256(r), uint256(s) > ORDER / 2 ? ORDER - uint256(s) : uint256(s));
        // The contract of the catalogue and the precompile agree.
        require(P256Verify.verify(hash, assertion.r, assertion.s, x, y) && P256.verify(hash, assertion.r, assertion.s, x, y), "a signature");
        require(!P256Verify.verify(hash, assertion.r ^ 1, assertion.s, x, y) && !P256.verify(hash, assertion.r ^ 1, assertion.s, x, y), "none");
        bytes memory other = abi.encodeCall(PasskeyWallet.execute, (to, 2 ether, "", assertion));
        refused(address(wallet), other, PasskeyWallet.NotSigned.selector);
        wallet.execute(to, 1 ether, "", assertion);
        require(to.balance == 1 ether && wallet.nonce() == 1, "sent");
        bytes memory again = abi.encodeCall(PasskeyWallet.execute, (to, 1 ether, "", assertion));
        refused(address(wallet), again, PasskeyWallet.NotSigned.selector);
    }

    /// RFC 4648 has no example of 32 bytes: that of zeros, and one whose digits are all of the last ones.
    function test_Base64() public {
        PasskeyWallet wallet = new PasskeyWallet(0, 0);
        require(keccak256(bytes(wallet.base64Url(0))) == keccak256("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "zeros");
        bytes32 ones = bytes32(type(uint256).max);
        require(keccak256(bytes(wallet.base64Url(ones))) == keccak256("__________________________________________8"), "ones");
    }

    function test_Groth16Gate() public {
        Groth16Gate gate = new Groth16Gate(Groth16.deploy());
        bytes memory proof = Proof.CALL;
        bytes memory arguments = new bytes(proof.length - 4);
        for (uint256 i = 0; i < arguments.length; i++) arguments[i] = proof[i + 4];
        (uint256[2] memory a, uint256[2][2] memory b, uint256[2] memory c, uint256[2] memory inputs) =
            abi.decode(arguments, (uint256[2], uint256[2][2], uint256[2], uint256[2]));
        uint256[2] memory others = [inputs[0] ^ 1, inputs[1]];
        refused(address(gate), abi.encodeCall(Groth16Gate.enter, (a, b, c, others)), Groth16Gate.NoProof.selector);
        gate.enter(a, b, c, inputs);
        refused(address(gate), abi.encodeCall(Groth16Gate.enter, (a, b, c, inputs)), Groth16Gate.AlreadyUsed.selector);
        try new Groth16Gate(PoseidonT3.ADDRESS) {
            revert("taken");
        } catch (bytes memory reason) {
            require(bytes4(reason) == Groth16Gate.OtherCode.selector, "another verifier");
        }
    }

    function refused(address account, bytes memory input, bytes4 expected) private {
        (bool success, bytes memory output) = account.call(input);
        require(!success && bytes4(output) == expected, "not refused as expected");
    }
}
