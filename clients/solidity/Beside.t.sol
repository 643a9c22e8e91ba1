// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {P256 as OpenZeppelinP256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {ECDSA384} from "@solarity/solidity-lib/libs/crypto/ECDSA384.sol";
import {PoseidonT2 as SolidityT2} from "poseidon-solidity/PoseidonT2.sol";
import {PoseidonT3 as SolidityT3} from "poseidon-solidity/PoseidonT3.sol";
import {PoseidonT4 as SolidityT4} from "poseidon-solidity/PoseidonT4.sol";
import {PoseidonT5 as SolidityT5} from "poseidon-solidity/PoseidonT5.sol";
import {PoseidonT6 as SolidityT6} from "poseidon-solidity/PoseidonT6.sol";
import {PoseidonT2} from "../ours/PoseidonT2.sol";
import {PoseidonT3} from "../ours/PoseidonT3.sol";
import {PoseidonT4} from "../ours/PoseidonT4.sol";
import {PoseidonT5} from "../ours/PoseidonT5.sol";
import {PoseidonT6} from "../ours/PoseidonT6.sol";
import {P256Verify} from "../ours/P256Verify.sol";
import {P384Verify} from "../ours/P384Verify.sol";
import {Groth16} from "../ours/Groth16.sol";
import {Plonk} from "../ours/Plonk.sol";
import {Vectors} from "../ours/Vectors.sol";
import {Groth16Verifier} from "../verifiers/Groth16Verifier.sol";
import {PlonkVerifier} from "../verifiers/PlonkVerifier.sol";
import {Rows, Vm} from "./Rows.sol";

/// Libraries of internal functions as contracts, so that a call has the same parts on both sides.
contract SolidityP256 {
    function verify(bytes32 h, bytes32 r, bytes32 s, bytes32 x, bytes32 y) external view returns (bool) {
        return OpenZeppelinP256.verifySolidity(h, r, s, x, y);
    }
}

contract SolidityP384 {
    function verify(bytes memory h, bytes memory signature, bytes memory key) external view returns (bool) {
        ECDSA384.Parameters memory curve = ECDSA384.Parameters({
            a: hex"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000fffffffc",
            b: hex"b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
            gx: hex"aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
            gy: hex"3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
            p: hex"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
            n: hex"ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
        });
        return ECDSA384.verify(curve, h, signature, key);
    }
}

/// Public code and ours on the same inputs: the same answers, or the test fails; gas of a call of a warm account, the mean over inputs.
contract BesideTest is Rows {
    uint256 private constant HASHES = 16;

    function test_T2() public {
        address ours = PoseidonT2.deploy();
        Pair memory sum;
        for (uint256 i = 0; i <= HASHES; i++) {
            uint256[1] memory inputs = [element()];
            uint256 start = gasleft();
            uint256 theirs = SolidityT2.hash(inputs);
            uint256 between = gasleft();
            uint256 found = PoseidonT2.hash(ours, inputs);
            take(sum, i, start - between, between - gasleft());
            require(theirs == found, "hashes differ");
        }
        rows("Poseidon, t = 2", "poseidon-solidity", address(SolidityT2), "poseidon/t2", ours, sum, HASHES);
    }

    function test_T3() public {
        address ours = PoseidonT3.deploy();
        Pair memory sum;
        for (uint256 i = 0; i <= HASHES; i++) {
            uint256[2] memory inputs = [element(), element()];
            uint256 start = gasleft();
            uint256 theirs = SolidityT3.hash(inputs);
            uint256 between = gasleft();
            uint256 found = PoseidonT3.hash(ours, inputs);
            take(sum, i, start - between, between - gasleft());
            require(theirs == found, "hashes differ");
        }
        rows("Poseidon, t = 3", "poseidon-solidity", address(SolidityT3), "poseidon/t3", ours, sum, HASHES);
    }

    function test_T4() public {
        address ours = PoseidonT4.deploy();
        Pair memory sum;
        for (uint256 i = 0; i <= HASHES; i++) {
            uint256[3] memory inputs = [element(), element(), element()];
            uint256 start = gasleft();
            uint256 theirs = SolidityT4.hash(inputs);
            uint256 between = gasleft();
            uint256 found = PoseidonT4.hash(ours, inputs);
            take(sum, i, start - between, between - gasleft());
            require(theirs == found, "hashes differ");
        }
        rows("Poseidon, t = 4", "poseidon-solidity", address(SolidityT4), "poseidon/t4", ours, sum, HASHES);
    }

    function test_T5() public {
        address ours = PoseidonT5.deploy();
        Pair memory sum;
        for (uint256 i = 0; i <= HASHES; i++) {
            uint256[4] memory inputs = [element(), element(), element(), element()];
            uint256 start = gasleft();
            uint256 theirs = SolidityT5.hash(inputs);
            uint256 between = gasleft();
            uint256 found = PoseidonT5.hash(ours, inputs);
            take(sum, i, start - between, between - gasleft());
            require(theirs == found, "hashes differ");
        }
        rows("Poseidon, t = 5", "poseidon-solidity", address(SolidityT5), "poseidon/t5", ours, sum, HASHES);
    }

    function test_T6() public {
        address ours = PoseidonT6.deploy();
        Pair memory sum;
        for (uint256 i = 0; i <= HASHES; i++) {
            uint256[5] memory inputs = [element(), element(), element(), element(), element()];
            uint256 start = gasleft();
            uint256 theirs = SolidityT6.hash(inputs);
            uint256 between = gasleft();
            uint256 found = PoseidonT6.hash(ours, inputs);
            take(sum, i, start - between, between - gasleft());
            require(theirs == found, "hashes differ");
        }
        rows("Poseidon, t = 6", "poseidon-solidity", address(SolidityT6), "poseidon/t6", ours, sum, HASHES);
    }

    /// Signatures of random keys, each right one followed by a spoiled one, which is not counted.
    function test_P256() public {
        address ours = P256Verify.deploy();
        SolidityP256 solidity = new SolidityP256();
        Pair memory sum;
        for (uint256 i = 0; i <= HASHES; i++) {
            uint256 key = element();
            bytes32 hash = bytes32(element());
            (bytes32 r, bytes32 s) = VM.signP256(key, hash);
            (uint256 x, uint256 y) = VM.publicKeyP256(key);
            // OpenZeppelin takes the lower s alone.
            uint256 low = uint256(s) > P256_ORDER / 2 ? P256_ORDER - uint256(s) : uint256(s);
            uint256 start = gasleft();
            bool theirs = solidity.verify(hash, r, bytes32(low), bytes32(x), bytes32(y));
            uint256 between = gasleft();
            bool found = P256Verify.verify(ours, hash, uint256(r), low, x, y);
            take(sum, i, start - between, between - gasleft());
            require(theirs && found, "a signature is refused");
            hash = bytes32(uint256(hash) ^ 1);
            theirs = solidity.verify(hash, r, bytes32(low), bytes32(x), bytes32(y));
            require(!theirs && !P256Verify.verify(ours, hash, uint256(r), low, x, y), "a spoiled signature is taken");
        }
        rows("ECDSA on P-256", "@openzeppelin/contracts", address(solidity), "p256/verify", ours, sum, HASHES);
    }

    function test_P384() public {
        address ours = P384Verify.deploy();
        SolidityP384 solidity = new SolidityP384();
        Pair memory sum;
        bytes memory hash = Vectors.P384_HASH;
        for (uint256 i = 0; i < 3; i++) {
            if (i == 2) hash[47] ^= 0x01;
            bytes memory signature = bytes.concat(Vectors.P384_R, Vectors.P384_S);
            bytes memory key = bytes.concat(Vectors.P384_X, Vectors.P384_Y);
            uint256 start = gasleft();
            bool theirs = solidity.verify(hash, signature, key);
            uint256 between = gasleft();
            bool found = P384Verify.verify(ours, hash, Vectors.P384_R, Vectors.P384_S, Vectors.P384_X, Vectors.P384_Y);
            if (i < 2) take(sum, i, start - between, between - gasleft());
            require(theirs == (i < 2) && found == (i < 2), "answers differ");
        }
        rows("ECDSA on P-384", "@solarity/solidity-lib", address(solidity), "p384/verify", ours, sum, 1);
    }

    function test_Groth16() public {
        keyed("Groth16, 2 inputs", address(new Groth16Verifier()), "groth16", Groth16.deploy(), Vectors.GROTH16);
    }

    function test_Plonk() public {
        keyed("PLONK, 2 inputs", address(new PlonkVerifier()), "plonk", Plonk.deploy(), Vectors.PLONK);
    }

    /// Verifiers that take the same calldata: a proof, and one with another last input.
    function keyed(string memory what, address solidity, string memory name, address ours, bytes memory input) private {
        Pair memory sum;
        for (uint256 i = 0; i < 3; i++) {
            if (i == 2) input[input.length - 1] ^= 0x01;
            uint256 start = gasleft();
            (, bytes memory theirs) = solidity.staticcall(input);
            uint256 between = gasleft();
            (, bytes memory found) = ours.staticcall(input);
            if (i < 2) take(sum, i, start - between, between - gasleft());
            require(theirs.length == 32 && keccak256(theirs) == keccak256(found), "answers differ");
            require(abi.decode(found, (uint256)) == (i < 2 ? 1 : 0), "not the answer of the proof");
        }
        rows(what, "snarkjs", solidity, name, ours, sum, 1);
    }
}
