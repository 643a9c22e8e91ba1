//! The residue system of a wide field: two bases of moduli with relations, by which a sum of products is reduced once, however long it is.
//!
//! Base A is {a₀, …} with the powers of two, base B is {b₀, …}, each with as many moduli as the width asks for, and A ≡ 1 modulo each of base B, which makes a
//! division by A nothing there. The bases come of a factorisation of A − 1:
//!
//! | bits | n | A | A − 1 |
//! |---|---:|---|---|
//! | to 390, 430 | 2 | (D + 1)·2²⁴⁰ with a₀ = 2²⁵⁶, for a divisor D of 2²⁴⁰ − 1 that ends in 17 bits 0 1…1 | b₀·b₁ with b₀ = 2²⁴⁰ + (2²⁴⁰ − 1)/D, b₁ = D |
//! | to 521 | 3 | y⁶ with y = 2⁴²·e₁e₂ and primes e, so 2²⁵², e₁⁶ and e₂⁶ | (y² − 1)(y² − y + 1)(y² + y + 1), without a factor 3 |
//! | to 768 | 4 | y⁴ with y = 2z², z = 2³¹·e₁e₂e₃, so 2²⁵² and three eighth powers | (y − 1)(y + 1)(2z² − 2z + 1)(2z² + 2z + 1) |
//!
//! With two moduli b₀ ≡ 1 modulo a₁ too: u₀ + b₀u₁ is an addition there. The word of base A's power of two is modulo 2²⁵⁶ in any case; where A has 2²⁵², a
//! quotient is sixteen times itself there, and its factors a sixteenth.
//!
//! An integer X stands for the element X/A mod p (Montgomery 1985, "Modular multiplication without trial division"). A reduction takes T to
//! r = (T + q·p)/A with q = Σ qᵢ·A/aᵢ, qᵢ = −T/(p·A/aᵢ) mod aᵢ. So q < n·A, and r < T/A + n·p; it is u₀ + b₀(u₁ + b₁(u₂ + …)) with uⱼ < bⱼ (Garner 1959, "The
//! residue number system"), exactly, as long as r < B (Bajard, Imbert 2004, "A full RNS implementation of RSA").

use num_bigint::BigUint;
use num_integer::Integer as _;
use num_traits::{One, Zero};

/// A modulus of the system. In a slot the words of base A stand before those of base B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Residue {
    /// One of base A; that of number 0 is the power of two.
    A(u8),
    /// One of base B.
    B(u8),
}

/// The word modulo 2²⁵⁶.
pub const POWER: Residue = Residue::A(0);

/// Bits of a modulus that there are systems for.
pub const BITS_MAX: u64 = 768;

/// Bits by which A is longer than p.
const SPACE: u64 = 18;

/// Maximum multiple of p of the integer of a value between blocks.
pub const MULTIPLE_MAX: u32 = 64;

/// The words of a value are at most 2 to this power, but that modulo 2²⁵⁶.
pub const WORD_BITS_MAX: u32 = 247;

/// D of each system with two moduli in a base, with the most bits of p that it serves. Divisors of 2²⁴⁰ − 1 as `the_divisors_are_found_by_search` finds them.
const DIVISORS: [(u64, &str); 2] = [
    (390, "fffeffffff0100ff0000ff0000feff01000000ffff"),
    (430, "ffff00000000ffff00000000ffff00000000ffff00000000ffff"),
];

/// The most bits of p that three moduli in a base serve.
const THREE_BITS_MAX: u64 = 521;

/// Why there is no system for a modulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// It has more bits than [`BITS_MAX`].
    Width,
    /// It is even.
    Even,
    /// It has this factor in common with a modulus of base A.
    Factor(BigUint),
}

/// The moduli of both bases.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bases {
    /// Base A, the power of two first.
    a: Vec<BigUint>,
    /// Base B.
    b: Vec<BigUint>,
}

/// The moduli for a field, and the constants of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// The modulus of the field.
    pub p: BigUint,
    bases: Bases,
    residues: Vec<Residue>,
    /// The product of base A.
    pub a: BigUint,
    /// The product of base B.
    pub b: BigUint,
    /// 1/A mod p.
    pub over_a: BigUint,
    constants: Vec<(Constant, BigUint)>,
}

/// A constant that code for a reduction pushes. Numbers are those of moduli in their base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// A modulus, but 2²⁵⁶.
    Modulus(Residue),
    /// −1/(p·A/aᵢ) mod aᵢ, of which T times it is a quotient; for 2²⁵² sixteen times that.
    Quotient(u8),
    /// The factor of quotient i modulo bⱼ: p·A/aᵢ, for 2²⁵² a sixteenth.
    Factor(u8, u8),
    /// 1/bₖ mod bⱼ for the first digit (k = 0), −1/bₖ for others.
    Inverse(u8, u8),
    /// The least multiple of bⱼ that is not below b₀.
    Above(u8),
}

impl System {
    /// The system for a modulus of more than 256 bits.
    pub fn new(p: &BigUint) -> Result<Self, Missing> {
        let bases = Bases::for_bits(p.bits()).ok_or(Missing::Width)?;
        if !p.bit(0) {
            return Err(Missing::Even);
        }
        let a: BigUint = bases.a.iter().product();
        let common = bases.a.iter().map(|modulus| p.gcd(modulus)).find(|common| !common.is_one());
        if let Some(common) = common {
            return Err(Missing::Factor(common));
        }
        let count = bases.count();
        let residues = (0..count).map(Residue::A).chain((0..count).map(Residue::B)).collect();
        let over_a = inverse(&a, p);
        let names = constants(count).into_iter();
        let constants = names.map(|constant| (constant, constant_of(constant, p, &bases, &a))).collect();
        let b = bases.b.iter().product();
        Ok(Self { p: p.clone(), bases, residues, a, b, over_a, constants })
    }

    /// Number of moduli in a base.
    pub fn count(&self) -> u8 {
        self.bases.count()
    }

    /// The residues in the order of words in a slot.
    pub fn residues(&self) -> &[Residue] {
        &self.residues
    }

    /// The place of a word in a slot.
    pub fn place(&self, residue: Residue) -> usize {
        match residue {
            Residue::A(number) => number.into(),
            Residue::B(number) => usize::from(self.count() + number),
        }
    }

    /// Bytes of a value in memory: a word for each residue.
    pub fn value_bytes(&self) -> u32 {
        64 * u32::from(self.count())
    }

    /// Words of a number with some bits more than p.
    pub fn number_words(&self) -> u32 {
        u32::try_from((self.p.bits() + RAISED_BITS).div_ceil(256)).expect("it is short")
    }

    /// A modulus by which words are reduced; 2²⁵⁶ for the power of two.
    pub fn modulus(&self, residue: Residue) -> BigUint {
        if residue == POWER { BigUint::one() << 256u32 } else { self.factor(residue).clone() }
    }

    /// A factor of A or B.
    pub fn factor(&self, residue: Residue) -> &BigUint {
        match residue {
            Residue::A(number) => &self.bases.a[usize::from(number)],
            Residue::B(number) => &self.bases.b[usize::from(number)],
        }
    }

    /// The constants, those that a block holds on the stack in the order in which it pushes them.
    pub fn constants(&self) -> &[(Constant, BigUint)] {
        &self.constants
    }

    /// Number that code pushes for a constant.
    pub fn constant(&self, constant: Constant) -> &BigUint {
        let found = self.constants.iter().find(|(other, _)| *other == constant);
        &found.expect("`constants` has all that code pushes").1
    }

    /// The constants to hold on the stack below a block with several reductions, the topmost last: with `all`, where those on top leave them in reach
    /// of DUP, else the moduli.
    pub fn held(&self, all: bool) -> impl Iterator<Item = Constant> {
        let is_all = all && self.count() == 2;
        let names = self.constants.iter().map(|(constant, _)| *constant);
        names.filter(move |constant| is_all || matches!(constant, Constant::Modulus(_)))
    }

    /// The product of some factors, inverted modulo another one.
    pub fn inverse_of(&self, factors: &[Residue], modulo: Residue) -> BigUint {
        let product: BigUint = factors.iter().map(|&residue| self.factor(residue)).product();
        inverse(&product, self.factor(modulo))
    }

    /// The product of the moduli of base B before this one: the weight of its digit.
    pub fn weight(&self, digit: u8) -> BigUint {
        self.bases.b[..usize::from(digit)].iter().product()
    }

    /// The integer that stands for an element: value·A mod p.
    pub fn integer(&self, value: &BigUint) -> BigUint {
        value * &self.a % &self.p
    }

    /// The words of an integer.
    pub fn words(&self, integer: &BigUint) -> Vec<BigUint> {
        self.residues.iter().map(|&residue| integer % self.modulus(residue)).collect()
    }

    /// The most that a word of a value between blocks is.
    pub fn word_max(&self, residue: Residue) -> BigUint {
        let bits = if residue == POWER { 256 } else { WORD_BITS_MAX };
        (BigUint::one() << bits) - 1u8
    }

    /// The most that the integer of a value between blocks is.
    pub fn integer_max(&self) -> BigUint {
        &self.p * MULTIPLE_MAX
    }

    /// A² mod p, by which a number below p becomes the integer that stands for it.
    pub fn square(&self) -> BigUint {
        &self.a * &self.a % &self.p
    }
}

/// Bits by which a number that is to become a value may be longer than p.
const RAISED_BITS: u64 = 5;

/// The constants of systems with so many moduli in a base. Where they lie below everything in a block, those on top last, those of two moduli are within reach of
/// DUP where a reduction reads them.
fn constants(count: u8) -> Vec<Constant> {
    let quotients = (0..count).map(Constant::Quotient);
    let factors = (0..count).flat_map(|j| (1..count).chain([0]).map(move |i| Constant::Factor(i, j)));
    let inverses = (1..count).flat_map(|j| (0..j).map(move |k| Constant::Inverse(k, j)));
    let above = (1..count).map(Constant::Above);
    let moduli = (0..count).rev().map(Residue::B).chain((1..count).rev().map(Residue::A)).map(Constant::Modulus);
    quotients.chain(factors).chain(inverses).chain(above).chain(moduli).collect()
}

fn inverse(of: &BigUint, modulus: &BigUint) -> BigUint {
    of.modinv(modulus).expect("`System::new` refuses common factors")
}

fn constant_of(constant: Constant, p: &BigUint, bases: &Bases, product: &BigUint) -> BigUint {
    let (a, b) = (|number: u8| &bases.a[usize::from(number)], |number: u8| &bases.b[usize::from(number)]);
    // What is a multiple of a quotient: 16 where the power of two is shorter than a word.
    let times = |number: u8| if number == 0 { (BigUint::one() << 256u32) / a(0) } else { BigUint::one() };
    match constant {
        Constant::Modulus(Residue::A(number)) => a(number).clone(),
        Constant::Modulus(Residue::B(number)) => b(number).clone(),
        Constant::Quotient(i) => (a(i) - inverse(&(p * (product / a(i))), a(i))) * times(i),
        Constant::Factor(i, j) => p * (product / a(i)) * inverse(&times(i), b(j)) % b(j),
        Constant::Inverse(0, j) => inverse(b(0), b(j)),
        Constant::Inverse(k, j) => b(j) - inverse(b(k), b(j)),
        Constant::Above(j) => b(0).div_ceil(b(j)) * b(j),
    }
}

impl Bases {
    /// The moduli for p of so many bits.
    fn for_bits(bits: u64) -> Option<Self> {
        match DIVISORS.iter().find(|(most, _)| bits <= *most) {
            Some((_, digits)) => {
                Some(Self::of_divisor(&BigUint::parse_bytes(digits.as_bytes(), 16).expect("the table has digits")))
            }
            None if bits <= THREE_BITS_MAX => Some(Self::of_sixth_power()),
            None if bits <= BITS_MAX => Some(Self::of_fourth_power()),
            None => None,
        }
    }

    fn count(&self) -> u8 {
        u8::try_from(self.a.len()).expect("there are few")
    }

    /// Those that a divisor D of 2²⁴⁰ − 1 makes.
    fn of_divisor(d: &BigUint) -> Self {
        let power = BigUint::one() << 240u32;
        let b0 = &power + (&power - 1u8) / d;
        Self { a: vec![BigUint::one() << 256u32, (d + 1u8) >> 16u32], b: vec![b0, d.clone()] }
    }

    /// y⁶ with y = 2⁴²·e₁e₂. Where y is 1 modulo three, y² − 1 and y² + y + 1 have that factor in common, and one of both is without it.
    fn of_sixth_power() -> Self {
        let least = (BigUint::one() << (THREE_BITS_MAX + SPACE)).nth_root(6) >> 42u32;
        let [first, second] = primes(&least, 2)[..] else { unreachable!("two were asked for") };
        let y = (BigUint::from(first) * second) << 42u32;
        let (square, power) = (&y * &y, |e: u64| BigUint::from(e).pow(6));
        let mut b = vec![&square - &y + 1u8, &square - 1u8, square + y + 1u8];
        let place = if (&b[0] % 3u8).is_zero() { 0 } else { 2 };
        b[place] /= 3u8;
        b.sort_unstable();
        Self { a: vec![BigUint::one() << 252u32, power(first), power(second)], b }
    }

    /// y⁴ with y = 2z² and z = 2³¹·e₁e₂e₃: y² + 1 = 4z⁴ + 1 has Aurifeuille's factors.
    fn of_fourth_power() -> Self {
        let least = ((BigUint::one() << (BITS_MAX + SPACE)).nth_root(4) >> 1u32).sqrt() >> 31u32;
        let e = primes(&least, 3);
        let z = e.iter().product::<BigUint>() << 31u32;
        let y = &z * &z * 2u8;
        let b = vec![&y - &z * 2u8 + 1u8, &y - 1u8, &y + 1u8, &y + z * 2u8 + 1u8];
        let powers = e.iter().map(|&e| BigUint::from(e).pow(8));
        Self { a: std::iter::once(BigUint::one() << 252u32).chain(powers).collect(), b }
    }
}

/// The first `count` primes above a root of `product`: moduli share a factor with few fields so.
fn primes(product: &BigUint, count: u32) -> Vec<u64> {
    let least = u64::try_from(product.nth_root(count)).expect("roots are short") + 1;
    let is_prime = |number: &u64| {
        (2..).take_while(|factor| factor * factor <= *number).all(|factor| !number.is_multiple_of(&factor))
    };
    (least..).filter(is_prime).take(count as usize).collect() // u32 to usize widens
}

#[cfg(test)]
mod test {
    use super::*;
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

    /// Each relation by which a step of the reduction is left out, for the moduli of all widths.
    #[test]
    fn the_moduli_have_their_relations() {
        for (bits, count) in [(390, 2), (430, 2), (521, 3), (768, 4)] {
            let bases = Bases::for_bits(bits).unwrap();
            assert_eq!((bases.a.len(), bases.b.len()), (count, count));
            let [a, b] = [&bases.a, &bases.b].map(|base| base.iter().product::<BigUint>());
            assert!(((&a - 1u8) % &b).is_zero(), "a division by A is nothing in base B");
            assert!(bases.a[0] == power(if count == 2 { 256 } else { 252 }));
            assert!(count > 2 || (&bases.b[0] % &bases.a[1]).is_one(), "u₀ + b₀u₁ is u₀ + u₁ modulo a₁");
            assert!(count == 2 || bases.b.is_sorted(), "the last of some multiples is above each digit");
            for base in [&bases.a, &bases.b] {
                for (place, x) in base.iter().enumerate() {
                    assert!(x.bits() <= 257 && (place == 0 || x.bits() < u64::from(WORD_BITS_MAX)));
                    assert!(base[place + 1..].iter().all(|y| x.gcd(y).is_one()));
                }
            }
            // q < n·A and T up to 25·p·A with an offset of 26p: r stays within what a value may be, and below B.
            let most = power(u32::try_from(bits).unwrap()) * MULTIPLE_MAX;
            assert!(25 + 26 + count < MULTIPLE_MAX as usize && most < b && a.bits() > bits + SPACE - 1);
        }
    }

    /// All divisors with the bits that are asked for; the least that serve the widths are in use.
    #[test]
    fn the_divisors_are_found_by_search() {
        assert_eq!(PRIMES.iter().map(|&prime| BigUint::from(prime)).product::<BigUint>(), power(240) - 1u8);
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
                let bases = Bases::of_divisor(d);
                bases.b[0].gcd(&bases.b[1]).is_one()
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
        assert_eq!(missing(power(768) + 1u8), Missing::Width);
        assert_eq!(missing(power(384) + 2u8), Missing::Even);
        for (bits, rest) in [(390, 200), (521, 350), (768, 550)] {
            let factor = Bases::for_bits(bits).unwrap().a[1].clone();
            assert_eq!(missing(&factor * (power(rest) + 1u8)), Missing::Factor(factor));
        }
        let p = power(384) - power(128) - power(96) + power(32) - 1u8;
        let system = System::new(&p).unwrap();
        let above = system.constant(Constant::Above(1));
        assert!((above % system.modulus(Residue::B(1))).is_zero() && *above >= system.modulus(Residue::B(0)));
    }
}
