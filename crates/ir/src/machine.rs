//! The control trait: operations of a field program besides arithmetic.
//!
//! Formulas are generic over `Fe`; programs are generic over [`Machine`]. On [`crate::Numbers`] a program is plain Rust and
//! computes; on [`crate::Recording`] the same text becomes a [`crate::Program`]. A Rust `for` unrolls on the recorder, so
//! loops, branches, named functions, arrays at a run-time index, and everything that touches calldata are methods here.
//!
//! Operations that revisions implement in entirely different ways are one operation here too (`parse`, `is_zero`,
//! `equal`, `return_elements`, and the Montgomery forms of `parse_mont_le` and `return_mont_le`) and are lowered per
//! revision.

// style: S2: one trait, with what it is documented by.

use crate::hash::Piece;
use crate::lanes::Lanes;
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_formula::bundle::Bundle;
use ruint::aliases::U256;
use std::marker::PhantomData;

/// Arithmetic on 256-bit words, as the EVM has it (wrapping; division by zero is zero; comparisons give 0 or 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordOp {
    /// a + b mod 2²⁵⁶.
    Add,
    /// a − b mod 2²⁵⁶.
    Sub,
    /// a · b mod 2²⁵⁶.
    Mul,
    /// ⌊a / b⌋, 0 for b = 0.
    Div,
    /// a mod b, 0 for b = 0.
    Mod,
    /// 1 if a < b.
    Lt,
    /// 1 if a = b.
    Eq,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// a · 2ᵇ mod 2²⁵⁶.
    Shl,
    /// ⌊a / 2ᵇ⌋.
    Shr,
    /// Byte b of a, counted from the most significant; 0 for b > 31.
    Byte,
}

impl WordOp {
    /// Every operation.
    pub const ALL: [WordOp; 13] = [
        WordOp::Add,
        WordOp::Sub,
        WordOp::Mul,
        WordOp::Div,
        WordOp::Mod,
        WordOp::Lt,
        WordOp::Eq,
        WordOp::And,
        WordOp::Or,
        WordOp::Xor,
        WordOp::Shl,
        WordOp::Shr,
        WordOp::Byte,
    ];

    /// (a, b) ↦ a op b.
    pub fn apply(self, a: U256, b: U256) -> U256 {
        let truth = |condition: bool| if condition { U256::ONE } else { U256::ZERO };
        let shift = |b: U256| usize::try_from(b).ok().filter(|&bits| bits < 256);
        match self {
            WordOp::Add => a.wrapping_add(b),
            WordOp::Sub => a.wrapping_sub(b),
            WordOp::Mul => a.wrapping_mul(b),
            WordOp::Div => a.checked_div(b).unwrap_or(U256::ZERO),
            WordOp::Mod => a.checked_rem(b).unwrap_or(U256::ZERO),
            WordOp::Lt => truth(a < b),
            WordOp::Eq => truth(a == b),
            WordOp::And => a & b,
            WordOp::Or => a | b,
            WordOp::Xor => a ^ b,
            WordOp::Shl => shift(b).map_or(U256::ZERO, |bits| a << bits),
            WordOp::Shr => shift(b).map_or(U256::ZERO, |bits| a >> bits),
            WordOp::Byte => {
                let index = usize::try_from(b).ok().filter(|&index| index < 32);
                index.map_or(U256::ZERO, |index| U256::from(a.to_be_bytes::<32>()[index]))
            }
        }
    }
}

/// Arithmetic of 256-bit words modulo a third, as in the EVM: intermediate results have 512 bits, and all results are 0
/// modulo 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModOp {
    /// a + b mod m.
    Add,
    /// a · b mod m.
    Mul,
}

impl ModOp {
    /// Every operation.
    pub const ALL: [ModOp; 2] = [ModOp::Add, ModOp::Mul];

    /// (a, b, m) ↦ a op b mod m.
    pub fn apply(self, a: U256, b: U256, m: U256) -> U256 {
        match self {
            ModOp::Add => a.add_mod(b, m),
            ModOp::Mul => a.mul_mod(b, m),
        }
    }
}

/// Optional feature of an interface; programs can test for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Powers of two are moduli.
    PowersOfTwo,
    /// A modulus may be given where a subprogram is entered.
    Given,
    /// A subprogram can have a modulus of this many 64-bit limbs, given or known.
    Limbs(u32),
    /// An instruction inverts: [`Machine::invert`] can be used.
    Inversion,
    /// Code may call the precompile at this address: [`Machine::precompile`] and [`Machine::return_precompile`] can be used.
    Precompile(u16),
    /// Elements are read with the zeros in front of them by one instruction, which looks at these too.
    Padding,
    /// Number of live values that code can name, constants included.
    Slots(u32),
    /// An instruction tells whether an element is zero, for less than to look at its bytes.
    ZeroTest,
    /// Instructions name elements by the numbers of slots: code for formulas is short.
    FieldSlots,
    /// Code for parts of a sequence is short: as with slots, or as the state stays on the stack from part to part.
    ShortParts,
    /// An instruction tells which of two elements is less: [`Machine::less`] can be used.
    Order,
    /// No instruction does arithmetic of the field, so that lanes of words are the cheapest vectors: [`Machine::lanes`].
    WordLanes,
    /// Bytes of code are worth gas: calls are few beside the price of deployment, or code has a limit.
    ShortCode,
    /// Bytes of tables are: a table may be half as long for a little more gas. So it is wherever [`Feature::ShortCode`] is, and in forms between.
    SmallTables,
    /// An opcode counts leading zeros (EIP-7939): [`Machine::leading_zeros`] can be used.
    LeadingZeros,
    /// Elements that are moved have as many bytes as the modulus, not whole limbs.
    Packed,
}

/// Length of the code for which a text is recorded, or a program compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Length {
    /// Gas alone counts.
    #[default]
    Full,
    /// Tables are small.
    Middle,
    /// Code is short too.
    Short,
}

impl Length {
    /// Every length, the longest first.
    pub const ALL: [Length; 3] = [Length::Full, Length::Middle, Length::Short];

    /// Answer to a question for length; `None` if the feature is another one.
    pub const fn answer(self, feature: Feature) -> Option<bool> {
        match feature {
            Feature::ShortCode => Some(matches!(self, Length::Short)),
            Feature::SmallTables => Some(!matches!(self, Length::Full)),
            _ => None,
        }
    }
}

/// Maximum number of elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capacity {
    /// At most this many.
    Fixed(u32),
    /// As many as [`Machine::reserve`] makes room for.
    Unbounded,
}

/// Layout of indices in a word: as many cells as fit, the first at bit 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cells {
    /// Bits of a cell: 8, 16, 32 or 64.
    pub bits: u32,
    /// Bits of an index, the lowest of its cell; the others are 0.
    pub index_bits: u32,
}

impl Cells {
    /// A word with `value`, which a cell must have room for, in every cell.
    pub fn each(self, value: u64) -> U256 {
        self.each_at(self.bits, value)
    }

    /// The same where cells begin `distance` bits apart.
    pub fn each_at(self, distance: u32, value: u64) -> U256 {
        self.at((0..=256 - self.bits).step_by(distance as usize), value) // widens
    }

    /// The same for cells that begin at these bits.
    pub fn at(self, first_bits: impl IntoIterator<Item = u32>, value: u64) -> U256 {
        first_bits.into_iter().fold(U256::ZERO, |word, bit| word | U256::from(value) << bit as usize) // widens
    }

    /// The largest index.
    pub const fn index_max(self) -> u64 {
        (1 << self.index_bits) - 1
    }

    /// Value of the cell of `word` that begins at `first_bit`.
    pub fn take(self, word: U256, first_bit: u32) -> U256 {
        (word >> first_bit as usize) & U256::from(u64::MAX >> (64 - self.bits)) // u32 to usize widens
    }
}

/// A step of a sequence: which part is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SequenceStep<W> {
    /// This part.
    Part(usize),
    /// One of the first parts, [`SequenceStep::choices`] of them: the one whose number, counted from `first_part` on, stands in the cell of 16
    /// bits of `word` that begins at `first_bit`.
    ///
    /// The `first_part`s of a sequence divide its parts into groups, each up to the next one, and so does 0. Parts of a group take as much code as
    /// the longest of them. A number stays within the group of its `first_part`.
    Chosen {
        /// Has such numbers in all its cells, which [`Order::cells`](crate::program::Order::cells) says, and else zeros. It is
        /// read once, before the first step.
        word: W,
        /// A multiple of 8.
        first_bit: u32,
        /// The part that has the number 0.
        first_part: usize,
    },
    /// The next part takes the row, of a table or an array, whose number stands in the cell of 16 bits of `word` that
    /// begins at `first_bit`. A part is preceded by one of these for each row that it and its constant successors take.
    Carry {
        /// Has numbers of rows that there are in all its cells, as for parts. It is read once, before the first step.
        word: W,
        /// A multiple of 8.
        first_bit: u32,
    },
    /// The same for the row of this number.
    CarryNumber(usize),
}

impl<W> SequenceStep<W> {
    /// A sequence where parts are chosen has at least this many.
    pub const CHOICES_MIN: usize = 16;
    /// At most this many.
    pub const CHOICES_MAX: usize = 256;

    /// Number of selectable parts out of `parts`: the largest multiple of 16 ≤ `parts`, at most 256.
    pub const fn choices(parts: usize) -> usize {
        let choices = parts / Self::CHOICES_MIN * Self::CHOICES_MIN;
        if choices > Self::CHOICES_MAX { Self::CHOICES_MAX } else { choices }
    }

    /// The cells that chosen parts stand in.
    pub const CELLS: Cells = Cells { bits: 16, index_bits: 8 };

    /// The part whose number stands in the cell of `word` that begins at `first_bit`.
    pub const fn chosen(word: W, first_bit: u32) -> Self {
        Self::Chosen { word, first_bit, first_part: 0 }
    }
}

/// Prefix of the steps of a sequence that is done, if not all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FirstSteps<W> {
    /// Count in units of [`Self::each`], at most all of them.
    pub count: W,
    /// At least 1; the number of steps is a multiple.
    pub each: usize,
}

impl<W> FirstSteps<W> {
    /// Number of steps to do of `steps` steps, under the value of the word; `None` if there are fewer steps.
    pub(crate) fn of(self, steps: usize, value: impl FnOnce(W) -> U256) -> Option<usize> {
        let count = usize::try_from(value(self.count)).ok()?;
        count.checked_mul(self.each).filter(|&first| first <= steps)
    }
}

/// Steps of a sequence after evaluation, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coming {
    /// The next part takes the row of this number.
    Row(U256),
    /// This part is done.
    Part(usize),
}

impl<W: Copy> SequenceStep<W> {
    /// The word that it reads, if it reads one.
    pub const fn word(&self) -> Option<W> {
        match *self {
            SequenceStep::Chosen { word, .. } | SequenceStep::Carry { word, .. } => Some(word),
            SequenceStep::Part(_) | SequenceStep::CarryNumber(_) => None,
        }
    }

    /// Evaluates the step under the values of words.
    pub(crate) fn coming(&self, value: impl FnOnce(W) -> U256) -> Coming {
        match *self {
            SequenceStep::Carry { word, first_bit } => Coming::Row(Self::CELLS.take(value(word), first_bit)),
            SequenceStep::CarryNumber(number) => Coming::Row(U256::from(number)),
            SequenceStep::Part(_) | SequenceStep::Chosen { .. } => Coming::Part(self.number(value)),
        }
    }

    /// The same step where words are others.
    pub fn map<V>(self, word_of: impl FnOnce(W) -> V) -> SequenceStep<V> {
        match self {
            SequenceStep::Part(number) => SequenceStep::Part(number),
            SequenceStep::Chosen { word, first_bit, first_part } => {
                SequenceStep::Chosen { word: word_of(word), first_bit, first_part }
            }
            SequenceStep::Carry { word, first_bit } => SequenceStep::Carry { word: word_of(word), first_bit },
            SequenceStep::CarryNumber(number) => SequenceStep::CarryNumber(number),
        }
    }

    /// Number of the part that the step does, under the values of words. A step that carries a row does none.
    ///
    /// # Panics
    ///
    /// Panics if it carries a row.
    pub fn number(&self, value: impl FnOnce(W) -> U256) -> usize {
        match *self {
            SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => panic!("a row is no part"),
            SequenceStep::Part(number) => number,
            SequenceStep::Chosen { word, first_bit, first_part } => {
                let number = usize::try_from(Self::CELLS.take(value(word), first_bit)).unwrap_or(usize::MAX);
                let number = number.saturating_add(first_part);
                assert!(number < Self::CHOICES_MAX, "part {number} of a sequence is chosen");
                number
            }
        }
    }
}

/// An array of bundles in memory; made by [`Machine::array`].
#[derive(Debug)]
pub struct Array<B> {
    pub(crate) index: usize,
    pub(crate) element: PhantomData<fn() -> B>,
}

impl<B> Clone for Array<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Array<B> {}

/// A table of bundles in code; made by [`Machine::table`].
#[derive(Debug)]
pub struct Table<B> {
    pub(crate) index: usize,
    pub(crate) element: PhantomData<fn() -> B>,
}

impl<B> Clone for Table<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Table<B> {}

/// A 256-bit word that can be set again; made by [`Machine::variable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variable(pub(crate) usize);

/// Everything a field program may do. `&self` throughout: machines keep their state inside, so that formulas and control
/// can be mixed freely.
pub trait Machine {
    /// Field values.
    type Fe: Fe;
    /// 256-bit words: counts, indices, conditions (0 is false, all else true).
    type Word: Copy;

    // --- field values -------------------------------------------------------------------------------------------------

    /// The constant with canonical value `value`; must be below the modulus.
    fn constant(&self, value: &BigUint) -> Self::Fe;

    /// 0.
    fn zero(&self) -> Self::Fe {
        self.constant(&BigUint::ZERO)
    }

    /// 1.
    fn one(&self) -> Self::Fe {
        self.constant(&BigUint::from(1u8))
    }

    /// The field element that `word` is mod m.
    fn reduce(&self, word: Self::Word) -> Self::Fe;

    /// Inverse of `value`, 0 if there is none. Only interfaces with [`Feature::Inversion`] have code for it;
    /// [`Machine::inverse`] tests for it.
    fn invert(&self, value: Self::Fe) -> Self::Fe;

    /// Inverse of `value`, 0 if there is none: by an instruction if the interface has one, else by `chain`.
    fn inverse(&self, value: Self::Fe, chain: impl FnOnce(&Self, Self::Fe) -> Self::Fe) -> Self::Fe {
        let has_instruction = self.has(Feature::Inversion);
        self.branch(has_instruction, |machine| machine.invert(value), |machine| chain(machine, value))
    }

    /// 1 if `value` is zero, else 0.
    fn is_zero(&self, value: Self::Fe) -> Self::Word;

    /// 1 if the canonical value of `value` is odd, else 0.
    fn is_odd(&self, value: Self::Fe) -> Self::Word;

    /// 1 if a = b, else 0.
    fn equal(&self, a: Self::Fe, b: Self::Fe) -> Self::Word;

    /// 1 if the canonical value of a is less than that of b, else 0. Needs [`Feature::Order`].
    fn less(&self, a: Self::Fe, b: Self::Fe) -> Self::Word;

    /// The word whose bit 0 is bit `first_bit`, a multiple of 256, of the canonical value of `value`.
    fn word_of(&self, value: Self::Fe, first_bit: u32) -> Self::Word;

    /// The field element ⌊a / 2ᵇ⌋ for the canonical value a of `value`, and b = `first_bit`, a multiple of 8 below the bits of the modulus.
    fn high(&self, value: Self::Fe, first_bit: u32) -> Self::Fe;

    /// The field element with the number that `words` are, the most significant first; at most as many as hold the modulus.
    /// It must be below the modulus.
    fn element_of(&self, words: &[Self::Word]) -> Self::Fe;

    // --- other moduli -------------------------------------------------------------------------------------------------

    /// Does the text `body` over another modulus: a subprogram. The same name always means the same text, which the
    /// recorder writes down at the first entry. It may use variables from outside, no values, words or arrays; its own
    /// arrays are lost after it. It may not enter others.
    fn over(&self, name: &'static str, modulus: &BigUint, body: impl FnOnce(&Self));

    /// The same over the odd modulus above 1 of at most `limbs` 64-bit limbs that `modulus` is, in ⌈`limbs` / 4⌉ words, the most
    /// significant first. Constants must be below 3. A run may enter it once.
    fn over_given(&self, name: &'static str, limbs: u32, modulus: &[Self::Word], body: impl FnOnce(&Self));

    // --- structure ----------------------------------------------------------------------------------------------------

    /// Calls the function `name`, whose text is `body`. The same name always means the same text; on the recorder `body`
    /// runs once, at the first call. `body` may use its input and constants, no value from outside.
    fn function<I, O>(&self, name: &'static str, input: I, body: impl FnOnce(&Self, I) -> O) -> O
    where
        I: Bundle<Self::Fe>,
        O: Bundle<Self::Fe>;

    /// `state` after `count` turns of `body`, which sees the turn's index from 0 upwards. Values from outside may be used
    /// in the body: they do not change.
    fn repeat<S>(&self, count: Self::Word, state: S, body: impl FnMut(&Self, Self::Word, S) -> S) -> S
    where
        S: Bundle<Self::Fe>;

    /// `state` after `count` turns of `body`, which sees the turn's number, from `count` − 1 down to 0. Every turn up to
    /// `limit`, at most sixteen, is written out on the recorder, so that its number can choose values; going on to the next
    /// one costs next to nothing. `count` must be at most `limit`.
    fn countdown<S>(&self, count: Self::Word, limit: usize, state: S, body: impl FnMut(&Self, usize, S) -> S) -> S
    where
        S: Bundle<Self::Fe>;

    /// `state` after the parts that `order` names, one after the other: `part` gets the number. On the recorder each of the
    /// `count` parts is recorded once. Within a part no words from outside may be used, but as the count of a countdown that
    /// the part begins with: going on to the next part costs no more than a jump, but takes place on the stack.
    fn sequence<S>(&self, order: &[usize], count: usize, state: S, part: impl FnMut(&Self, usize, S) -> S) -> S
    where
        S: Bundle<Self::Fe>,
    {
        let order: Vec<_> = order.iter().map(|&number| SequenceStep::Part(number)).collect();
        self.sequence_of(&order, &vec![None; count], state, part)
    }

    /// The same where words choose parts, and where a part, for each of which `then` has an entry, may always have the same
    /// one, a later one, after it.
    fn sequence_of<S>(
        &self,
        order: &[SequenceStep<Self::Word>],
        then: &[Option<usize>],
        state: S,
        part: impl FnMut(&Self, usize, S) -> S,
    ) -> S
    where
        S: Bundle<Self::Fe>,
    {
        self.sequence_of_first(None, order, then, state, part)
    }

    /// The same of the first steps only, if `first` is some; then no step carries a row.
    fn sequence_of_first<S>(
        &self,
        first: Option<FirstSteps<Self::Word>>,
        order: &[SequenceStep<Self::Word>],
        then: &[Option<usize>],
        state: S,
        part: impl FnMut(&Self, usize, S) -> S,
    ) -> S
    where
        S: Bundle<Self::Fe>;

    /// Result of `then` if `condition` is not 0, else of `otherwise`. Only one of them is executed.
    fn branch<S>(&self, condition: Self::Word, then: impl FnOnce(&Self) -> S, otherwise: impl FnOnce(&Self) -> S) -> S
    where
        S: Bundle<Self::Fe>;

    /// `step` for each digit; after it `on` with the digit, where that is not 0. Digits come most significant first, at
    /// most 256 of them. On the recorder this is one loop, with `on` recorded once for each different digit.
    fn repeat_digits<S>(
        &self,
        digits: &[i8],
        state: S,
        mut step: impl FnMut(&Self, S) -> S,
        mut on: impl FnMut(&Self, i8, S) -> S,
    ) -> S
    where
        S: Bundle<Self::Fe> + Copy,
    {
        assert!(digits.len() <= 256, "one word holds one mask of the digits");
        let mut kinds: Vec<i8> = digits.iter().copied().filter(|&digit| digit != 0).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mask_of = |kind: i8| {
            let mut mask = U256::ZERO;
            for (turn, &digit) in digits.iter().enumerate() {
                mask.set_bit(turn, digit == kind);
            }
            mask
        };
        self.repeat(self.small(digits.len() as u64), state, |machine, turn, state| {
            let mut state = step(machine, state);
            for &kind in &kinds {
                let hit = machine.bit(machine.word(mask_of(kind)), turn);
                let before = state;
                state = machine.branch(hit, |machine| on(machine, kind, before), |_| before);
            }
            state
        })
    }

    // --- words --------------------------------------------------------------------------------------------------------

    /// 1 if the interface has `feature`, else 0: code for a branch on it has only the arm taken, so the interface need
    /// not have the features of the other arm. Machines that compute have every feature but precompiles.
    fn has(&self, feature: Feature) -> Self::Word;

    /// The constant word `value`.
    fn word(&self, value: U256) -> Self::Word;

    /// The constant word `value`.
    fn small(&self, value: u64) -> Self::Word {
        self.word(U256::from(value))
    }

    /// a op b. Words are expressions: one that is used twice is computed twice unless it is bound.
    fn word_op(&self, op: WordOp, a: Self::Word, b: Self::Word) -> Self::Word;

    /// a op b mod m. One word as `a` and `b` is computed once.
    fn mod_op(&self, op: ModOp, a: Self::Word, b: Self::Word, modulus: Self::Word) -> Self::Word;

    /// Number of leading zero bits of `word`: 256 for 0. Needs [`Feature::LeadingZeros`].
    fn leading_zeros(&self, word: Self::Word) -> Self::Word;

    /// `word`, computed now and kept.
    fn bind(&self, word: Self::Word) -> Self::Word;

    /// Bit `index` of `word`: 0 or 1.
    fn bit(&self, word: Self::Word, index: Self::Word) -> Self::Word {
        self.word_op(WordOp::And, self.word_op(WordOp::Shr, word, index), self.small(1))
    }

    /// 1 if `word` is 0, else 0.
    fn not(&self, word: Self::Word) -> Self::Word {
        self.word_op(WordOp::Eq, word, self.small(0))
    }

    /// A new variable that holds `initial`.
    fn variable(&self, name: &'static str, initial: Self::Word) -> Variable;

    /// Current value of the variable.
    fn get(&self, variable: Variable) -> Self::Word;

    /// The 32 bytes that begin `first_byte` bytes, 1 to 31, after the start of the variable: they end in the one
    /// declared next. It costs as much as [`Machine::get`], and replaces shifts and a sum. Neither may hold indices.
    fn get_across(&self, variable: Variable, first_byte: u32) -> Self::Word;

    /// Makes the variable hold `word`.
    fn set(&self, variable: Variable, word: Self::Word);

    // --- memory -------------------------------------------------------------------------------------------------------

    /// A new array of `B`. A subprogram may have arrays without a capacity if the program around it has none.
    fn array<B: Bundle<Self::Fe>>(&self, name: &'static str, capacity: Capacity) -> Array<B>;

    /// Makes room for `count` elements of an unbounded array. Needed once before its first element is stored; it may be
    /// called again to make more room.
    fn reserve<B: Bundle<Self::Fe>>(&self, array: Array<B>, count: Self::Word);

    /// Element `index`, which must have been stored before.
    fn load<B: Bundle<Self::Fe>>(&self, array: Array<B>, index: Self::Word) -> B;

    /// Sets element `index`, for which there must be room.
    fn store<B: Bundle<Self::Fe>>(&self, array: Array<B>, index: Self::Word, value: B);

    /// Makes the variable hold indices of the array, for [`Machine::index`]: one in each cell of `cells` of `indices`. Code may
    /// keep something else in a cell, so all that may be done with the variable is to shift it right by whole cells, and cells that
    /// come in from above may not be read; compilation fails if cells are too narrow for it.
    fn set_indices<B: Bundle<Self::Fe>>(&self, variable: Variable, array: Array<B>, indices: Self::Word, cells: Cells);

    /// The index in the cell of the variable that begins at `first_bit`: for loads and stores of the array that it was set
    /// for by [`Machine::set_indices`]. That is cheaper than [`Machine::get`] and word operations, as code for it need not
    /// compute the element's address.
    fn index<B: Bundle<Self::Fe>>(
        &self,
        variable: Variable,
        array: Array<B>,
        first_bit: u32,
        cells: Cells,
    ) -> Self::Word;

    /// Sets elements 0 to `count` − 1, for which there must be room, to `value`; `count` is at least 1.
    fn fill<B: Bundle<Self::Fe>>(&self, array: Array<B>, count: u32, value: B);

    /// A new table of constants in code, which takes none of the slots; at least one element.
    fn table<B: Bundle<Self::Fe>>(&self, name: &'static str, elements: &[Vec<BigUint>]) -> Table<B>;

    /// Element `index`, which must be below their number.
    fn lookup<B: Bundle<Self::Fe>>(&self, table: Table<B>, index: Self::Word) -> B;

    /// In a part of a sequence the element of the table that the step carries, see [`SequenceStep::Carry`]. Nothing but arithmetic may
    /// come before it in the part, and rows that are taken. Code for it finds the address computed.
    fn take_row<B: Bundle<Self::Fe>>(&self, table: Table<B>) -> B;

    /// The same of an array, whose capacity is fixed; the element must have been stored before.
    fn take_element<B: Bundle<Self::Fe>>(&self, array: Array<B>) -> B;

    /// The same for an array of elements of `N` parts: takes one part, and the step carries its number among the parts
    /// of all elements.
    fn take_part<B: Bundle<Self::Fe>, const N: usize>(&self, array: Array<[B; N]>) -> B;

    /// Sets elements 0, 1 … of an array, for which there must be room, to all elements of the table.
    fn fill_from<B: Bundle<Self::Fe>>(&self, array: Array<B>, table: Table<B>);

    // --- scratch memory -----------------------------------------------------------------------------------------------

    /// Makes scratch memory have `size_bytes` bytes at least, which are 0 at the start. The program and its functions
    /// share it; no access may go beyond its end.
    fn scratch(&self, size_bytes: u32);

    /// The 32 bytes of scratch memory from byte `offset`, big-endian. An expression with such a word must be used before scratch memory
    /// is changed, a function called or a region entered or left; bound it can be used after that.
    fn scratch_word(&self, offset: Self::Word) -> Self::Word;

    /// Writes `word` to scratch memory from byte `offset`, big-endian.
    fn set_scratch(&self, offset: Self::Word, word: Self::Word);

    /// Writes the lowest byte of `word` to byte `offset` of scratch memory.
    fn set_scratch_byte(&self, offset: Self::Word, word: Self::Word);

    /// The Keccak-256 hash (Yellow Paper, appendix A) of `size_bytes` bytes of scratch memory from byte `offset`, as a big-endian number.
    fn keccak256_scratch(&self, offset: Self::Word, size_bytes: Self::Word) -> Self::Word;

    /// Writes the 32 bytes of the SHA-256 hash (FIPS 180-4) of `size_bytes` bytes of scratch memory from byte `offset` to scratch memory from byte
    /// `to`. What is hashed may lie there. In code this is a call of the precompile at address 2.
    fn sha256_scratch(&self, offset: Self::Word, size_bytes: Self::Word, to: Self::Word);

    /// Keccak-f[1600] (FIPS 202, §3.3) of the state in 224 bytes of scratch memory from byte `offset`: after 24 bytes come 25 big-endian numbers of 8,
    /// lane (x, y) as number x + 5·y. The 24 bytes are anything afterwards, on which programs must not depend.
    fn keccak_f(&self, offset: u32);

    /// Writes `size_bytes` bytes of calldata from byte `from`, zeros past its end, to scratch memory from byte `offset`.
    fn copy_calldata(&self, offset: Self::Word, from: Self::Word, size_bytes: Self::Word);

    /// Writes `size_bytes` bytes of scratch memory from byte `from`, as they are before, to scratch memory from byte `offset`.
    fn copy_scratch(&self, offset: u32, from: u32, size_bytes: u32);

    /// The `count` field elements written in scratch memory from byte `offset`, each in `size_bytes` big-endian bytes, at most 32. Halts
    /// exceptionally if one of the numbers is not below the modulus.
    fn take_scratch(&self, offset: u32, count: usize, size_bytes: u32) -> Vec<Self::Fe>;

    /// Writes each value in `size_bytes` big-endian bytes, canonical, to scratch memory from byte `offset`.
    fn put_scratch(&self, offset: u32, size_bytes: u32, values: &[Self::Fe]);

    /// Transforms a vector of a small field, words of lanes, from calldata to scratch memory. It has a modulus of its own. Halts exceptionally if a
    /// number in calldata is not below it.
    fn lanes(&self, lanes: &Lanes);

    /// Asks that these values, no constants among them, stand one after the other, where code for a machine can have that. It does nothing else:
    /// operations on many values are lanes of one instruction then.
    fn line_up(&self, values: &[Self::Fe]);

    /// Ends the program; the output is `size_bytes` bytes of scratch memory from byte `offset`.
    fn return_scratch(&self, offset: Self::Word, size_bytes: Self::Word);

    // --- precompiles --------------------------------------------------------------------------------------------------

    /// Calls the precompile at `address` with `size_bytes` bytes of scratch memory from byte `offset`; its output is
    /// written to scratch memory from byte `to`, `output_bytes` bytes at most. 1 if it succeeds; else 0, and scratch
    /// memory is as it was. A precompile that fails has spent the gas of the call, all but a sixty-fourth of what there
    /// was (EIP-150). Only interfaces with [`Feature::Precompile`] have code for it, and no machine that computes:
    /// programs branch on the feature and have other code for them.
    fn precompile(&self, address: u16, input: (Self::Word, Self::Word), output: (Self::Word, u32)) -> Self::Word;

    /// Ends the program; the output is that of the precompile at `address` for the whole calldata. Halts exceptionally if that fails. For the same
    /// interfaces.
    fn return_precompile(&self, address: u16);

    // --- stages -------------------------------------------------------------------------------------------------------

    /// Ends the program as `text` does. Recorded in linked form ([`crate::record_linked`]), `text` is a program of its own, in another account, and this is
    /// a call of that account with the whole calldata: the output is the account's. Halts exceptionally if the account does, or if it returns nothing, as an
    /// account without code does.
    ///
    /// So `text` reads calldata alone: it declares its own variables and scratch memory, must not depend on what scratch memory has at the start, and has to
    /// return a byte at least. Texts of one name are the same.
    fn stage(&self, name: &'static str, text: fn(&Self));

    // --- outside ------------------------------------------------------------------------------------------------------

    /// Number of bytes of calldata.
    fn calldata_size(&self) -> Self::Word;

    /// The 32 bytes of calldata from `offset`, big-endian; bytes past the end are zero.
    fn calldata_word(&self, offset: Self::Word) -> Self::Word;

    /// The field element written in `size_bytes` big-endian bytes of calldata from `offset` (past the end: zero bytes).
    /// Halts exceptionally if the number is not below the modulus. `offset` + `size_bytes` must be below 2²⁵⁶.
    fn parse(&self, offset: Self::Word, size_bytes: u32) -> Self::Fe;

    /// The field element a whose Montgomery form a·R mod m stands little-endian in calldata from `offset`, in the bytes of
    /// the field's limbs: 8n of them, R = 2⁶⁴ⁿ; the modulus must be odd. This is how the first field contracts passed
    /// values: memory of EVM384 takes them as they are.
    ///
    /// The number must be below the modulus. Numbers, the evaluator and the EVMMAX revisions halt exceptionally if it
    /// is not; code for EVM384 does not check, like its published programs, and computes with any number.
    fn parse_mont_le(&self, offset: Self::Word) -> Self::Fe;

    /// The SHA-256 hash of `pieces`, one after the other, as a big-endian number. In code this is a call of the precompile at
    /// address 2. Halts exceptionally, as memory cannot grow so far, if they are longer than [`crate::hash::HASHED_BYTES_MAX`].
    fn sha256(&self, pieces: &[Piece<Self::Word>]) -> Self::Word;

    /// The Keccak-256 hash of `pieces`, as [`Machine::sha256`] has it; in code the instruction KECCAK256.
    fn keccak256(&self, pieces: &[Piece<Self::Word>]) -> Self::Word;

    /// Halts exceptionally if `condition` is 0.
    fn require(&self, condition: Self::Word);

    /// Ends the program; the output is one 32-byte word.
    fn return_word(&self, word: Self::Word);

    /// Ends the program; the output is the last `size_bytes` bytes of `words` one after the other, after as many zeros as are
    /// missing. Halts exceptionally, as memory cannot grow so far, if it is longer than [`crate::hash::HASHED_BYTES_MAX`].
    fn return_words(&self, words: &[Self::Word], size_bytes: Self::Word);

    /// Ends the program; the output is each value of `values` in `size_bytes` big-endian bytes, canonical.
    fn return_elements<B: Bundle<Self::Fe>>(&self, values: B, size_bytes: u32);

    /// Ends the program; the output is the last `size_bytes` bytes of the values of `values` one after the other, in `element_bytes`
    /// big-endian bytes each, after as many zeros as are missing. The values must be below 2^(8·`element_bytes`), or code may return anything.
    /// Halts exceptionally if `size_bytes` is above `limit_bytes`, which is at least the bytes of all values.
    fn return_last<B: Bundle<Self::Fe>>(&self, values: B, element_bytes: u32, size_bytes: Self::Word, limit_bytes: u32);

    /// Ends the program; the output is the Montgomery form of each value of `values`, as [`Machine::parse_mont_le`] reads it.
    fn return_mont_le<B: Bundle<Self::Fe>>(&self, values: B);
}
