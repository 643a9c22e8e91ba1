//! Functions of contracts as Solidity declares them, and the calldata that their arguments become.
//!
//! A verifier that a key makes and a hasher of Merkle trees are called as the ABI has it, by a selector. All other calldata is that of a precompile: the arguments one after
//! the other, as `abi.encodePacked` writes them, which is what a contract's `interface` says in words.

use std::fmt;

/// A function of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its arguments, in their order.
    pub arguments: Vec<Argument>,
    /// The result.
    pub result: Returned,
    /// The contract is called by a selector and ABI-encoded arguments; else by the arguments alone, packed.
    pub has_selector: bool,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its type in Solidity.
    pub kind: String,
    /// The bytes that an argument of type `bytes` has, where that is fixed.
    pub bytes: Option<u32>,
    /// Before an argument of type `bytes` comes its length, in two bytes.
    pub has_length: bool,
    /// Its name.
    pub name: String,
}

/// The result of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returned {
    /// `bool`: a word, 1 or anything else, or nothing, of which 1 alone is true.
    Truth,
    /// `address`: a word, or nothing for the address 0.
    Address,
    /// A value of this type, which is so many words.
    Words(String, usize),
    /// `bytes`: all that is returned.
    Bytes,
}

/// Functions by contract. After `:` stands the fixed length of `bytes`, after `+` that the length comes first, in two bytes; `selector` comes before a
/// function that is called by it.
///
/// The contracts of the EVM384 documents are missing: their elements are in the byte order of a machine.
static FUNCTIONS: &[(&str, &[&str])] = &[
    ("bls12_381/pairing", &["pairing(bytes pairs) returns (bool)"]),
    ("bls12_381/pairing_witness", &["pairing(bytes pairs, bytes:288 witness) returns (bool)"]),
    ("bls12_381/g1_add", &["add(uint256[4] p, uint256[4] q) returns (uint256[4])"]),
    ("bls12_381/g1_msm", &["msm(bytes products) returns (uint256[4])"]),
    ("bls12_381/g2_add", &["add(uint256[8] p, uint256[8] q) returns (uint256[8])"]),
    ("bls12_381/g2_msm", &["msm(bytes products) returns (uint256[8])"]),
    ("bls12_381/map_fp_to_g1", &["mapToCurve(uint256[2] u) returns (uint256[4])"]),
    ("bls12_381/map_fp2_to_g2", &["mapToCurve(uint256[4] u) returns (uint256[8])"]),
    ("bls12_381/aggregate_g1", &["aggregate(bytes points) returns (uint256[4])"]),
    ("bls12_381/decompress_g1", &["decompress(bytes:48 point) returns (uint256[4])"]),
    ("bls12_381/decompress_g2", &["decompress(bytes:96 point) returns (uint256[8])"]),
    ("bls12_381/hash_to_g1", &["hashToCurve(bytes+ tag, bytes message) returns (uint256[4])"]),
    ("bls12_381/hash_to_g2", &["hashToCurve(bytes+ tag, bytes message) returns (uint256[8])"]),
    (
        "bls12_381/verify",
        &[
            "verifyKeyInG1(bytes:48 publicKey, bytes:96 signature, bytes message) returns (bool)",
            "verifyKeyInG2(bytes:96 publicKey, bytes:48 signature, bytes message) returns (bool)",
        ],
    ),
    (
        "bls12_381/fast_aggregate_verify",
        &["verify(bytes:96 signature, uint16 count, bytes keys, bytes message) returns (bool)"],
    ),
    (
        "eth/deposit",
        &[
            "verify(bytes:48 key, bytes:96 signature, bytes32 credentials, bytes8 amount, bytes32 domain) returns (bool)",
        ],
    ),
    (
        "eth/sync_committee",
        &["signers(bytes:96 signature, bytes32 root, bytes32 domain, bytes32[2] bits, bytes keys) returns (uint256)"],
    ),
    (
        "drand/verify",
        &[
            "verifyKeyInG1(bytes:48 publicKey, bytes:96 signature, bytes previous, uint64 round) returns (bool)",
            "verifyKeyInG2(bytes:96 publicKey, bytes:48 signature, bytes previous, uint64 round) returns (bool)",
        ],
    ),
    (
        "kzg/point_evaluation",
        &[
            "evaluate(bytes32 versionedHash, uint256 z, uint256 y, bytes:48 commitment, bytes:48 proof) returns (uint256[2])",
        ],
    ),
    ("bls12_377/pairing", &["pairing(bytes pairs) returns (bool)"]),
    ("bls12_377/g1_add", &["add(uint256[4] p, uint256[4] q) returns (uint256[4])"]),
    ("bls12_377/g1_mul", &["mul(uint256[4] p, uint256 k) returns (uint256[4])"]),
    ("bls12_377/g1_msm", &["msm(bytes products) returns (uint256[4])"]),
    ("bls12_377/g2_add", &["add(uint256[8] p, uint256[8] q) returns (uint256[8])"]),
    ("bls12_377/g2_mul", &["mul(uint256[8] p, uint256 k) returns (uint256[8])"]),
    ("bls12_377/g2_msm", &["msm(bytes products) returns (uint256[8])"]),
    ("bw6_761/pairing", &["pairing(bytes pairs) returns (bool)"]),
    ("bw6_761/g1_add", &["add(uint256[6] p, uint256[6] q) returns (uint256[6])"]),
    ("bw6_761/g1_mul", &["mul(uint256[6] p, uint256[2] k) returns (uint256[6])"]),
    ("bw6_761/g1_msm", &["msm(bytes products) returns (uint256[6])"]),
    ("bw6_761/g2_add", &["add(uint256[6] p, uint256[6] q) returns (uint256[6])"]),
    ("bw6_761/g2_mul", &["mul(uint256[6] p, uint256[2] k) returns (uint256[6])"]),
    ("bw6_761/g2_msm", &["msm(bytes products) returns (uint256[6])"]),
    ("bn254/pairing", &["pairing(bytes pairs) returns (bool)"]),
    ("bn254/add", &["add(uint256[2] p, uint256[2] q) returns (uint256[2])"]),
    ("bn254/mul", &["mul(uint256[2] p, uint256 k) returns (uint256[2])"]),
    ("bn254/msm", &["msm(bytes products) returns (uint256[2])"]),
    ("modexp", MODEXP),
    ("modexp/words", MODEXP),
    ("modexp/word", MODEXP),
    ("p256/verify", &["verify(bytes32 hash, uint256 r, uint256 s, uint256 x, uint256 y) returns (bool)"]),
    ("p384/verify", &["verify(bytes:48 hash, bytes:48 r, bytes:48 s, bytes:48 x, bytes:48 y) returns (bool)"]),
    ("secp521r1/verify", &["verify(bytes:66 hash, bytes:66 r, bytes:66 s, bytes:66 x, bytes:66 y) returns (bool)"]),
    ("secp256k1/recover", &["recover(bytes32 hash, uint256 v, bytes32 r, bytes32 s) returns (address)"]),
    ("bip340/verify", &["verify(bytes32 key, bytes32 r, bytes32 s, bytes message) returns (bool)"]),
    ("ed25519/verify", ED25519),
    ("ed25519/zip215", ED25519),
    ("falcon512/eth", &["verify(bytes32 keyHash, bytes:2048 key, bytes message, bytes:665 signature) returns (bool)"]),
    (
        "falcon512/eth_numbers",
        &["verify(bytes32 keyHash, bytes:2048 key, bytes message, bytes:1064 signature) returns (bool)"],
    ),
    (
        "falcon512/shake",
        &["verify(bytes32 keyHash, bytes:2048 key, bytes:40 salt, bytes message, bytes:625 signature) returns (bool)"],
    ),
    ("falcon512/eth_register", &["transform(bytes:896 key) returns (bytes)"]),
    ("mldsa44/eth", ML_DSA_44),
    ("mldsa44/fips", ML_DSA_44),
    (
        "mldsa65/fips",
        &["verify(bytes32 keyHash, bytes:36928 key, bytes contextAndMessage, bytes:3309 signature) returns (bool)"],
    ),
    ("mldsa44/eth_register", &["transform(bytes:1312 key) returns (bytes)"]),
    ("mldsa44/register", &["transform(bytes:1312 key) returns (bytes)"]),
    ("mldsa65/register", &["transform(bytes:1952 key) returns (bytes)"]),
    ("slh_dsa/sha2_128_24", SLH_DSA),
    ("slh_dsa/sha2_128_24_rolled", SLH_DSA),
    ("slh_dsa/keccak_128_24", SLH_DSA),
    ("sphincs/c13", C13),
    ("sphincs/c13_rolled", C13),
    ("sphincs/c7", &["verify(bytes32 key, bytes32 message, bytes:3704 signature) returns (bool)"]),
    ("sphincs/c11", &["verify(bytes32 key, bytes32 message, bytes:3976 signature) returns (bool)"]),
    ("wots/keccak_128", &["verify(bytes32 key, bytes16 node, bytes:560 signature) returns (bool)"]),
    ("wots/keccak_256", &["verify(bytes32 seed, bytes32 key, bytes32 node, bytes:2144 signature) returns (bool)"]),
    ("xmss/keccak_10_128", &["verify(bytes32 key, bytes32 message, bytes:740 signature) returns (bool)"]),
    (
        "xmss/keccak_10_256",
        &["verify(bytes32 seed, bytes32 root, bytes32 message, bytes:2500 signature) returns (bool)"],
    ),
    ("grumpkin/mul", MUL),
    ("grumpkin/msm", MSM),
    ("pallas/mul", MUL),
    ("pallas/msm", MSM),
    ("vesta/mul", MUL),
    ("vesta/msm", MSM),
    ("baby_jubjub/mul", MUL),
    ("baby_jubjub/msm", MSM),
    ("baby_jubjub/eddsa", &["verify(uint256[2] key, uint256[2] r, uint256 s, uint256 message) returns (bool)"]),
    ("bandersnatch/mul", MUL),
    ("bandersnatch/msm", MSM),
    ("hashes/sha256", &["hash(bytes message) returns (bytes32)"]),
    ("hashes/ripemd160", &["hash(bytes message) returns (bytes32)"]),
    (
        "hashes/blake2f",
        &[
            "compress(uint32 rounds, bytes32[2] h, bytes32[4] m, bytes8 t0, bytes8 t1, bool isLast) returns (bytes32[2])",
        ],
    ),
    ("hashes/sha1", &["hash(bytes message) returns (bytes32)"]),
    ("hashes/sha512", &["hash(bytes message) returns (bytes32[2])"]),
    ("hashes/sha3_256", &["hash(bytes message) returns (bytes32)"]),
    ("hashes/shake128", SHAKE),
    ("hashes/shake256", SHAKE),
    ("poseidon/t2", &["hash(uint256[1] inputs) returns (uint256)"]),
    ("poseidon/t3", &["hash(uint256[2] inputs) returns (uint256)"]),
    ("poseidon/t4", &["hash(uint256[3] inputs) returns (uint256)"]),
    ("poseidon/t5", &["hash(uint256[4] inputs) returns (uint256)"]),
    ("poseidon/t6", &["hash(uint256[5] inputs) returns (uint256)"]),
    ("poseidon/t3_many", &["hash(uint256[2][32] inputs) returns (uint256[32])"]),
    ("poseidon/merkle", MERKLE),
    ("poseidon2/bn254_t2", &["permute(uint256[2] state) returns (uint256[2])"]),
    ("poseidon2/bn254_t3", &["permute(uint256[3] state) returns (uint256[3])"]),
    ("poseidon2/bn254_t4", &["permute(uint256[4] state) returns (uint256[4])"]),
    ("poseidon2/bls12_381_t2", &["permute(uint256[2] state) returns (uint256[2])"]),
    ("poseidon2/bls12_381_t3", &["permute(uint256[3] state) returns (uint256[3])"]),
    ("poseidon2/bls12_381_t4", &["permute(uint256[4] state) returns (uint256[4])"]),
    ("poseidon2/pallas_t3", &["permute(uint256[3] state) returns (uint256[3])"]),
    ("poseidon2/vesta_t3", &["permute(uint256[3] state) returns (uint256[3])"]),
    ("poseidon2/goldilocks_t12", &["permute(uint256[12] state) returns (uint256[12])"]),
    ("poseidon2/babybear_t16", &["permute(uint256[16] state) returns (uint256[16])"]),
    ("poseidon2/koalabear_t16", &["permute(uint256[16] state) returns (uint256[16])"]),
    ("poseidon2/koalabear_t24", &["permute(uint256[24] state) returns (uint256[24])"]),
    ("poseidon2/babybear_t16_lanes", &["permute(uint256[16] state) returns (uint256[16])"]),
    ("poseidon2/koalabear_t16_lanes", &["permute(uint256[16] state) returns (uint256[16])"]),
    ("poseidon2/koalabear_t24_lanes", &["permute(uint256[24] state) returns (uint256[24])"]),
    ("poseidon2/bn254_t3_many", &["permute(bytes states) returns (bytes)"]),
    ("poseidon2/bn254_t4_many", &["permute(bytes states) returns (bytes)"]),
    ("poseidon2/merkle", MERKLE),
    ("lean_imt/poseidon", NODE),
    ("lean_imt/poseidon2", NODE),
    ("ntt/falcon512", NTT),
    ("ntt/falcon512_short", NTT),
    ("ntt/dilithium256", NTT),
    ("bls12_381/fp2_mul", &["mul(uint256[4] a, uint256[4] b) returns (uint256[4])"]),
    ("bls12_381/g1_mul", &["mul(uint256[4] p, uint256 k) returns (uint256[4])"]),
    ("bls12_381/g2_mul", &["mul(uint256[8] p, uint256 k) returns (uint256[8])"]),
];

const MODEXP: &[&str] = &[
    "power(uint256 baseBytes, uint256 exponentBytes, uint256 modulusBytes, bytes baseExponentModulus) returns (bytes)",
];
const ED25519: &[&str] = &["verify(bytes32 key, bytes32 r, bytes32 s, bytes message) returns (bool)"];
const ML_DSA_44: &[&str] =
    &["verify(bytes32 keyHash, bytes:20544 key, bytes contextAndMessage, bytes:2420 signature) returns (bool)"];
const SLH_DSA: &[&str] = &["verify(bytes32 key, bytes32 message, bytes:3856 signature) returns (bool)"];
const C13: &[&str] = &["verify(bytes32 key, bytes32 message, bytes:3688 signature) returns (bool)"];
const SHAKE: &[&str] = &["hash(uint256 outputBytes, bytes message) returns (bytes)"];
const MUL: &[&str] = &["mul(uint256[2] p, uint256 k) returns (uint256[2])"];
const MSM: &[&str] = &["msm(bytes products) returns (uint256[2])"];
const MERKLE: &[&str] = &["verify(uint256 root, uint256 leaf, uint256 index, uint256[] siblings) returns (bool)"];
const NODE: &[&str] = &["selector hash(uint256[2] children) returns (uint256)"];
const NTT: &[&str] = &["transform(bytes coefficients) returns (bytes)"];

/// The functions of the contract of this name.
pub(crate) fn of(contract: &str) -> Vec<Function> {
    let found = FUNCTIONS.iter().find(|(name, _)| *name == contract);
    let declared = |text: &&str| match text.strip_prefix("selector ") {
        Some(text) => Function::declared(text, true),
        None => Function::declared(text, false),
    };
    found.into_iter().flat_map(|(_, functions)| *functions).map(declared).collect()
}

impl Function {
    /// The one that this text declares, in the form of the table here.
    ///
    /// # Panics
    ///
    /// On a text of another form: texts are ours.
    pub(crate) fn declared(text: &str, has_selector: bool) -> Self {
        let parts = text.split_once('(').and_then(|(name, rest)| Some((name, rest.split_once(") returns (")?)));
        let (name, (arguments, result)) = parts.expect("a declaration is name(arguments) returns (type)");
        let arguments = arguments.split(", ").map(|argument| {
            let (kind, name) = argument.split_once(' ').expect("an argument has a type and a name");
            let (kind, bytes) = kind.split_once(':').map_or((kind, None), |(kind, bytes)| (kind, bytes.parse().ok()));
            let (kind, has_length) = kind.strip_suffix('+').map_or((kind, false), |kind| (kind, true));
            Argument { kind: kind.to_owned(), bytes, has_length, name: name.to_owned() }
        });
        let result = match result.trim_end_matches(')') {
            "bool" => Returned::Truth,
            "address" => Returned::Address,
            "bytes" => Returned::Bytes,
            words => Returned::Words(words.to_owned(), words_of(words)),
        };
        Self { name: name.to_owned(), arguments: arguments.collect(), result, has_selector }
    }

    /// Name and types, of which the selector is the hash.
    pub fn signature(&self) -> String {
        let kinds: Vec<&str> = self.arguments.iter().map(|argument| &*argument.kind).collect();
        format!("{}({})", self.name, kinds.join(","))
    }
}

/// Words of a type: one for each element.
fn words_of(kind: &str) -> usize {
    let dimensions = kind.split('[').skip(1).map(|length| length.trim_end_matches(']'));
    dimensions.map(|length| length.parse::<usize>().expect("the length of a result is fixed")).product()
}

impl Argument {
    /// True if Solidity needs a data location for it.
    pub fn is_in_memory(&self) -> bool {
        self.kind == "bytes" || self.kind.ends_with(']')
    }
}

impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truth => "bool",
            Self::Address => "address",
            Self::Words(kind, _) => kind,
            Self::Bytes => "bytes",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONTRACTS;

    #[test]
    fn every_contract_but_those_of_evm384_has_functions() {
        for contract in CONTRACTS {
            assert_eq!(of(contract.name).is_empty(), contract.name.starts_with("evm384/"), "{}", contract.name);
        }
        assert!(FUNCTIONS.iter().all(|(name, _)| crate::find(name).is_some()), "a function of no contract");
    }

    #[test]
    fn declarations_are_read() {
        let [node] = &of("lean_imt/poseidon")[..] else { panic!("one function") };
        assert_eq!((node.signature(), node.has_selector), (crate::lean_imt::SIGNATURE.to_owned(), true));
        let [verify] = &of("p256/verify")[..] else { panic!("one function") };
        assert_eq!(verify.signature(), "verify(bytes32,uint256,uint256,uint256,uint256)");
        let [hash] = &of("bls12_381/hash_to_g1")[..] else { panic!("one function") };
        assert!(hash.arguments[0].has_length && !hash.arguments[1].has_length);
        assert_eq!(hash.result, Returned::Words("uint256[4]".to_owned(), 4));
        let [key_in_g1, _] = &of("bls12_381/verify")[..] else { panic!("two functions") };
        assert_eq!(key_in_g1.arguments[1].bytes, Some(96));
        assert_eq!(words_of("uint256"), 1);
    }
}
