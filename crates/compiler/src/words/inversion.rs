//! Inversion by the precompile of EIP-198: aᵖ⁻² costs 1 360 gas by it from Berlin to Prague (EIP-2565), and some 4 000
//! by a chain of MULMOD with 14 gas a squaring. From Osaka on the price is 4 080 (EIP-7883), and 13 056 before Berlin
//! (EIP-198): then a chain costs less, or 340 gas more at worst. Nor is Euclid's algorithm cheaper for one word: a step with DIV,
//! MUL and moves of four words takes 40 gas at least, and numbers of 256 bits take 150 of them.
//!
//! For 384, 521 and 761 bits the prices are 4 596, 14 229 and 36 816 from Berlin to Prague, where Euclid's algorithm takes some 20 000 to 60 000; 36 792 and more from Osaka on.

use crate::dialect::Dialect;
use num_bigint::BigUint;
use residue_ir::Program;
use residue_isa::precompile::MODEXP;
use residue_isa::revision::Family;
use residue_isa::{Fork, Revision};

/// True if code for `program` inverts by the precompile: it may call it, it is cheaper than a chain, and all moduli are
/// primes, so that the exponent p − 2 inverts.
pub(crate) fn is_by_modexp(program: &Program, revision: Revision, dialect: Dialect) -> bool {
    let is_cheap = (Fork::Berlin..Fork::Osaka).contains(&dialect.fork);
    let are_primes = || program.units().all(|unit| unit.modulus.known().is_some_and(is_prime));
    revision.family() == Family::Words && dialect.has_precompile(MODEXP) && is_cheap && are_primes()
}

/// Bases of the test below.
const BASES: [u8; 24] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89];

/// True if n is probably prime: 24 rounds of Miller and Rabin, Handbook of Applied Cryptography 1996, algorithm 4.24,
/// with the first primes as bases. A composite modulus that passes harms only the program's own author.
fn is_prime(n: &BigUint) -> bool {
    let (zero, one) = (BigUint::ZERO, BigUint::from(1u8));
    if *n <= one {
        return false;
    }
    if let Some(base) = BASES.iter().find(|&&base| n % base == zero) {
        return *n == BigUint::from(*base);
    }
    // n − 1 = 2ˢ·r with r odd; n is odd here.
    let before = n - 1u8;
    let s = before.trailing_zeros().expect("n is above 1");
    let r = &before >> s;
    BASES.iter().all(|&base| {
        let mut power = BigUint::from(base).modpow(&r, n);
        if power == one || power == before {
            return true;
        }
        (1..s).any(|_| {
            power = &power * &power % n;
            power == before
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_told_from_products() {
        let sieve = |n: u32| n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        for n in 0..10_000 {
            assert_eq!(is_prime(&n.into()), sieve(n), "{n}");
        }
        // A Carmichael number, the least that deceives the bases up to 37, and primes of curves.
        let number = |text: &str| text.parse::<BigUint>().unwrap();
        assert!(!is_prime(&number("825265")) && !is_prime(&number("318665857834031151167461")));
        let bn254 = number("21888242871839275222246405745257275088696311157297823662689037894645226208583");
        assert!(is_prime(&bn254) && !is_prime(&(&bn254 * 3u8)) && !is_prime(&(&bn254 * &bn254)));
        assert!(is_prime(&((BigUint::from(1u8) << 255u32) - 19u8)));
    }
}
