//! First candidates: attacks that were found by reading, and each instruction by itself at the ends of its operand
//! ranges. Earlier worst cases are tried again in every search.

use residue_isa::form::{OPERAND_BYTES_MAX, Operand};

use super::gene::{Call, CallKind, Field, Gene, Operation};
use super::genome::{CONTRACTS_MAX, Entry, Filler, Genome, Heads, Place, Section};
use super::ground::{ELEMENT, Ground, Kind, VALUES_AT};

/// Enough copies that the jump around them is nothing.
const COPIES: usize = 64;
/// A call with all the gas there is.
const WITH_ALL: Gene = Gene::Call(Call { kind: CallKind::Call, gas: u32::MAX });

/// The attacks, each with a name.
pub fn attacks(ground: &Ground) -> Vec<(&'static str, Genome)> {
    let sum = |places: [u32; 3]| ground.field(Operation::Add, places, 1);
    let product = |places: [u32; 3]| ground.field(Operation::Mul, places, 1);
    let wide_sum = ground.field(Operation::Add, [0, 4, 8], 64);
    let heads =
        |short_entries, asks_calldata| Heads { count: 31, genes: vec![wide_sum; 3], short_entries, asks_calldata };
    let tail = |genes: Vec<Gene>, copies, has_targets| Section { genes, copies, has_targets, place: Place::Tail };
    let idle = |contracts, filler| Genome { contracts, filler, is_idle: true, ..Genome::of(Vec::new()) };
    let with_heads = |heads, tail| Genome { heads, slots: 100, ..Genome::of(vec![tail]) };
    let to_tail = |to_tail| Entry { to_tail, gas_16ths: 2 };
    vec![
        // More code than a cache of analysed codes holds, of which nothing is executed.
        ("cycle of blocks", idle(60, Filler::Blocks)),
        ("cycle of jump targets", idle(1_400, Filler::Targets)),
        ("cycle of noise", idle(CONTRACTS_MAX, Filler::Noise)),
        // Tails that are executed once by each head, after short entries.
        ("heads and a tail of wide sums", with_heads(heads(5, false), tail(vec![wide_sum], 60, false))),
        ("heads and a tail of jump targets", with_heads(heads(5, false), tail(vec![sum([0, 1, 2])], 2_500, true))),
        (
            "heads and a tail in a later transaction",
            Genome {
                history: [[to_tail(0); 5].to_vec(), vec![to_tail(u8::MAX), Entry::WHOLE]].concat(),
                ..with_heads(heads(0, true), tail(vec![wide_sum], 60, false))
            },
        ),
        // Sums in two chains beside each other: many values that a plan keeps for later, in many contexts of many frames.
        (
            "rows of contexts in nested frames",
            Genome {
                slots: 4,
                width_bytes: 56,
                turns: 100,
                ..Genome::of(vec![
                    Section::of(
                        vec![Gene::ModulusOfTurn, product([0, 3, 3]), product([1, 3, 3]), product([2, 3, 3])],
                        1,
                    ),
                    Section::of(vec![sum([0, 0, 2]), sum([1, 1, 0])], 1_350),
                    Section::of(vec![product([0, 0, 0])], 4),
                    Section { place: Place::After, ..Section::of(vec![WITH_ALL], 1) },
                ])
            },
        ),
        (
            "sums that are never read",
            Genome::of(vec![Section { has_targets: true, ..Section::of(vec![sum([0, 1, 2])], 3_000) }]),
        ),
        // Time that grows with a length which the price does not know.
        (
            "longest modulus",
            Genome { width_bytes: u16::MAX, ..Genome::of(vec![Section::of(vec![product([0, 0, 0])], COPIES)]) },
        ),
    ]
}

/// The first generation of a search: the attacks, and instructions over 384 bits and over the longest modulus.
pub fn first(ground: &Ground) -> Vec<(String, Genome)> {
    let widths = ground.widths();
    let is_first = |genome: &Genome| genome.width_bytes == 48 || Some(&genome.width_bytes) == widths.last();
    let alone = instructions(ground).into_iter().filter(|(_, genome)| is_first(genome));
    attacks(ground).into_iter().map(|(name, genome)| (name.to_owned(), genome)).chain(alone).collect()
}

/// Each instruction by itself, by width and by number of lanes or values; each with a name.
pub fn instructions(ground: &Ground) -> Vec<(String, Genome)> {
    let mut all = Vec::new();
    for width_bytes in ground.widths() {
        let mut add = |name: &str, gene: Gene, slots: u16| {
            let genome = Genome { width_bytes, slots, ..Genome::of(vec![Section::of(vec![gene], COPIES)]) };
            all.push((format!("{name}/{}", 8 * width_bytes), genome));
        };
        for (operation, name) in Operation::ALL.into_iter().zip(["add", "sub", "mul"]) {
            add(name, ground.field(operation, [0, 0, 0], 1), 16);
            if ground.revision.is_strided() {
                add(&format!("{name} of 20 lanes"), ground.field(operation, [0, 0, 0], 20), 256);
                add(&format!("{name} of 255 lanes"), ground.field(operation, [0, 0, 0], 255), 256);
                // Results that later lanes would read if they were there.
                add(&format!("{name} of shifted lanes"), ground.field(operation, [1, 0, 0], 255), 256);
            }
        }
        if ground.sets_modulus() {
            add("known modulus", Gene::Modulus(0), 16);
        }
        for (name, gene, slots) in additions(ground) {
            add(&name, gene, slots);
        }
        if ground.has_slots() {
            for count in [1, 255, 256] {
                add(&format!("load of {count}"), Gene::Transfer { is_load: true, slot: 0, count }, 256);
                add(&format!("store of {count}"), Gene::Transfer { is_load: false, slot: 0, count }, 256);
            }
            for slots in [4, 256] {
                let turn = Section::of(vec![Gene::ModulusOfTurn], 1);
                let after = Section { place: Place::After, ..Section::of(vec![WITH_ALL], 1) };
                let genome = Genome { width_bytes, slots, turns: 255, ..Genome::of(vec![turn, after]) };
                all.push((format!("new modulus with {slots} slots/{}", 8 * width_bytes), genome));
            }
        }
        if ground.reads_code() {
            // Each of another id, so that all are new where the code is entered.
            let contexts = Section::of((1..=u8::MAX).map(Gene::ModulusInCode).collect(), 1);
            let after = Section { place: Place::After, ..Section::of(vec![WITH_ALL], 1) };
            let genome = Genome { width_bytes, slots: 4, ..Genome::of(vec![contexts, after]) };
            all.push((format!("new modulus in code/{}", 8 * width_bytes), genome));
        }
        if ground.converts() {
            for count in [1, 64] {
                let gene = Gene::Convert { slot: 1, count };
                let genome = Genome { width_bytes, slots: 256, ..Genome::of(vec![Section::of(vec![gene], COPIES)]) };
                all.push((format!("conversion of {count}/{}", 8 * width_bytes), genome));
            }
        }
    }
    all
}

/// The instructions of experiments by themselves, each with a name and slots.
fn additions(ground: &Ground) -> Vec<(String, Gene, u16)> {
    let mut all = Vec::new();
    let mut add = |name: &str, gene: Gene, slots: u16| all.push((name.to_owned(), gene, slots));
    if ground.has_arrays() {
        for count in [1, 255] {
            for (is_get, name) in [(true, "get"), (false, "put")] {
                let gene = Gene::Element { is_get, slot: 0, count, index: 7 };
                add(&format!("{name} of {count}"), gene, 256);
            }
        }
    }
    if ground.reads_code() {
        for count in [1, 16] {
            add(&format!("store from code of {count}"), Gene::StoreFromCode { slot: 0, count }, 256);
        }
        add("known modulus in code", Gene::ModulusInCode(0), 16);
    }
    if ground.has_padding() {
        for count in [1, 256] {
            add(&format!("padded load and store of {count}"), Gene::Padded { slot: 0, count }, 256);
        }
    }
    for form in ground.forms() {
        let mnemonic = form.row().mnemonic;
        let counts = if form.row().operands.contains(&Operand::Count) { &[1, 120, 255][..] } else { &[1] };
        for &count in counts {
            // Slots and strides apart from each other, and all of them one.
            let apart = core::array::from_fn(|place| u8::try_from(place).unwrap_or(u8::MAX));
            for (name, operands) in [("", apart), (" by 1", [1; OPERAND_BYTES_MAX])] {
                add(&format!("{mnemonic} of {count}{name}"), Gene::Formed { form, operands, count, word: true }, 256);
            }
        }
    }
    all
}

impl Ground {
    /// Arithmetic on values of these numbers.
    fn field(&self, operation: Operation, numbers: [u32; 3], count: u8) -> Gene {
        let places = match self.kind {
            Kind::Memory(_) => numbers.map(|number| VALUES_AT + ELEMENT * number),
            _ => numbers,
        };
        Gene::Field(Field::lanes(operation, places, count))
    }
}
