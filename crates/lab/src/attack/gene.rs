//! Genes: one thing each that code can do. They know no revision; [`Room`](super::room::Room) writes them for one, and
//! brings their numbers to what there is room for.

use rand_chacha::ChaCha8Rng;
use residue_isa::form::OPERAND_BYTES_MAX;
use residue_isa::{FieldOp, Form};
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::{below, byte, one_of};

/// Gas that called frames get: what a frame that stops needs, hardly enough to begin, and as much as there is.
pub(super) const CALL_GAS: [u32; 5] = [700, 3_000, 20_000, 200_000, u32::MAX];

/// One thing that a candidate does. Places are offsets or slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gene {
    /// Field arithmetic.
    Field(Field),
    /// Sets a modulus, or switches to another field context.
    Modulus(u8),
    /// The same for the field context of the turn's number, where ids come from the stack.
    ModulusOfTurn,
    /// Changes a byte of a modulus in memory.
    WriteModulus { modulus: u8, byte: u8, value: u8 },
    /// Loads slots to memory, or stores them.
    Transfer { is_load: bool, slot: u8, count: u16 },
    /// Copies slots to the array of a field context, or elements of it to slots.
    Element { is_get: bool, slot: u8, count: u8, index: u16 },
    /// Sets a modulus that stands in the code, or switches to another field context.
    ModulusInCode(u8),
    /// Stores values that stand in the code.
    StoreFromCode { slot: u8, count: u8 },
    /// Loads slots as wider values, and stores these again.
    Padded { slot: u8, count: u16 },
    /// An instruction beside arithmetic: numbers for its operands, most often slots, and the word it takes, if it takes one.
    Formed {
        #[serde(with = "mnemonic")]
        form: Form,
        operands: [u8; OPERAND_BYTES_MAX],
        count: u8,
        word: bool,
    },
    /// Brings a slot into Montgomery form, or inverts it.
    Convert { slot: u8, count: u8 },
    /// A jump target: ends a block.
    Jumpdest,
    /// A jump to what comes next: to a constant, or to a copy of a word on the stack.
    Jump { is_copied: bool },
    /// Reads a word of memory.
    Read(u32),
    /// Calls the code itself.
    Call(Call),
}

/// The operands of field arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub operation: Operation,
    /// Result, first and second operand.
    pub places: [u32; 3],
    /// Lanes, where a revision has them.
    pub count: u8,
    /// Their strides; the first is not 0.
    pub strides: [u8; 3],
    /// Number of the modulus, for instructions that name one.
    pub modulus: u8,
}

/// The arithmetic, as it is written to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    Add,
    Sub,
    Mul,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub kind: CallKind,
    pub gas: u32,
}

/// Opcode of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallKind {
    Call,
    Static,
    Delegate,
}

impl Operation {
    pub const ALL: [Self; 3] = [Self::Add, Self::Sub, Self::Mul];

    pub fn arithmetic(self) -> FieldOp {
        match self {
            Self::Add => FieldOp::Add,
            Self::Sub => FieldOp::Sub,
            Self::Mul => FieldOp::Mul,
        }
    }
}

impl Field {
    /// One lane of neighbours, under the first modulus.
    pub fn one(operation: Operation, places: [u32; 3]) -> Self {
        Self::lanes(operation, places, 1)
    }

    /// Lanes of neighbours, under the first modulus.
    pub fn lanes(operation: Operation, places: [u32; 3], count: u8) -> Self {
        Self { operation, places, count, strides: [1; 3], modulus: 0 }
    }
}

impl Call {
    pub fn random(random: &mut ChaCha8Rng) -> Self {
        let kind = one_of(random, &[CallKind::Call, CallKind::Static, CallKind::Delegate]);
        Self { kind, gas: one_of(random, &CALL_GAS) }
    }
}

impl Gene {
    pub fn random(random: &mut ChaCha8Rng, ground: &Ground) -> Self {
        match below(random, 18) {
            0..=3 if ground.forms().next().is_some() => {
                let forms: Vec<Form> = ground.forms().collect();
                Gene::Formed {
                    form: one_of(random, &forms),
                    operands: [(); OPERAND_BYTES_MAX].map(|()| byte(random)),
                    count: one_of(random, &[1, 1, 2, 4, 16, 64, 255]),
                    word: below(random, 2) == 0,
                }
            }
            0..=7 => Gene::Field(Field {
                operation: one_of(random, &Operation::ALL),
                places: [(); 3].map(|()| ground.random_place(random)),
                count: one_of(random, &[1, 1, 2, 4, 8, 16, 30, 64]),
                strides: [1 + byte(random) % 8, byte(random) % 9, byte(random) % 9],
                modulus: [0, 0, 0, byte(random)][below(random, 4)],
            }),
            8 if ground.sets_modulus() => Gene::Modulus(byte(random)),
            9 if ground.sets_modulus() => Gene::ModulusOfTurn,
            10 if ground.has_modulus_in_memory() => {
                Gene::WriteModulus { modulus: byte(random), byte: byte(random), value: byte(random) }
            }
            11 if ground.has_arrays() && below(random, 2) == 0 => {
                let (is_get, slot, index) =
                    (below(random, 2) == 0, byte(random), one_of(random, &[0, 0, 3, 255, 60_000]));
                Gene::Element { is_get, slot, count: one_of(random, &[1, 3, 16, 255]), index }
            }
            11 if ground.has_padding() && below(random, 3) == 0 => {
                Gene::Padded { slot: byte(random), count: one_of(random, &[1, 4, 256]) }
            }
            11 if ground.reads_code() && below(random, 3) == 0 => match below(random, 2) {
                0 => Gene::ModulusInCode(byte(random)),
                _ => Gene::StoreFromCode { slot: byte(random), count: one_of(random, &[1, 4, 16]) },
            },
            11 if ground.has_slots() => {
                let (is_load, slot) = (below(random, 2) == 0, byte(random));
                Gene::Transfer { is_load, slot, count: one_of(random, &[1, 1, 4, 16, 256]) }
            }
            12 if ground.converts() => Gene::Convert { slot: byte(random), count: one_of(random, &[1, 8, 64]) },
            13 => Gene::Read(ground.random_place(random)),
            14 => Gene::Call(Call::random(random)),
            15 | 16 => Gene::Jump { is_copied: below(random, 2) == 0 },
            _ => Gene::Jumpdest,
        }
    }

    /// True if it reads data from code.
    pub fn reads_code(self) -> bool {
        matches!(self, Gene::ModulusInCode(_) | Gene::StoreFromCode { .. })
    }

    pub fn name(self) -> &'static str {
        match self {
            Gene::Field(Field { operation: Operation::Add, .. }) => "add",
            Gene::Field(Field { operation: Operation::Sub, .. }) => "sub",
            Gene::Field(Field { operation: Operation::Mul, .. }) => "mul",
            Gene::Modulus(_) => "other modulus",
            Gene::ModulusOfTurn => "modulus of the turn",
            Gene::WriteModulus { .. } => "write of a modulus",
            Gene::Transfer { is_load: true, .. } => "load",
            Gene::Transfer { is_load: false, .. } => "store",
            Gene::Element { is_get: true, .. } => "get",
            Gene::Element { is_get: false, .. } => "put",
            Gene::ModulusInCode(_) => "modulus in code",
            Gene::StoreFromCode { .. } => "store from code",
            Gene::Padded { .. } => "padded load and store",
            Gene::Formed { form, .. } => form.row().mnemonic,
            Gene::Convert { .. } => "conversion",
            Gene::Jumpdest => "jump target",
            Gene::Jump { is_copied: true } => "jump to a copied word",
            Gene::Jump { is_copied: false } => "jump",
            Gene::Read(_) => "read of memory",
            Gene::Call(_) => "call of itself",
        }
    }
}

/// A form in a file: its mnemonic.
mod mnemonic {
    use residue_isa::Form;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(form: &Form, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(form.row().mnemonic)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Form, D::Error> {
        let mnemonic = String::deserialize(deserializer)?;
        let form = Form::ALL.iter().copied().find(|form| form.row().mnemonic == mnemonic);
        form.ok_or_else(|| D::Error::custom(format!("no form has the mnemonic {mnemonic:?}")))
    }
}

/// The places in memory that genes name.
pub(super) fn places<'a>(genes: impl Iterator<Item = &'a Gene>) -> impl Iterator<Item = u32> {
    genes.flat_map(|gene| match gene {
        Gene::Field(field) => field.places.to_vec(),
        Gene::Read(place) => vec![*place],
        _ => Vec::new(),
    })
}
