//! Differences between the revisions with slots, as values: handlers, compiler and tools read these rules and have no
//! code per revision.

use crate::form::{Form, FormPrice, PerForm, Priced};

/// The rules of one revision with slots. Bytes and prices are elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotRules {
    /// The opcode that sets the modulus: `SETMODX` or `SETUPX`.
    pub set_modulus: u8,
    /// `LOADX`, slots to memory.
    pub load: u8,
    /// `STOREX`, memory to slots.
    pub store: u8,
    /// The opcodes beside these and arithmetic.
    pub forms: PerForm<Option<u8>>,
    /// Modulus of `INVMODX`.
    pub inverts_modulo: InvertsModulo,
    /// True if a squaring (equal factor slots) has a price of its own.
    pub prices_squares: bool,
    /// True if an arithmetic instruction has a price beside those of its lanes.
    pub prices_starts: bool,
    /// The experiments on EIP-6690 of 2024 that it has, by the names of their revisions: one for each revision `x-…`, for `evmmax-next` those that are
    /// worth their cost, none for published revisions.
    pub experiments: &'static [&'static str],
    /// Operands of the opcode that sets the modulus.
    pub form: SetForm,
    /// True if loads and stores name their field context, above their other operands on the stack.
    pub transfer_names_context: bool,
    /// True if arithmetic has strides and a count: seven immediate bytes, else three.
    pub is_strided: bool,
    /// A byte that must stand between opcode and operands.
    pub marker: Option<u8>,
    /// A byte that each opcode of the revision must stand after.
    pub prefix: Option<u8>,
    /// Valid moduli.
    pub moduli: Moduli,
    /// The fewest slots of a field context; the most are always 256.
    pub slots_min: usize,
    /// The most bytes of slots.
    pub slot_bytes_max: SlotBytesMax,
    /// True if values in memory have as many bytes as the declared size of the modulus, if that is in bytes; else whole
    /// limbs.
    pub is_packed: bool,
    /// Measure of slots in the cost of memory.
    pub slots_as_memory: SlotsAsMemory,
    /// True if memory grows to hold the modulus; else it must lie inside.
    pub set_modulus_grows: bool,
    /// True if memory grows to hold loaded values.
    pub load_grows: bool,
    /// True if memory grows to hold stored values.
    pub store_grows: bool,
    /// True if stored values of at least the modulus are accepted. Odd moduli reduce them; powers of two keep them as
    /// they are until an operation reads them.
    pub store_reduces: bool,
    /// Checks of a load or a store of no values.
    pub empty_transfer: EmptyTransfer,
    /// True if loads and stores are priced by their count modulo 256: moving all of 256 slots costs the base only.
    pub prices_count_mod_256: bool,
    /// As evmone does it: lanes one after the other, `out_stride` 0 allowed, and a count of 0 does nothing unless index
    /// less stride wraps around below zero.
    pub lanes_in_turn: bool,
}

/// Modulus of inversions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvertsModulo {
    /// Twice the modulus, which is a power of two; lanes one after the other.
    Twice,
    /// The modulus. The result is 0 if there is no inverse.
    Modulus,
}

/// Operands of the opcode that sets the modulus, top of the stack first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetForm {
    /// id, modulus offset, modulus size, slot count.
    IdOnStack,
    /// The id is an immediate byte; on the stack are modulus offset, modulus size, slot count.
    IdImmediate,
    /// Modulus offset, modulus size, slot count; there is one field context, which is replaced.
    One,
}

/// Valid moduli of a revision with slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moduli {
    /// The smallest.
    pub min: u64,
    /// True if powers of two are valid beside odd numbers.
    pub powers_of_two: bool,
    /// The largest declared size in `unit`.
    pub size_max: usize,
    /// The only sizes, where there are only some.
    pub sizes: Option<&'static [usize]>,
    /// Unit of sizes.
    pub unit: SizeUnit,
    /// True if the first byte must not be zero.
    pub top_byte: bool,
}

/// Unit of the declared size of a modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeUnit {
    /// Bytes; elements in memory are padded to whole limbs.
    Bytes,
    /// Bits; elements in memory have ⌈bits / 8⌉ bytes.
    Bits,
}

/// The most bytes of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotBytesMax {
    /// No limit.
    None,
    /// For all field contexts of a frame.
    Frame(usize),
    /// For modulus size times slot count of one field context.
    Declared(usize),
}

/// Measure of slots in the cost of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotsAsMemory {
    /// Not at all.
    No,
    /// By their bytes, rounded up to words over the frame.
    Bytes {
        /// Slots that each field context counts beyond its own.
        extra_slots: usize,
    },
    /// By the words of each field context.
    Words,
}

/// Checks of a load or a store of no values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyTransfer {
    /// Nothing.
    Nothing,
    /// That there is a field context.
    Context,
    /// That there is a field context, and that the first slot is at most their number.
    ContextAndSlot,
}

/// The most elements of the array of a field context.
pub const ARRAY_ELEMENTS_MAX: usize = 65_536;
/// The highest id of a field context.
pub const ID_MAX: usize = 256;
/// The most slots of a field context.
pub const SLOTS_MAX: usize = 256;

impl SlotRules {
    /// The rules of EIP-6690 of 2024, from which the other files say how they differ.
    pub const EIP6690_2024: SlotRules = SlotRules {
        set_modulus: 0xc0,
        load: 0xc1,
        store: 0xc2,
        forms: PerForm::NONE,
        inverts_modulo: InvertsModulo::Twice,
        prices_squares: false,
        prices_starts: false,
        experiments: &[],
        form: SetForm::IdOnStack,
        transfer_names_context: false,
        is_strided: true,
        marker: None,
        prefix: None,
        moduli: Moduli {
            min: 3,
            powers_of_two: true,
            size_max: 96,
            sizes: None,
            unit: SizeUnit::Bytes,
            top_byte: false,
        },
        slots_min: 1,
        slot_bytes_max: SlotBytesMax::Frame(24_576),
        is_packed: false,
        slots_as_memory: SlotsAsMemory::Bytes { extra_slots: 0 },
        set_modulus_grows: false,
        load_grows: false,
        store_grows: false,
        store_reduces: false,
        empty_transfer: EmptyTransfer::Context,
        prices_count_mod_256: false,
        lanes_in_turn: false,
    };

    /// The rules of EIP-6690 as merged in 2023, from which the revisions with opcodes 0x21 to 0x26 say how they differ.
    pub const EIP6690_2023: SlotRules = SlotRules {
        set_modulus: 0x21,
        load: 0x25,
        store: 0x26,
        is_strided: false,
        moduli: Moduli {
            min: 1,
            powers_of_two: false,
            size_max: 512,
            sizes: None,
            unit: SizeUnit::Bytes,
            top_byte: false,
        },
        slots_min: 0,
        slot_bytes_max: SlotBytesMax::None,
        slots_as_memory: SlotsAsMemory::Words,
        load_grows: true,
        empty_transfer: EmptyTransfer::Nothing,
        ..SlotRules::EIP6690_2024
    };

    /// The opcode of a form, where there is one.
    #[inline(always)]
    pub const fn opcode(&self, form: Form) -> Option<u8> {
        self.forms.0[form as usize] // An enum to usize widens.
    }

    /// True if there is an opcode of a form.
    pub const fn has(&self, form: Form) -> bool {
        self.opcode(form).is_some()
    }

    /// The form of `opcode`; `None` for arithmetic, and for the opcodes that set a modulus, load and store.
    #[inline]
    pub fn form_of(&self, opcode: u8) -> Option<Form> {
        self.all_forms().find(|&form| self.opcode(form) == Some(opcode))
    }

    /// Every form that there is.
    pub fn all_forms(&self) -> impl Iterator<Item = Form> {
        Form::ALL.iter().copied().filter(|&form| self.has(form))
    }

    /// The prices of its forms, in the order of schedules.
    pub fn form_prices(&self) -> impl Iterator<Item = FormPrice> {
        let is_charged = |price| {
            let charges = self.all_forms().flat_map(|form| form.row().charges);
            charges.into_iter().any(|charge| charge.price == Priced::Form(price))
        };
        FormPrice::ALL.iter().copied().filter(move |&price| is_charged(price))
    }

    /// True if an instruction inverts modulo the modulus.
    pub const fn inverts(&self) -> bool {
        self.has(Form::Invert) && matches!(self.inverts_modulo, InvertsModulo::Modulus)
    }

    /// Immediate bytes of arithmetic.
    pub const fn immediate_bytes(&self) -> usize {
        let operands = if self.is_strided { 7 } else { 3 };
        if self.marker.is_some() { operands + 1 } else { operands }
    }

    /// Bytes of a modulus of a declared size, if the revision has that size.
    #[inline]
    pub fn modulus_bytes(&self, size: usize) -> Option<usize> {
        let Moduli { size_max, sizes, unit, .. } = self.moduli;
        let allowed = size >= 1 && size <= size_max && sizes.is_none_or(|sizes| sizes.contains(&size));
        allowed.then_some(match unit {
            SizeUnit::Bytes => size,
            SizeUnit::Bits => size.div_ceil(8),
        })
    }

    /// Bytes of a value in memory under a modulus of `modulus_bytes` bytes.
    #[inline]
    pub const fn element_bytes(&self, modulus_bytes: usize) -> usize {
        if self.is_packed { modulus_bytes } else { self.slot_bytes(modulus_bytes) }
    }

    /// Bytes of a slot under a modulus of `modulus_bytes` bytes.
    #[inline]
    pub const fn slot_bytes(&self, modulus_bytes: usize) -> usize {
        match self.moduli.unit {
            SizeUnit::Bytes => modulus_bytes.next_multiple_of(8),
            SizeUnit::Bits => modulus_bytes,
        }
    }

    /// Bytes that the slots of a new field context count as in memory.
    #[inline]
    pub const fn counted_bytes(&self, slots: usize, slot_bytes: usize) -> usize {
        match self.slots_as_memory {
            SlotsAsMemory::No => 0,
            SlotsAsMemory::Bytes { extra_slots } => (slots + extra_slots) * slot_bytes,
            SlotsAsMemory::Words => (slots * slot_bytes).next_multiple_of(32),
        }
    }

    /// True if loads and stores under a power of two are priced by the word: all revisions with such moduli, except
    /// evmone's.
    pub const fn transfers_by_word(&self) -> bool {
        self.moduli.powers_of_two && !matches!(self.form, SetForm::One)
    }

    /// The row of the price table for arithmetic: the width in limbs, or 0 for at most 32 bits where sizes are in bits.
    #[inline]
    pub const fn price_width(&self, size: usize) -> usize {
        match self.moduli.unit {
            SizeUnit::Bytes => size.div_ceil(8),
            SizeUnit::Bits if size <= 32 => 0,
            SizeUnit::Bits => size.div_ceil(64),
        }
    }

    /// The row of the price table for setting a modulus: ⌊(bits + 7) / 64⌋ where sizes are in bits.
    #[inline]
    pub const fn set_modulus_price_width(&self, size: usize) -> usize {
        match self.moduli.unit {
            SizeUnit::Bytes => size.div_ceil(8),
            SizeUnit::Bits => (size + 7) / 64,
        }
    }
}
