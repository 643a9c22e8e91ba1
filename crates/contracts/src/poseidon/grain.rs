//! The generator of Poseidon's and Poseidon2's constants: a Grain LFSR in self-shrinking mode. Grassi, Khovratovich, Rechberger, Roy and
//! Schofnegger 2019 (2019/458), appendix E (2019/458 v5; appendix F in others).

use num_bigint::BigUint;

/// Initial state of the generator.
#[derive(Debug, Clone, Copy)]
pub struct Seed {
    /// Bits of the modulus.
    pub modulus_bits: u32,
    /// Elements of the state.
    pub width: u32,
    /// Rounds with S-boxes on the whole state.
    pub full_rounds: u32,
    /// Rounds with one S-box.
    pub partial_rounds: u32,
}

/// Bits of the register.
const REGISTER_BITS: u32 = 80;
/// b[i + 80] is the sum of the bits at these places after i.
const TAPS: [u32; 6] = [62, 51, 38, 23, 13, 0];
/// Bits that are thrown away first.
const WARM_UP: u32 = 160;

/// The generator; bit 0 of the register is its oldest.
#[derive(Debug)]
pub struct Grain {
    register: u128,
    modulus_bits: u32,
}

impl Grain {
    /// For a prime field and the S-box xᵈ.
    pub fn new(seed: Seed) -> Self {
        let fields = [
            (2, 1), // a prime field
            (4, 0), // xᵈ
            (12, seed.modulus_bits),
            (12, seed.width),
            (10, seed.full_rounds),
            (10, seed.partial_rounds),
            (30, (1 << 30) - 1),
        ];
        let (mut register, mut place) = (0u128, 0u32);
        for (bits, value) in fields {
            for bit in (0..bits).rev() {
                register |= u128::from(value >> bit & 1) << place;
                place += 1;
            }
        }
        assert_eq!(place, REGISTER_BITS, "the fields fill the register");
        let mut grain = Self { register, modulus_bits: seed.modulus_bits };
        for _ in 0..WARM_UP {
            grain.step();
        }
        grain
    }

    fn step(&mut self) -> bool {
        let bit = TAPS.iter().fold(0, |sum, tap| sum ^ self.register >> tap & 1);
        self.register = self.register >> 1 | bit << (REGISTER_BITS - 1);
        bit == 1
    }

    /// The second of a pair of bits whose first is 1.
    fn bit(&mut self) -> bool {
        loop {
            let (chosen, bit) = (self.step(), self.step());
            if chosen {
                return bit;
            }
        }
    }

    /// A number of as many bits as the modulus has.
    pub fn number(&mut self) -> BigUint {
        let mut number = BigUint::ZERO;
        for place in (0..self.modulus_bits).rev() {
            number.set_bit(place.into(), self.bit());
        }
        number
    }

    /// The next number below `modulus`; those that are not are left out.
    pub fn number_below(&mut self, modulus: &BigUint) -> BigUint {
        loop {
            let number = self.number();
            if number < *modulus {
                return number;
            }
        }
    }
}
