//! The opcodes of field instructions beside arithmetic, one row each: [`Form::row`].
//!
//! A row has everything about an opcode but its meaning: name, sentence, words on the stack, operands by kind, prices. Encoding, assembly text, slots
//! read and written, random operands and edge cases follow from it. Three of the EIP's own opcodes, those that set a modulus, load and store, differ
//! in their operands between revisions and are fields of [`crate::SlotRules`].

mod draw;

use core::ops::{Index, IndexMut};

pub use draw::Draw;

use crate::fork::Fork;
use crate::opcode::OpcodeRow;
use crate::schedule::{Price, WidthPrices};

use GasPart::{Arithmetic, Control, Transfer};
use Operand::{Bytes, Count, Reads, Signs, Writes};
use Shape::{InLanes, Pairs, Products, Run, Slots};
use Word::{Choice, Number};

/// Declares the prices by width that forms have, and the forms.
macro_rules! forms {
    (
        prices { $($(#[$price_doc:meta])* $price:ident $key:literal;)* }
        forms { $(
            $(#[$doc:meta])*
            $form:ident = $byte:literal $mnemonic:ident $words:tt -> $pushes:literal $operands:tt $part:ident $charges:tt $sentence:literal;
        )* }
    ) => {
        /// A price by width that some forms have; each is a key of a schedule's `[per_width]`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FormPrice { $($(#[$price_doc])* $price,)* }

        impl FormPrice {
            /// Every price, in the order of schedules.
            pub const ALL: &'static [Self] = &[$(Self::$price),*];

            /// The key in a schedule.
            pub const fn key(self) -> &'static str {
                match self { $(Self::$price => $key,)* }
            }
        }

        /// A field instruction beside arithmetic, by its opcode.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Form { $($(#[$doc])* $form,)* }

        $(
            #[doc = $sentence]
            pub const $mnemonic: u8 = $byte;
        )*

        impl Form {
            /// Every form, by ascending byte in the experiments.
            pub const ALL: &'static [Self] = &[$(Self::$form),*];

            /// Its row.
            pub const fn row(self) -> &'static FormRow {
                &ROWS[self as usize]
            }
        }

        const ROWS: &[FormRow] = &[$(FormRow {
            byte: $byte,
            mnemonic: stringify!($mnemonic),
            sentence: $sentence,
            words: &$words,
            pushes: $pushes,
            operands: &$operands,
            part: $part,
            charges: &$charges,
        }),*];
    };
}

forms! {
    prices {
        /// A lane of an inversion.
        Invert "invert";
        /// A product of a sum of products, without its reduction.
        Product "product";
        /// The reduction of a sum of products.
        Reduction "reduction";
        /// A lane of a product in Fp2.
        Fp2 "fp2";
        /// A product in Fp6.
        Fp6 "fp6";
        /// A value between slots and an array, or between slots.
        Copy "copy";
    }
    // form = byte MNEMONIC [words taken] -> words put [operands] part of gas [prices by width] "sentence"
    forms {
        /// Inverses, modulo the modulus in the revision's rules.
        Invert = 0xc6 INVMODX [] -> 0 [Writes(InLanes), Reads(InLanes), Count] Arithmetic [lane(FormPrice::Invert, "a lane inverted")]
            "out = inverse of x mod m in each lane, 0 if there is none.";
        /// 1 if the value of a slot is zero, else 0.
        IsZero = 0xc7 ISZEROX [] -> 1 [Reads(Slots(1))] Control [] "Whether a slot is zero.";
        /// ± x₁·y₁ ± x₂·y₂ with one reduction.
        Sum2 = 0xc8 SUM2X [] -> 0 [Writes(Slots(1)), Signs, Reads(Products(2))] Arithmetic [product(2), REDUCTION]
            "out = 2 products of slots, each added or subtracted, mod m.";
        /// The same of three products.
        Sum3 = 0xc9 SUM3X [] -> 0 [Writes(Slots(1)), Signs, Reads(Products(3))] Arithmetic [product(3), REDUCTION]
            "out = 3 products of slots, each added or subtracted, mod m.";
        /// The same of four products.
        Sum4 = 0xca SUM4X [] -> 0 [Writes(Slots(1)), Signs, Reads(Products(4))] Arithmetic [product(4), REDUCTION]
            "out = 4 products of slots, each added or subtracted, mod m.";
        /// The same of five products.
        Sum5 = 0xcb SUM5X [] -> 0 [Writes(Slots(1)), Signs, Reads(Products(5))] Arithmetic [product(5), REDUCTION]
            "out = 5 products of slots, each added or subtracted, mod m.";
        /// The same of six products.
        Sum6 = 0xcc SUM6X [] -> 0 [Writes(Slots(1)), Signs, Reads(Products(6))] Arithmetic [product(6), REDUCTION]
            "out = 6 products of slots, each added or subtracted, mod m.";
        /// Elements of the array of a field context to slots.
        Get = 0xcd GETX [Number] -> 0 [Writes(Run), Count] Control [ELEMENT] "Copies elements of the array to slots: index of the first.";
        /// Slots to elements of the array of a field context.
        Put = 0xce PUTX [Number] -> 0 [Reads(Run), Count] Control [ELEMENT] "Copies slots to elements of the array: index of the first.";
        /// Slots to values in memory that may be wider than the modulus.
        LoadPadded = 0xcf LOADPX [Number, Number, Number] -> 0 [Bytes(1)] Control []
            "Copies slots into memory, each in so many bytes: memory offset, first slot, count.";
        /// Values in memory that may be wider than the modulus to slots.
        StorePadded = 0xd0 STOREPX [Number, Number, Number] -> 0 [Bytes(1)] Control []
            "Copies memory into slots, each from so many bytes: first slot, memory offset, count.";
        /// Sets a modulus that stands in code.
        SetModulusInCode = 0xd1 SETMODCX [Number, Number, Number, Number] -> 0 [] Transfer []
            "Activates a field context, created if new: id, modulus offset in code, modulus size, slot count.";
        /// Values that stand in code to slots.
        StoreFromCode = 0xd2 STORECX [Number, Number, Number] -> 0 [] Transfer [] "Copies code into slots: first slot, code offset, count.";
        /// Products in Fp2, as two sums of two products each.
        MulFp2 = 0xd3 FP2MULX [] -> 0 [Writes(Pairs), Reads(Pairs), Reads(Pairs), Count] Arithmetic
            [lane(FormPrice::Fp2, "a lane of a product in Fp2")]
            "out = x * y in Fp2 with u * u = -1 in each lane, an element in two slots.";
        /// Copies of slots, all read before any is written.
        Copy = 0xd4 MOVX [] -> 0 [Writes(InLanes), Reads(InLanes), Count] Transfer [lane(FormPrice::Copy, "a value between slots")]
            "out = x in each lane.";
        /// Values of x where the word on top of the stack is not zero, else of y, all read before any is written.
        Select = 0xd5 SELECTX [Choice] -> 0 [Writes(InLanes), Reads(InLanes), Reads(InLanes), Count] Transfer
            [lane(FormPrice::Copy, "a value chosen")]
            "out = x in each lane if the word is not zero, else y.";
        /// A product in Fp6, as six sums of six products each.
        MulFp6 = 0xd7 FP6MULX [] -> 0 [Writes(Slots(6)), Reads(Slots(6)), Reads(Slots(6)), Bytes(2)] Arithmetic
            [Charge { price: Priced::Form(FormPrice::Fp6), times: Times::Fixed(1), what: "a product in Fp6" }]
            "out = x * y in Fp6 with u * u = -1 and v * v * v = a + b * u, an element in six slots.";
        /// 1 if the values of two slots are equal, else 0.
        Equal = 0xd8 EQX [] -> 1 [Reads(Slots(1)), Reads(Slots(1))] Control [] "Whether two slots are equal.";
        /// 1 if the first of two slots is less than the second, as integers below the modulus, else 0.
        Less = 0xd9 LTX [] -> 1 [Reads(Slots(1)), Reads(Slots(1))] Control
            [Charge { price: Priced::Load, times: Times::FixedIfOdd(2), what: "a value compared by its size" }]
            "Whether the integer in slot x is less than that in slot y.";
    }
}

/// An opcode beside arithmetic, without its byte, which may differ between revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormRow {
    /// The byte in the experiments.
    pub byte: u8,
    /// The name in assembly text and in gas schedules.
    pub mnemonic: &'static str,
    /// Semantics, in one sentence.
    pub sentence: &'static str,
    /// Words taken from the stack, top first.
    pub words: &'static [Word],
    /// Words put on the stack.
    pub pushes: u8,
    /// Operands in the immediate, in their order there.
    pub operands: &'static [Operand],
    /// The part of the gas of a run that its price belongs to.
    pub part: GasPart,
    /// Prices by width, beside the base price. Transfers to and from memory or code are priced as loads and stores.
    pub charges: &'static [Charge],
}

/// Kind of a word on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// A place or a number, which has to be in its range.
    Number,
    /// Zero or not.
    Choice,
}

/// Kind of an operand in the immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Slots written.
    Writes(Shape),
    /// Slots read.
    Reads(Shape),
    /// Signs of products, one byte: bit i is set if product i is subtracted.
    Signs,
    /// Number of lanes or values, one byte.
    Count,
    /// Numbers of a byte each that are no slots.
    Bytes(u8),
}

/// Layout of slots that an operand names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A slot a lane: the first slot and the stride.
    InLanes,
    /// Two slots a lane, the coefficients of an element of Fp2: the first slots of both and the stride.
    Pairs,
    /// So many slots anywhere.
    Slots(u8),
    /// The factors of so many products, two slots each, anywhere.
    Products(u8),
    /// Neighbouring slots: the first; their number is the count.
    Run,
}

/// The part of the gas of a run that an instruction's price belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GasPart {
    /// Arithmetic.
    Arithmetic,
    /// Moves of values.
    Transfer,
    /// Everything else.
    Control,
}

/// A price by width that an instruction is charged for so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// The price.
    pub price: Priced,
    /// Multiplicity.
    pub times: Times,
    /// Name of that which is paid for.
    pub what: &'static str,
}

/// A price by width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priced {
    /// That of a value loaded.
    Load,
    /// One of forms.
    Form(FormPrice),
}

/// Multiplicity of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// As the count says.
    Counted,
    /// So often.
    Fixed(u8),
    /// So often under an odd modulus, else never.
    FixedIfOdd(u8),
}

const REDUCTION: Charge =
    Charge { price: Priced::Form(FormPrice::Reduction), times: Times::Fixed(1), what: "the reduction of a sum" };
const ELEMENT: Charge = lane(FormPrice::Copy, "a value between slots and array");

const fn lane(price: FormPrice, what: &'static str) -> Charge {
    Charge { price: Priced::Form(price), times: Times::Counted, what }
}

const fn product(products: u8) -> Charge {
    Charge { price: Priced::Form(FormPrice::Product), times: Times::Fixed(products), what: "a product of a sum" }
}

impl Charge {
    /// The price under these.
    pub fn of(self, prices: &WidthPrices) -> Price {
        match self.price {
            Priced::Load => prices.load,
            Priced::Form(price) => prices.forms[price],
        }
    }

    /// Multiplicity for an instruction of `count` lanes or values.
    #[inline(always)]
    pub const fn times(self, count: u64, is_odd: bool) -> u64 {
        match self.times {
            Times::Counted => count,
            Times::FixedIfOdd(_) if !is_odd => 0,
            Times::Fixed(times) | Times::FixedIfOdd(times) => times as u64, // u8 to u64 widens; `From` is not const.
        }
    }
}

impl Operand {
    /// Its bytes.
    pub const fn bytes(self) -> usize {
        let bytes = match self {
            Writes(shape) | Reads(shape) => match shape {
                InLanes => 2,
                Pairs => 3,
                Slots(slots) => slots,
                Products(products) => 2 * products,
                Run => 1,
            },
            Signs | Count => 1,
            Bytes(bytes) => bytes,
        };
        bytes as usize // u8 to usize widens; `From` is not const.
    }

    /// The slots it names.
    pub const fn shape(self) -> Option<Shape> {
        match self {
            Writes(shape) | Reads(shape) => Some(shape),
            Signs | Count | Bytes(_) => None,
        }
    }
}

impl FormRow {
    /// Bytes of the immediate.
    pub const fn immediate_bytes(&self) -> usize {
        let (mut bytes, mut operand) = (0, 0);
        while operand < self.operands.len() {
            bytes += self.operands[operand].bytes();
            operand += 1;
        }
        bytes
    }

    /// As a row of an opcode table.
    pub const fn opcode_row(&self) -> OpcodeRow {
        OpcodeRow {
            byte: self.byte,
            mnemonic: self.mnemonic,
            sentence: self.sentence,
            immediate_bytes: self.immediate_bytes() as u8, // At most `OPERAND_BYTES_MAX`.
            pops: self.words.len() as u8,                  // At most four.
            pushes: self.pushes,
            since: Fork::Frontier,
        }
    }

    /// True if there is a stride for each operand and a count.
    pub fn has_lanes(&self) -> bool {
        self.operands.iter().any(|operand| operand.shape() == Some(InLanes))
    }
}

/// The most bytes of operands.
pub const OPERAND_BYTES_MAX: usize = 20;

const _: () = {
    let mut row = 0;
    while row < ROWS.len() {
        assert!(ROWS[row].immediate_bytes() <= OPERAND_BYTES_MAX);
        assert!(row == 0 || ROWS[row - 1].byte < ROWS[row].byte);
        row += 1;
    }
};

impl Form {
    /// The sum of so many products; `None` unless there are 2 to [`SUM_PRODUCTS_MAX`](crate::field_instruction::SUM_PRODUCTS_MAX).
    pub fn sum(products: u8) -> Option<Self> {
        [Form::Sum2, Form::Sum3, Form::Sum4, Form::Sum5, Form::Sum6]
            .into_iter()
            .find(|form| form.products() == products)
    }

    /// Number of products that it sums up; 0 for another instruction.
    pub const fn products(self) -> u8 {
        match self.row().operands {
            [.., Reads(Products(products))] => *products,
            _ => 0,
        }
    }

    /// True if all its operands but a choice are in the immediate, so that it is a [`crate::FieldInstruction`]; else it is a plain opcode.
    pub fn is_instruction(self) -> bool {
        !self.row().words.contains(&Number) && !self.row().operands.is_empty()
    }
}

/// A value for each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerForm<T>(pub [T; Form::ALL.len()]);

/// A value for each price of forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerFormPrice<T>(pub [T; FormPrice::ALL.len()]);

impl PerForm<Option<u8>> {
    /// No form.
    pub const NONE: Self = Self([None; Form::ALL.len()]);

    /// These forms, at the bytes of their rows.
    pub const fn of(forms: &[Form]) -> Self {
        Self::NONE.and(forms)
    }

    /// These forms beside those.
    pub const fn and(mut self, forms: &[Form]) -> Self {
        let mut number = 0;
        while number < forms.len() {
            self.0[forms[number] as usize] = Some(forms[number].row().byte); // An enum to usize widens.
            number += 1;
        }
        self
    }

    /// Those of both.
    pub const fn with(mut self, other: &Self) -> Self {
        let mut form = 0;
        while form < Form::ALL.len() {
            if other.0[form].is_some() {
                self.0[form] = other.0[form];
            }
            form += 1;
        }
        self
    }

    /// Their number.
    pub const fn count(&self) -> usize {
        let (mut count, mut form) = (0, 0);
        while form < Form::ALL.len() {
            count += self.0[form].is_some() as usize; // A bool to usize widens.
            form += 1;
        }
        count
    }
}

impl<T> Index<Form> for PerForm<T> {
    type Output = T;

    fn index(&self, form: Form) -> &T {
        &self.0[form as usize] // An enum to usize widens.
    }
}

impl<T> Index<FormPrice> for PerFormPrice<T> {
    type Output = T;

    fn index(&self, price: FormPrice) -> &T {
        &self.0[price as usize] // An enum to usize widens.
    }
}

impl<T> IndexMut<FormPrice> for PerFormPrice<T> {
    fn index_mut(&mut self, price: FormPrice) -> &mut T {
        &mut self.0[price as usize] // An enum to usize widens.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A price of arithmetic is paid by arithmetic alone; an answer on the stack is control.
    #[test]
    fn the_part_of_gas_follows_from_prices_and_answers() {
        for form in Form::ALL {
            let row = form.row();
            let is_arithmetic =
                |charge: &Charge| matches!(charge.price, Priced::Form(price) if price != FormPrice::Copy);
            assert_eq!(row.part == GasPart::Arithmetic, row.charges.iter().any(is_arithmetic), "{}", row.mnemonic);
            assert!(row.pushes == 0 || row.part == GasPart::Control, "{}", row.mnemonic);
        }
    }
}
