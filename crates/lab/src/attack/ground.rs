//! Environment of the search's candidates: a revision, and the bounds of their operands.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use residue_isa::revision::eip5843;
use residue_isa::revision::evm384::{Evm384, Modulus, VALUE_BYTES};
use residue_isa::revision::rules::{SetForm, SizeUnit, SlotRules, SlotsAsMemory};
use residue_isa::{Form, Revision};
use serde::{Deserialize, Serialize};

use super::below;

/// Bytes of a value in memory.
pub(super) const ELEMENT: u32 = 48;
/// Moduli in memory, one after the other with room for r_inv.
pub(super) const MODULI: usize = 4;
/// Offset of values in memory, for moduli of 48 bytes.
pub(super) const VALUES_AT: u32 = MODULI as u32 * 2 * ELEMENT; // A small number.
/// Bytes that two-byte offsets reach: the bound of later proposals for memory.
pub const BOUND_BYTES: u32 = 65_536;

/// Bounds of operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bounds {
    /// As far as gas reaches.
    Anywhere,
    /// In 64 KiB of memory, or in a quarter of the slots.
    Within,
}

/// A revision with its bounds.
#[derive(Debug)]
pub struct Ground {
    /// The revision.
    pub revision: Revision,
    /// Bounds of operands.
    pub bounds: Bounds,
    pub(super) kind: Kind,
    /// Bytes of memory that operands may be in.
    reach_bytes: u32,
}

/// Storage of values in a revision.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// In memory or on the stack.
    Memory(&'static Evm384),
    /// At numbered slots of memory.
    MemorySlots,
    /// In slots.
    Slots(&'static SlotRules),
}

impl Ground {
    /// For candidates with so much gas, half of which may go to memory.
    pub fn new(revision: Revision, bounds: Bounds, gas: u64) -> Self {
        let kind = match (revision.evm384(), revision.slot_rules()) {
            (Some(evm384), _) => Kind::Memory(evm384),
            (None, Some(rules)) => Kind::Slots(rules),
            (None, None) => Kind::MemorySlots,
        };
        let reach_bytes = match bounds {
            // 3·W + W²/512 gas for W words (Yellow Paper, appendix G).
            Bounds::Anywhere => 32 * ((256 * gas).isqrt().min(1 << 21) as u32).max(4096), // At most 2²¹.
            Bounds::Within => BOUND_BYTES,
        };
        Self { revision, bounds, kind, reach_bytes }
    }

    /// True if an instruction sets the modulus of those after it, or instructions name one of several.
    pub fn sets_modulus(&self) -> bool {
        !matches!(self.kind, Kind::Memory(evm384) if evm384.modulus != Modulus::Set)
    }

    /// True if the modulus is in memory, where writing changes it.
    pub fn has_modulus_in_memory(&self) -> bool {
        !matches!(self.kind, Kind::Memory(Evm384 { modulus: Modulus::Value | Modulus::Fixed, .. }))
    }

    /// True if values are in slots beside memory.
    pub fn has_slots(&self) -> bool {
        matches!(self.kind, Kind::Slots(_))
    }

    /// True if slots cost no gas, at any number.
    pub fn has_free_slots(&self) -> bool {
        matches!(self.kind, Kind::Slots(SlotRules { slots_as_memory: SlotsAsMemory::No, .. }))
    }

    /// True if field contexts have arrays.
    pub fn has_arrays(&self) -> bool {
        self.revision.has(Form::Get)
    }

    /// True if there are loads and stores of wider values.
    pub fn has_padding(&self) -> bool {
        self.revision.has(Form::StorePadded)
    }

    /// True if there are SETMODCX and STORECX.
    pub fn reads_code(&self) -> bool {
        let ids_on_stack = matches!(self.kind, Kind::Slots(SlotRules { form: SetForm::IdOnStack, .. }));
        ids_on_stack && self.revision.has(Form::SetModulusInCode) && self.revision.has(Form::StoreFromCode)
    }

    /// Instructions beside arithmetic.
    pub fn forms(&self) -> impl Iterator<Item = Form> {
        let forms = self.revision.slot_rules().into_iter().flat_map(SlotRules::all_forms);
        // Inversions are conversions, and some are modulo a power of two only.
        forms.filter(|&form| form.is_instruction() && form != Form::Invert)
    }

    /// True if there is TOMONTX or INVMODX.
    pub fn converts(&self) -> bool {
        match self.kind {
            Kind::Memory(_) => false,
            Kind::MemorySlots => true,
            Kind::Slots(rules) => rules.has(Form::Invert),
        }
    }

    /// Bytes of moduli, the fewest first: widths that kernels are made for, those beside them, and the most.
    pub fn widths(&self) -> Vec<u16> {
        const ALL: [u16; 16] = [1, 4, 8, 16, 24, 31, 32, 40, 47, 48, 56, 64, 96, 128, 256, 512];
        let exists = |width: &u16| match self.kind {
            Kind::Memory(Evm384 { modulus: Modulus::Set, .. }) => usize::from(*width) <= VALUE_BYTES,
            Kind::Memory(_) => usize::from(*width) == VALUE_BYTES,
            Kind::MemorySlots => width.is_multiple_of(8) && usize::from(*width / 8) <= eip5843::WIDTH_LIMBS_MAX,
            Kind::Slots(rules) => {
                let unit = if rules.moduli.unit == SizeUnit::Bits { 8 } else { 1 };
                let size = unit * usize::from(*width);
                let is_padded = rules.element_bytes(usize::from(*width)) != usize::from(*width);
                *width >= 4 && !is_padded && rules.modulus_bytes(size).is_some()
            }
        };
        ALL.into_iter().filter(exists).collect()
    }

    /// A place after the moduli: in a line, across lines, across pages, or far; half of them where a value begins.
    pub fn random_place(&self, random: &mut ChaCha8Rng) -> u32 {
        let most = self.reach_bytes - VALUES_AT - 2 * ELEMENT;
        let reach = [256, 4096, 65_000, most][below(random, 4)].min(most);
        let offset = random.next_u32() % reach;
        let aligned = if below(random, 2) == 0 { offset } else { offset / ELEMENT * ELEMENT };
        VALUES_AT + aligned
    }
}
