//! Signs a hash with a key of SPHINCS- C13, for wallets on test chains: the key is that of a number.
//!
//! usage: `cargo run --release --example c13_signer -- NUMBER [HASH]`: the public key, and the signature of a hash of 32 bytes.

use residue_contracts::sphincs::C13_SET;
use residue_contracts::sphincs::signer::Signer;
use std::process::ExitCode;

const USAGE: &str = "usage: c13_signer NUMBER [HASH], with a number below 2^64 and a hash of 64 digits to the base 16";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = arguments.first().and_then(|number| number.parse::<u64>().ok());
    let hash = arguments.get(1).map(|hash| hex::decode(hash.strip_prefix("0x").unwrap_or(hash)));
    let (Some(number), true) = (number, arguments.len() <= 2) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let hash = match hash.map(|bytes| bytes.ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())) {
        None => None,
        Some(Some(hash)) => Some(hash),
        Some(None) => {
            eprintln!("{:?} is no hash; {USAGE}", arguments[1]);
            return ExitCode::from(2);
        }
    };
    let signer = Signer::new(C13_SET, number);
    println!("0x{}", hex::encode(signer.public()));
    if let Some(hash) = hash {
        println!("0x{}", hex::encode(signer.sign(&hash, 0)));
    }
    ExitCode::SUCCESS
}
