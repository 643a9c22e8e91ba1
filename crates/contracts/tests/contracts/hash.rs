//! Messages are hashed to the points that blst finds, under every revision, for messages and tags of lengths around the blocks
//! of SHA-256 and the longest tag.
//!
//! `RESIDUE_CASES=2000` takes as many messages of each group at random.

use residue_compiler::compile;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared, native};
use residue_isa::{GasSchedule, Revision};

/// More than any input of these tests takes.
const GAS: u64 = 100_000_000;
/// The address of SHA-256.
const SHA256: u16 = 2;

/// The key 1 signs with H(m) itself.
fn one() -> [u8; 32] {
    let mut scalar = [0; 32];
    scalar[31] = 1;
    scalar
}

/// Elements of 48 bytes, as EIP-2537 has them, in the given order.
fn elements(serialized: &[u8], order: &[usize]) -> Vec<u8> {
    order.iter().flat_map(|&at| [&[0; 16][..], &serialized[48 * at..48 * (at + 1)]].concat()).collect()
}

fn blst_g1(message: &[u8], tag: &[u8]) -> Vec<u8> {
    let key = blst::min_sig::SecretKey::from_bytes(&one()).unwrap();
    elements(&key.sign(message, tag, &[]).serialize(), &[0, 1])
}

/// blst writes c1 before c0, EIP-2537 c0 before c1.
fn blst_g2(message: &[u8], tag: &[u8]) -> Vec<u8> {
    let key = blst::min_pk::SecretKey::from_bytes(&one()).unwrap();
    elements(&key.sign(message, tag, &[]).serialize(), &[1, 0, 3, 2])
}

/// The contract of a group with its judge, under every revision, ready to run.
struct Hash {
    judge: fn(&[u8], &[u8]) -> Vec<u8>,
    compiled: Vec<(Revision, Prepared)>,
}

impl Hash {
    fn both() -> [Self; 2] {
        let of = |name: &str, judge| {
            let program = find(name).unwrap().program();
            let prepare = |&revision: &Revision| {
                let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
                assert!(code.len() <= 24_576 || revision != Revision::Eip6690_2024, "{name}: {} bytes", code.len());
                (revision, Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code))
            };
            Self { judge, compiled: Revision::ALL.iter().map(prepare).collect() }
        };
        [of("bls12_381/hash_to_g1", blst_g1 as fn(&[u8], &[u8]) -> Vec<u8>), of("bls12_381/hash_to_g2", blst_g2)]
    }

    #[track_caller]
    fn check(&mut self, message: &[u8], tag: &[u8]) {
        let expected = hex::encode((self.judge)(message, &at_most_255_bytes(tag)));
        let input = [&u16::try_from(tag.len()).unwrap().to_be_bytes()[..], tag, message].concat();
        for (revision, prepared) in &mut self.compiled {
            let outcome = prepared.run_without_memory(&input, GAS);
            let found = (outcome.halt, hex::encode(outcome.output));
            let lengths = (message.len(), tag.len());
            assert_eq!(found, (Halt::Return, expected.clone()), "{revision}, message and tag of {lengths:?} bytes");
        }
    }

    #[track_caller]
    fn check_refused(&mut self, input: &[u8]) {
        for (revision, prepared) in &mut self.compiled {
            let halt = prepared.run_without_memory(input, GAS).halt;
            assert!(halt.is_exceptional() && halt != Halt::OutOfGas, "{revision}, {input:02x?}: {halt:?}");
        }
    }
}

/// A longer tag is hashed: RFC 9380, §5.3.3.
fn at_most_255_bytes(tag: &[u8]) -> Vec<u8> {
    if tag.len() <= 255 {
        return tag.to_vec();
    }
    let input = [b"H2C-OVERSIZE-DST-", tag].concat();
    native::precompile(Fork::default(), SHA256, &input, u64::MAX).unwrap().output
}

/// Bytes that look random, by a linear congruence.
fn scrambled(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut byte = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| byte()).collect()
}

#[test]
fn messages_are_hashed_as_by_blst() {
    let tag = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";
    for mut hash in Hash::both() {
        // 73 bytes more than the message are hashed with this tag: blocks of 64 end within these lengths.
        for length in [0, 1, 31, 32, 33, 46, 47, 48, 54, 55, 56, 63, 64, 65, 119, 128, 4096, 70_000] {
            hash.check(&scrambled(1, length), tag);
        }
        for length in [1, 16, 31, 32, 33, 64, 128, 254, 255, 256, 257, 1000, 65_535] {
            hash.check(b"abc", &scrambled(2, length));
        }
        hash.check(&[], &[0]);
        let cases = std::env::var("RESIDUE_CASES").map_or(3, |text| text.parse().expect("RESIDUE_CASES is a number"));
        for seed in 0..cases {
            let bytes = scrambled(seed, 300);
            hash.check(&bytes[1..usize::from(bytes[0])], &bytes[..usize::from(bytes[299]).max(1)]);
        }
    }
}

#[test]
fn what_has_no_tag_is_refused() {
    for mut hash in Hash::both() {
        // Nothing, half a length, an empty tag, and tags that are longer than what is there.
        for input in [&[][..], &[1], &[0, 0], &[0, 0, 7], &[0, 1], &[0, 3, 1, 2], &[1, 0, 1], &[0xff; 400]] {
            hash.check_refused(input);
        }
    }
}
