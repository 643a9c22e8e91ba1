//! Hash-based signatures, Falcon and ML-DSA on the EVM as it is: what their verifiers answer, and what that costs.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod compiled;
mod falcon;
mod keccak_f;
mod mldsa;
mod page;
#[path = "../../../ir/tests/common/seeded.rs"]
mod seeded;
mod sha3;
mod slh_dsa;
mod sphincs;
#[path = "../contracts/support.rs"]
#[allow(dead_code, reason = "the tests of other contracts use the rest")]
mod support;
mod xmss;

use seeded::Seeded;

impl Seeded {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.word().to_le_bytes()[0]).collect()
    }
}
