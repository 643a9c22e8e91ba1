//! The residue system of a wide field: four moduli with relations, by which a sum of products is reduced in 168 gas.
//!
//! Base A is {a₁, a₂ = 2²⁵⁶} and base B is {b₁, b₂}. For a divisor D of 2²⁴⁰ − 1 whose lowest 17 bits are 0 1…1:
//! a₁ = (D + 1)/2¹⁶, b₁ = 2²⁴⁰ + (2²⁴⁰ − 1)/D, b₂ = D. Then A·1 − 1 = a₁·2²⁵⁶ − 1 = b₁·D, so A ≡ 1 modulo b₁ and b₂, which makes a division
//! by A nothing in base B; and b₁ ≡ 1 modulo a₁, which makes u₁ + b₁u₂ an addition there.
//!
//! An integer X stands for the element X/A mod p (Montgomery 1985, "Modular multiplication without trial division"). A reduction takes T to
//! r = (T + q·p)/A with q = q₁·2²⁵⁶ + q₂·a₁, q₁ = −T/(p·2²⁵⁶) mod a₁ and q₂ = −T/(p·a₁) mod 2²⁵⁶. So q < 2A, and r < T/A + 2p; it is
//! u₁ + b₁u₂ with u₁ = r mod b₁ and u₂ < b₂, exactly, as long as r < B (Bajard, Imbert 2004, "A full RNS implementation of RSA", with bases of two).

use num_bigint::BigUint;
use num_integer::Integer as _;
use num_traits::One;

/// A modulus of the system. In a slot the words stand in the order of [`RESIDUES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Residue {
    /// 2²⁵⁶.
    A2,
    /// The short one of base A.
    A1,
    /// The long one of base B, of 241 bits.
    B1,
    /// The short one of base B.
    B2,
}

/// The residues in the order in which a reduction makes them, which is that of words in a slot.
pub const RESIDUES: [Residue; 4] = [Residue::A2, Residue::A1, Residue::B1, Residue::B2];

impl Residue {
    /// The place among [`RESIDUES`].
    pub const fn place(self) -> usize {
        self as usize
    }
}

/// Bits of a modulus that there are systems for.
pub const BITS_MAX: u64 = 430;

/// Exponent of the moduli.
const N: u32 = 240;

/// Bits by which a₁ is shorter than D.
const M: u32 = 16;

/// Maximum multiple of p of the integer of a value between blocks.
pub const MULTIPLE_MAX: u32 = 64;

/// The words of a value are at most 2 to this power, but that modulo 2²⁵⁶.
pub const WORD_BITS_MAX: u32 = 247;

/// D of each system, with the most bits of p that it serves: A is 18 bits longer. Divisors of 2²⁴⁰ − 1 as `the_divisors_are_found_by_search` finds them.
const DIVISORS: [(u64, &str); 2] = [
    (390, "fffeffffff0100ff0000ff0000feff01000000ffff"),
    (BITS_MAX, "ffff00000000ffff00000000ffff00000000ffff00000000ffff"),
];

/// Why there is no system for a modulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// It has more bits than [`BITS_MAX`].
    Width,
    /// It is even.
    Even,
    /// It has this factor in common with a₁.
    Factor(BigUint),
}

/// The moduli for a field, and the constants of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// The modulus of the field.
    pub p: BigUint,
    /// The moduli by [`Residue::place`].
    moduli: [BigUint; 4],
    /// A = a₁·2²⁵⁶.
    pub a: BigUint,
    /// B = b₁·b₂.
    pub b: BigUint,
    /// 1/A mod p.
    pub over_a: BigUint,
    /// [`CONSTANTS`], in their order.
    constants: Vec<BigUint>,
    /// For each set of moduli, as bits by place, and each modulus that is not in it: the inverse of the set's product modulo the latter.
    inverses: Vec<[BigUint; 4]>,
}

/// A constant that code for a reduction pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// A modulus, but 2²⁵⁶.
    Modulus(Residue),
    /// c₁ = −1/(p·2²⁵⁶) mod a₁ or c₂ = −1/(p·a₁) mod 2²⁵⁶.
    Quotient(Residue),
    /// f = 2²⁵⁶·p modulo b₁ or b₂, the factor of q₁.
    First(Residue),
    /// g = a₁·p modulo b₁ or b₂, the factor of q₂.
    Second(Residue),
    /// 1/b₁ mod b₂.
    Inverse,
    /// The least multiple of b₂ that is not below b₁.
    Above,
}

/// The constants of a reduction. Where they lie below everything in a block, those on top last, each is within reach of
/// DUP where a reduction reads it.
pub const CONSTANTS: [Constant; 11] = [
    Constant::Quotient(Residue::A2),
    Constant::Quotient(Residue::A1),
    Constant::First(Residue::B1),
    Constant::Second(Residue::B1),
    Constant::First(Residue::B2),
    Constant::Second(Residue::B2),
    Constant::Inverse,
    Constant::Above,
    Constant::Modulus(Residue::B2),
    Constant::Modulus(Residue::B1),
    Constant::Modulus(Residue::A1),
];

/// Index of the first modulus among [`CONSTANTS`].
pub const FIRST_MODULUS: usize = 8;

impl System {
    /// The system for a modulus of more than 256 bits.
    pub fn new(p: &BigUint) -> Result<Self, Missing> {
        let divisor = DIVISORS.iter().find(|(bits, _)| p.bits() <= *bits).ok_or(Missing::Width)?;
        if !p.bit(0) {
            return Err(Missing::Even);
        }
        let d = BigUint::parse_bytes(divisor.1.as_bytes(), 16).expect("the table has digits");
        let moduli = moduli(&d);
        let a = &moduli[0] * &moduli[1];
        let common = p.gcd(&moduli[Residue::A1.place()]);
        if !common.is_one() {
            return Err(Missing::Factor(common));
        }
        let b = &moduli[2] * &moduli[3];
        let over_a = inverse(&a, p);
        let constants = CONSTANTS.iter().map(|&constant| constant_of(constant, p, &moduli)).collect();
        let inverses = (0..1usize << RESIDUES.len()).map(|set| inverses(set, &moduli)).collect();
        Ok(Self { p: p.clone(), moduli, a, b, over_a, constants, inverses })
    }

    /// A modulus.
    pub fn modulus(&self, residue: Residue) -> &BigUint {
        &self.moduli[residue.place()]
    }

    /// Number that code pushes for a constant.
    pub fn constant(&self, constant: Constant) -> &BigUint {
        let place = CONSTANTS.iter().position(|&other| other == constant);
        &self.constants[place.expect("`CONSTANTS` has all that code pushes")]
    }

    /// The product of some moduli, inverted modulo another one.
    pub fn inverse_of(&self, moduli: &[Residue], modulo: Residue) -> &BigUint {
        let set = moduli.iter().fold(0, |set: usize, residue| set | 1 << residue.place());
        &self.inverses[set][modulo.place()]
    }

    /// The integer that stands for an element: value·A mod p.
    pub fn integer(&self, value: &BigUint) -> BigUint {
        value * &self.a % &self.p
    }

    /// The words of an integer.
    pub fn words(&self, integer: &BigUint) -> [BigUint; 4] {
        RESIDUES.map(|residue| integer % self.modulus(residue))
    }

    /// The most that a word of a value between blocks is.
    pub fn word_max(&self, residue: Residue) -> BigUint {
        let bits = if residue == Residue::A2 { 256 } else { WORD_BITS_MAX };
        (BigUint::one() << bits) - 1u8
    }

    /// The most that the integer of a value between blocks is.
    pub fn integer_max(&self) -> BigUint {
        &self.p * MULTIPLE_MAX
    }

    /// b₁ − 2²⁴⁰, by which the high word of u₁ + b₁u₂ = u₂·2²⁴⁰ + (u₁ + that·u₂) is found, with the shifts to both sides of bit 256.
    pub fn high(&self) -> (BigUint, u32, u32) {
        (self.modulus(Residue::B1) - (BigUint::one() << N), N, M)
    }

    /// A² mod p, by which a number below p becomes the integer that stands for it.
    pub fn square(&self) -> BigUint {
        &self.a * &self.a % &self.p
    }
}

fn inverse(of: &BigUint, modulus: &BigUint) -> BigUint {
    of.modinv(modulus).expect("`System::new` refuses common factors")
}

fn constant_of(constant: Constant, p: &BigUint, moduli: &[BigUint; 4]) -> BigUint {
    let m = |residue: Residue| &moduli[residue.place()];
    let (a1, a2) = (m(Residue::A1), m(Residue::A2));
    match constant {
        Constant::Modulus(residue) => m(residue).clone(),
        Constant::Quotient(Residue::A1) => a1 - inverse(&(p * a2), a1),
        Constant::Quotient(_) => a2 - inverse(&(p * a1), a2),
        Constant::First(residue) => a2 * p % m(residue),
        Constant::Second(residue) => a1 * p % m(residue),
        Constant::Inverse => inverse(m(Residue::B1), m(Residue::B2)),
        Constant::Above => m(Residue::B1).div_ceil(m(Residue::B2)) * m(Residue::B2),
    }
}

/// The product of a set of moduli inverted modulo each other one; 0 for those of the set.
fn inverses(set: usize, moduli: &[BigUint; 4]) -> [BigUint; 4] {
    let is_in = |place: usize| set >> place & 1 == 1;
    let product: BigUint = (0..moduli.len()).filter(|&place| is_in(place)).map(|place| &moduli[place]).product();
    std::array::from_fn(|place| if is_in(place) { BigUint::ZERO } else { inverse(&product, &moduli[place]) })
}

/// The moduli that a divisor D of 2²⁴⁰ − 1 makes.
fn moduli(d: &BigUint) -> [BigUint; 4] {
    let ones = (BigUint::one() << N) - 1u8;
    let a1: BigUint = (d + 1u8) >> M;
    [BigUint::one() << (N + M), a1, (BigUint::one() << N) + ones / d, d.clone()]
}

#[cfg(test)]
mod test {
    use super::*;
    use num_traits::Zero;
    use ruint::aliases::U256;

    /// The prime factors of 2²⁴⁰ − 1, of the values at 2 of the cyclotomic polynomials of the divisors of 240.
    const PRIMES: [u64; 23] = [
        3,
        3,
        5,
        5,
        7,
        11,
        13,
        17,
        31,
        41,
        61,
        97,
        151,
        241,
        257,
        331,
        673,
        1321,
        61_681,
        394_783_681,
        4_278_255_361,
        4_562_284_561,
        46_908_728_641,
    ];

    fn power(bits: u32) -> BigUint {
        BigUint::one() << bits
    }

    /// Each relation by which a step of the reduction is left out, for the moduli in use.
    #[test]
    fn the_moduli_have_their_relations() {
        for (bits, digits) in DIVISORS {
            let d = BigUint::parse_bytes(digits.as_bytes(), 16).unwrap();
            assert!(((power(N) - 1u8) % &d).is_zero());
            let [a2, a1, b1, b2] = moduli(&d);
            let a = &a1 * &a2;
            assert_eq!(a2, power(256));
            assert_eq!(&a - 1u8, &b1 * &b2);
            assert!((&a % &b1).is_one() && (&a % &b2).is_one(), "a division by A is nothing in base B");
            assert!((&b1 % &a1).is_one(), "u₁ + b₁u₂ is u₁ + u₂ modulo a₁");
            for (x, y) in [(&a1, &a2), (&b1, &b2), (&a, &b1), (&a, &b2)] {
                assert!(x.gcd(y).is_one());
            }
            // q < 2A and T up to 25·p·A with an offset of 26p: r stays within what a value may be, and below B.
            let most = power(u32::try_from(bits).unwrap()) * 64u8;
            assert!(most < &b1 * &b2 && a.bits() >= bits + 18);
        }
    }

    /// All divisors with the bits that are asked for; the least that serve the widths are in use.
    #[test]
    fn the_divisors_are_found_by_search() {
        assert_eq!(PRIMES.iter().map(|&prime| BigUint::from(prime)).product::<BigUint>(), power(N) - 1u8);
        let mut divisors = vec![U256::from(1)];
        for powers in PRIMES.chunk_by(|a, b| a == b) {
            let before = divisors.len();
            for exponent in 0..powers.len() {
                let start = if exponent == 0 { 0 } else { divisors.len() - before };
                for at in start..start + before {
                    divisors.push(divisors[at].wrapping_mul(U256::from(powers[0])));
                }
            }
        }
        divisors.retain(|d| d.wrapping_to::<u64>() & 0x1ffff == 0xffff && d.bit_len() > 100);
        divisors.sort_unstable();
        let good: Vec<BigUint> = divisors
            .iter()
            .map(|d| BigUint::from_bytes_be(&d.to_be_bytes::<32>()))
            .filter(|d| {
                let [_, _, b1, b2] = moduli(d);
                b1.gcd(&b2).is_one()
            })
            .collect();
        for (bits, digits) in DIVISORS {
            let least = good.iter().find(|d| d.bits() + 240 >= bits + 18);
            assert_eq!(least.map(|d| d.to_str_radix(16)).as_deref(), Some(digits), "{bits}");
        }
    }

    #[test]
    fn moduli_without_a_system_are_refused() {
        let missing = |p: BigUint| System::new(&p).unwrap_err();
        assert_eq!(missing(power(430) + 1u8), Missing::Width);
        assert_eq!(missing(power(384) + 2u8), Missing::Even);
        let of_390 = BigUint::parse_bytes(DIVISORS[0].1.as_bytes(), 16).unwrap();
        let [_, a1, ..] = moduli(&of_390);
        assert_eq!(missing(&a1 * (power(200) + 1u8)), Missing::Factor(a1));
        let p = power(384) - power(128) - power(96) + power(32) - 1u8;
        let system = System::new(&p).unwrap();
        assert!((system.constant(Constant::Above) % system.modulus(Residue::B2)).is_zero());
        assert!(system.constant(Constant::Above) >= system.modulus(Residue::B1));
    }
}
