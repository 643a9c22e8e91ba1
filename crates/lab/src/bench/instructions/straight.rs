//! Straight loops of all layers, with their operands and expected results.
//!
//! There are twice sixteen slots: first operands, which results replace, and second operands. A dependent loop computes
//! slot 0 ∘ slot 16 into slot 0 again and again; an independent one works through the sixteen pairs. No result is written over
//! without being read, since a plan leaves such operations out.

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_isa::FieldOp;
use residue_modular::fields::{Bls12_381FpModulus, Bls12_381FrModulus, Bn254FpModulus};
use residue_modular::limbs::{LIMB_BITS, LIMB_BYTES};
use residue_modular::{Limb, Modulus, PrimeField};

use crate::record::Quantity;

/// Independent pairs.
pub const PAIRS: usize = 16;
/// Slots in use.
pub const SLOTS: usize = 2 * PAIRS;
/// Operations in one turn of a loop.
pub const BODY: usize = 64;

const _: () = assert!(BODY.is_multiple_of(PAIRS), "a turn works through all pairs equally often");

/// Data dependence between operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each needs the result of the one before.
    Dependent,
    /// Each needs the result of the one that is [`PAIRS`] before it.
    Independent,
}

/// A loop around [`BODY`] operations of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Straight {
    /// The operation.
    pub operation: FieldOp,
    /// Its operands.
    pub form: Form,
}

/// A field that blst has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The scalar field of BLS12-381.
    Fr,
    /// Its base field.
    Fp,
}

/// A modulus with values for all slots.
#[derive(Debug, Clone)]
pub struct Operands {
    /// The field of blst with this modulus, if any.
    pub field: Option<Field>,
    /// The modulus, with its width.
    pub modulus: Modulus,
    /// Canonical values of the slots.
    pub values: Vec<BigUint>,
}

impl Form {
    /// Quantity that its time is recorded as.
    pub fn quantity(self) -> Quantity {
        match self {
            Form::Dependent => Quantity::Latency,
            Form::Independent => Quantity::Throughput,
        }
    }

    /// Slots of result, first and second operand of operation number `index`.
    pub const fn slots(self, index: usize) -> [usize; 3] {
        let pair = index % PAIRS;
        match self {
            Form::Dependent => [0, 0, PAIRS],
            Form::Independent => [pair, pair, PAIRS + pair],
        }
    }
}

impl Straight {
    /// All six.
    pub const ALL: [Self; 6] = {
        let [add, sub, mul] = FieldOp::ALL;
        [
            Self { operation: add, form: Form::Dependent },
            Self { operation: add, form: Form::Independent },
            Self { operation: sub, form: Form::Dependent },
            Self { operation: sub, form: Form::Independent },
            Self { operation: mul, form: Form::Dependent },
            Self { operation: mul, form: Form::Independent },
        ]
    };

    /// The canonical values of all slots after `turns` turns, on big integers.
    pub fn expected(self, operands: &Operands, turns: usize) -> Vec<BigUint> {
        let m = operands.m();
        let mut slots = operands.values.clone();
        for index in 0..turns * BODY {
            let [out, x, y] = self.form.slots(index);
            let (x, y) = (&slots[x], &slots[y]);
            slots[out] = match self.operation {
                FieldOp::Add => (x + y) % &m,
                FieldOp::Sub => (x + &m - y) % &m,
                FieldOp::Mul => (x * y) % &m,
            };
        }
        slots
    }
}

impl Operands {
    /// 256 bits: the scalar field of BLS12-381, which blst has too.
    pub fn bls12_381_fr() -> Self {
        Self { field: Some(Field::Fr), ..Self::of(&from_limbs(&Bls12_381FrModulus::MODULUS), 4) }
    }

    /// 384 bits: the base field of BLS12-381.
    pub fn bls12_381_fp() -> Self {
        Self { field: Some(Field::Fp), ..Self::of(&from_limbs(&Bls12_381FpModulus::MODULUS), 6) }
    }

    /// 254 bits: the base field of BN254.
    pub fn bn254_fp() -> Self {
        Self::of(&from_limbs(&Bn254FpModulus::MODULUS), 4)
    }

    /// 768 bits: the base field of BW6-761, 761 bits. El Housni and Guillevic 2020 (eprint 2020/351), §3.3, q.
    pub fn bw6_761_fp() -> Self {
        let q = b"122e824fb83ce0ad187c94004faff3eb926186a81d14688528275ef8087be41707ba638e584e91903cebaff25b423048\
                  689c8ed12f9fd9071dcd3dc73ebff2e98a116c25667a8f8160cf8aeeaf0a437e6913e6870000082f49d00000000008b";
        Self::of(&BigUint::parse_bytes(q, 16).expect("these are hexadecimal digits"), 12)
    }

    /// An odd modulus that fills `width_limbs` limbs to the last bit, from a fixed seed: no kernel has a form of its own for it.
    pub fn full(width_limbs: usize) -> Self {
        let mut bytes = vec![0; width_limbs * LIMB_BYTES];
        ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6532).fill_bytes(&mut bytes);
        bytes[0] |= 0x80;
        let last = bytes.len() - 1;
        bytes[last] |= 1;
        Self::of(&BigUint::from_bytes_be(&bytes), width_limbs)
    }

    /// Values from a fixed seed below a modulus.
    fn of(m: &BigUint, width_limbs: usize) -> Self {
        let modulus = Modulus::with_width(&m.to_bytes_be(), width_limbs).expect("it is odd and fits the width");
        let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6531);
        let mut value = || {
            // Eight bytes more than the modulus, so that no value is likelier than others in any way that shows.
            let mut bytes = vec![0; (width_limbs + 1) * LIMB_BYTES];
            random.fill_bytes(&mut bytes);
            BigUint::from_bytes_be(&bytes) % m
        };
        let values = (0..SLOTS).map(|_| value()).collect();
        Self { field: None, modulus, values }
    }

    /// The modulus as a number.
    pub fn m(&self) -> BigUint {
        from_limbs(self.modulus.limbs())
    }

    /// Bits of a slot.
    pub fn width_bits(&self) -> usize {
        self.modulus.width_limbs() * LIMB_BITS
    }

    /// Canonical values, each in big-endian bytes as wide as a slot.
    pub fn to_be(&self, values: &[BigUint]) -> Vec<u8> {
        let element_bytes = self.modulus.width_limbs() * LIMB_BYTES;
        values.iter().flat_map(|value| padded(value.to_bytes_le(), element_bytes).into_iter().rev()).collect()
    }

    /// The Montgomery form of canonical values with R = 2^(64·width), each in little-endian bytes as wide as a slot.
    pub fn to_mont_le(&self, values: &[BigUint]) -> Vec<u8> {
        let element_bytes = self.modulus.width_limbs() * LIMB_BYTES;
        values.iter().flat_map(|value| padded(self.to_mont(value).to_bytes_le(), element_bytes)).collect()
    }

    /// The same, each in big-endian bytes.
    pub fn to_mont_be(&self, values: &[BigUint]) -> Vec<u8> {
        let mont: Vec<BigUint> = values.iter().map(|value| self.to_mont(value)).collect();
        self.to_be(&mont)
    }

    fn to_mont(&self, value: &BigUint) -> BigUint {
        (value << self.width_bits()) % self.m()
    }
}

fn from_limbs(limbs: &[Limb]) -> BigUint {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

fn padded(mut little_endian: Vec<u8>, bytes: usize) -> Vec<u8> {
    little_endian.resize(bytes, 0);
    little_endian
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_loops_have_closed_forms() {
        let operands = Operands::bls12_381_fp();
        let m = operands.m();
        let (x, y) = (&operands.values[0], &operands.values[PAIRS]);
        let count = BigUint::from(3 * BODY);
        for (operation, expected) in [
            (FieldOp::Add, (x + y * &count) % &m),
            (FieldOp::Sub, (x + (&m - y) * &count) % &m),
            (FieldOp::Mul, x * y.modpow(&count, &m) % &m),
        ] {
            let slots = Straight { operation, form: Form::Dependent }.expected(&operands, 3);
            assert_eq!(slots[0], expected);
            assert_eq!(slots[1..], operands.values[1..]);
        }
    }

    #[test]
    fn independent_loops_compute_each_pair() {
        let operands = Operands::bw6_761_fp();
        let straight = Straight { operation: FieldOp::Mul, form: Form::Independent };
        let slots = straight.expected(&operands, 1);
        let (x, y) = operands.values.split_at(PAIRS);
        let times = BigUint::from(BODY / PAIRS);
        for pair in 0..PAIRS {
            assert_eq!(slots[pair], &x[pair] * y[pair].modpow(&times, &operands.m()) % operands.m());
        }
        assert_eq!(slots[PAIRS..], *y);
    }

    #[test]
    fn encodings_are_as_wide_as_slots() {
        let operands = Operands::bls12_381_fr();
        assert_eq!(operands.width_bits(), 256);
        let three = [BigUint::from(3_u8)];
        assert_eq!(operands.to_be(&three), [vec![0; 31], vec![3]].concat());
        let mont = BigUint::from_bytes_le(&operands.to_mont_le(&three));
        assert_eq!(mont, (BigUint::from(3_u8) << 256) % operands.m());
        assert_eq!(Operands::bw6_761_fp().m().bits(), 761);
    }
}
