//! Round trips of both ends of the crate: one side reads back what the other writes.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use num_bigint::BigUint;
use proptest::prelude::*;
use residue_isa::assembly::{Item, LabelId, assemble, assemble_text, disassemble, parse, print};
use residue_isa::revision::evm384::{Evm384, Modulus, Operands};
use residue_isa::{FieldInstruction, FieldOp, Form, Lanes, ModulusAt, Revision, jumpdests};

fn arithmetic() -> impl Strategy<Value = FieldOp> {
    prop::sample::select(&FieldOp::ALL[..])
}

fn revision() -> impl Strategy<Value = Revision> {
    prop::sample::select(Revision::ALL)
}

fn lanes() -> impl Strategy<Value = Lanes> {
    (any::<u8>(), prop_oneof![Just(1), any::<u8>()]).prop_map(|(index, stride)| Lanes { index, stride })
}

fn slots() -> impl Strategy<Value = FieldInstruction> {
    (arithmetic(), lanes(), lanes(), lanes(), prop_oneof![Just(1), any::<u8>()])
        .prop_map(|(operation, out, x, y, count)| FieldInstruction::Slots { operation, out, x, y, count })
}

/// An instruction with operands that the revision can name.
fn memory(evm384: &'static Evm384) -> BoxedStrategy<FieldInstruction> {
    let place = (0..=evm384.operand_max).prop_map(|operand| operand * evm384.unit_bytes);
    let place = prop_oneof![place.clone(), Just(0), Just(evm384.operand_max * evm384.unit_bytes), place];
    let operands = [place.clone(), place.clone(), place.clone(), place];
    (arithmetic(), operands, any::<u64>(), 0..64_u32)
        .prop_map(|(operation, [out, x, y, offset], r_inv, shift)| {
            let modulus = match evm384.modulus {
                Modulus::OperandAndRInv if operation == FieldOp::Mul => {
                    ModulusAt::OffsetAndRInv { offset, r_inv: r_inv >> shift }
                }
                Modulus::Operand | Modulus::OperandAndRInv => ModulusAt::Offset(offset),
                _ => ModulusAt::Implied,
            };
            let x = if evm384.operands == (Operands::Words { overwrites_x: true }) { out } else { x };
            FieldInstruction::Memory { operation, out, x, y, modulus }
        })
        .boxed()
}

/// An instruction of a form with any operands, or with those of one lane of neighbours.
fn formed(form: Form) -> BoxedStrategy<FieldInstruction> {
    let byte = prop_oneof![Just(1), any::<u8>()];
    let operands = prop::collection::vec(byte, form.row().immediate_bytes());
    operands.prop_map(move |operands| FieldInstruction::formed(form, &operands)).boxed()
}

/// One lane without strides.
fn triple() -> impl Strategy<Value = FieldInstruction> {
    (arithmetic(), any::<[u8; 3]>()).prop_map(|(operation, slots)| {
        let [out, x, y] = slots.map(Lanes::one);
        FieldInstruction::Slots { operation, out, x, y, count: 1 }
    })
}

/// An instruction that the revision can write; none if it writes none.
fn instruction(revision: Revision) -> Option<BoxedStrategy<FieldInstruction>> {
    match (revision.slot_rules(), revision.evm384()) {
        (Some(rules), _) if rules.all_forms().any(Form::is_instruction) => {
            let forms = rules.all_forms().filter(|form| form.is_instruction()).map(formed);
            Some(proptest::strategy::Union::new([slots().boxed()].into_iter().chain(forms)).boxed())
        }
        (Some(rules), _) if rules.is_strided => Some(slots().boxed()),
        (_, Some(Evm384 { operands: Operands::Values, .. })) => None,
        (_, Some(evm384)) => Some(memory(evm384)),
        (Some(_), None) | (None, None) => Some(triple().boxed()),
    }
}

/// A revision that writes operands in code.
fn writing_revision() -> impl Strategy<Value = (Revision, BoxedStrategy<FieldInstruction>)> {
    let writing: Vec<Revision> =
        Revision::ALL.iter().copied().filter(|&revision| instruction(revision).is_some()).collect();
    prop::sample::select(writing).prop_map(|revision| (revision, instruction(revision).unwrap()))
}

/// Bytes in which pushes, field opcodes and JUMPDESTs are frequent.
fn code(bytes_max: usize) -> impl Strategy<Value = Vec<u8>> {
    let frequent = prop::sample::select(vec![
        0x5b_u8, 0x5f, 0x60, 0x61, 0x6f, 0x7f, 0xc0, 0xc2, 0xc3, 0xc5, 0xc6, 0x0c, 0x21, 0x22, 0x24, 0x62, 0xfe, 0xae,
    ]);
    prop::collection::vec(prop_oneof![any::<u8>(), frequent], 0..=bytes_max)
}

/// Field instructions with noise between them, so that v7's joined PUSH16 occurs too.
fn field_code(revision: Revision) -> impl Strategy<Value = Vec<u8>> {
    let instruction = instruction(revision).expect("the revision writes operands");
    prop::collection::vec((instruction, code(20)), 0..20).prop_map(move |parts| {
        let mut bytes = Vec::new();
        for (instruction, noise) in parts {
            revision.encode(&instruction, &mut bytes).unwrap();
            bytes.extend(noise);
        }
        bytes
    })
}

/// Items in the one way in which text gives them back: labels numbered by first appearance, each defined once.
fn items(revision: Revision) -> impl Strategy<Value = Vec<Item>> {
    let plain: Vec<u8> =
        (0..=u8::MAX).filter(|&byte| revision.row(byte).is_some_and(|row| row.immediate_bytes == 0)).collect();
    let item = prop_oneof![
        prop::sample::select(plain).prop_map(Item::Op),
        prop::collection::vec(any::<u8>(), 0..=32).prop_map(|bytes| Item::Push(BigUint::from_bytes_be(&bytes))),
        prop::collection::vec(any::<u8>(), 1..=32).prop_map(Item::PushBytes),
        prop::collection::vec(0x80..0x90_u8, 0..40).prop_map(Item::Data),
        instruction(revision).map_or(Just(Item::Op(0xc0)).boxed(), |field| field.prop_map(Item::Field).boxed()),
        (0..6_u32).prop_map(|label| Item::PushLabel(LabelId(label))),
        // The seventh and the eighth label are at the beginning and the end.
        prop::collection::vec(Just(LabelId(6)), 0..=16).prop_map(|from| Item::PushDistances { to: LabelId(7), from }),
    ];
    let definitions = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 6);
    (prop::collection::vec(item, 0..40), definitions).prop_map(|(mut items, definitions)| {
        for (label, (place, is_target)) in (0..).map(LabelId).zip(definitions) {
            let item = if is_target { Item::Label(label) } else { Item::Mark(label) };
            items.insert(place.index(items.len() + 1), item);
        }
        items.insert(0, Item::Mark(LabelId(6)));
        items.push(Item::Mark(LabelId(7)));
        renumber(&mut items);
        items
    })
}

fn renumber(items: &mut [Item]) {
    let mut seen = Vec::new();
    for item in items {
        let labels: Vec<&mut LabelId> = match item {
            Item::PushLabel(label) | Item::Label(label) | Item::Mark(label) => vec![label],
            Item::PushDistances { to, from } => std::iter::once(to).chain(from).collect(),
            _ => vec![],
        };
        for label in labels {
            let number = seen.iter().position(|other| other == label).unwrap_or_else(|| {
                seen.push(*label);
                seen.len() - 1
            });
            *label = LabelId(u32::try_from(number).unwrap());
        }
    }
}

#[track_caller]
fn check_disassembly(code: &[u8], revision: Revision) {
    let text = disassemble(code, revision);
    let back = assemble_text(&text, revision).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(hex::encode(back.bytes), hex::encode(code), "{revision}\n{text}");
}

/// Jump targets by the definition: walk instruction by instruction and note the offsets inside immediates.
#[track_caller]
fn check_jumpdests(code: &[u8], revision: Revision) {
    let mut in_immediate = vec![false; code.len()];
    let mut pc = 0;
    while pc < code.len() {
        let push = if (0x60..=0x7f).contains(&code[pc]) { usize::from(code[pc]) - 0x5f } else { 0 };
        let is_prefix = revision.prefix() == Some(code[pc]);
        let opcode = if revision.prefix().is_none() { Some(&code[pc]) } else { code.get(pc + 1).filter(|_| is_prefix) };
        let field =
            revision.opcodes().iter().find(|row| opcode == Some(&row.byte)).map_or(0, |row| row.immediate_bytes);
        for _ in 0..push + usize::from(field) + usize::from(is_prefix) {
            pc += 1;
            if let Some(flag) = in_immediate.get_mut(pc) {
                *flag = true;
            }
        }
        pc += 1;
    }
    let targets = jumpdests(code, revision);
    assert_eq!((targets.code_bytes, targets.bits.len()), (code.len(), code.len().div_ceil(8)));
    for (offset, &byte) in code.iter().enumerate() {
        assert_eq!(targets.contains(offset), byte == 0x5b && !in_immediate[offset], "{offset}");
    }
}

proptest! {
    #[test]
    fn decode_inverts_encode(
        (revision, instruction, noise) in writing_revision().prop_flat_map(|(r, field)| (Just(r), field, code(20)))
    ) {
        let mut bytes = Vec::new();
        revision.encode(&instruction, &mut bytes).unwrap();
        let length = bytes.len();
        prop_assert_eq!(revision.decode(&bytes), Some((instruction, length)));
        for cut in 0..length {
            prop_assert_eq!(revision.decode(&bytes[..cut]), None);
        }
        bytes.extend(noise);
        prop_assert_eq!(revision.decode(&bytes), Some((instruction, length)));
    }

    #[test]
    fn encode_inverts_decode(revision in revision(), bytes in code(40)) {
        for start in 0..bytes.len() {
            if let Some((instruction, length)) = revision.decode(&bytes[start..]) {
                let mut back = Vec::new();
                revision.encode(&instruction, &mut back).unwrap();
                prop_assert_eq!(&back, &bytes[start..start + length]);
            }
        }
    }

    #[test]
    fn disassembly_of_any_bytes_assembles_to_them(revision in revision(), bytes in code(3000)) {
        check_disassembly(&bytes, revision);
        check_jumpdests(&bytes, revision);
    }

    #[test]
    fn disassembly_of_field_code_assembles_to_it(
        (revision, bytes) in writing_revision().prop_flat_map(|(r, _)| (Just(r), field_code(r)))
    ) {
        check_disassembly(&bytes, revision);
        check_jumpdests(&bytes, revision);
    }

    #[test]
    fn printed_items_parse_back((revision, items) in revision().prop_flat_map(|r| (Just(r), items(r)))) {
        let text = print(&items, revision);
        prop_assert_eq!(parse(&text, revision).unwrap_or_else(|error| panic!("{error}\n{text}")), &items[..]);
        let code = assemble(&items, revision).unwrap();
        prop_assert_eq!(&assemble_text(&text, revision).unwrap(), &code);
        for (index, item) in items.iter().enumerate() {
            let bytes = &code.bytes[code.item_range(index).unwrap()];
            match item {
                Item::Field(field) => prop_assert_eq!(revision.decode(bytes), Some((*field, bytes.len()))),
                Item::Label(label) => {
                    prop_assert_eq!(bytes, [0x5b]);
                    prop_assert!(jumpdests(&code.bytes, revision).contains(code.labels[label]));
                }
                Item::PushLabel(label) => {
                    let target = code.labels[label].to_be_bytes();
                    let digits = target.iter().copied().skip_while(|&byte| byte == 0);
                    prop_assert!(bytes[1..].iter().copied().eq(digits));
                }
                Item::PushDistances { to, from } => {
                    let distances = from.iter().map(|from| u16::try_from(code.labels[to] - code.labels[from]).unwrap());
                    let expected: Vec<u8> = distances.flat_map(u16::to_be_bytes).collect();
                    prop_assert_eq!(&bytes[1..], expected);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn no_text_panics_the_parser(revision in revision(), text in "[ \n:;=@/_x,0-9a-fA-FPUSHMODXDATA-]{0,60}") {
        let _ = assemble_text(&text, revision);
    }
}

#[test]
fn every_opcode_and_every_truncation_disassembles() {
    for &revision in Revision::ALL {
        for opcode in 0..=u8::MAX {
            for after in 0..40 {
                let mut code = vec![0x5b; after + 1];
                code[0] = opcode;
                check_disassembly(&code, revision);
                check_jumpdests(&code, revision);
            }
        }
    }
}

#[test]
fn a_few_kilobytes_of_every_byte_disassemble() {
    let code: Vec<u8> = (0..8192_u32).map(|i| u8::try_from(i.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect();
    for &revision in Revision::ALL {
        check_disassembly(&code, revision);
    }
}
