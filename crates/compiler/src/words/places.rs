//! Words on the stack at the start and end of a block.

use num_bigint::BigUint;
use residue_passes::Slot;

/// Form of a value on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// Upper bound of the word as a multiple of p; the word is below p if this is 1 and it is no negative.
    pub multiples: u32,
    /// True if it stands for the negative of the value.
    pub is_negative: bool,
}

impl Form {
    /// As slots hold it.
    pub const CANONICAL: Self = Self { multiples: 1, is_negative: false };

    /// The largest word.
    pub fn most(self, p: &BigUint) -> BigUint {
        if self == Self::CANONICAL { p - 1u8 } else { p * self.multiples }
    }
}

/// A word on the stack where a block begins or ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Address of the next code, which is only moved.
    Next,
    /// p.
    Modulus,
    /// A number.
    Number(BigUint),
    /// The value of a slot.
    Value(Slot, Form),
}

/// Stack at the start and end of a block, lowest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Ends {
    /// Stack at the start; each slot once.
    pub entry: Vec<Place>,
    /// Stack at the end.
    pub exit: Vec<Place>,
}

impl Ends {
    /// Position and form of a slot's value at the start of the block, if it is on the stack.
    pub fn before(&self, slot: Slot) -> Option<(usize, Form)> {
        self.entry.iter().enumerate().find_map(|(at, place)| match *place {
            Place::Value(other, form) if other == slot => Some((at, form)),
            _ => None,
        })
    }

    /// Form of a slot's value at the end of the block, if it is on the stack; the first of several.
    pub fn after(&self, slot: Slot) -> Option<Form> {
        self.exit.iter().find_map(|place| match *place {
            Place::Value(other, form) if other == slot => Some(form),
            _ => None,
        })
    }
}
