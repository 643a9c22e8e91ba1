//! Instructions in blocks of EVM384, and the needs of such blocks.

use residue_isa::assembly::assemble_text;

use super::*;

const REVISIONS: [Revision; 6] = [
    Revision::Evm384V6,
    Revision::Evm384V7,
    Revision::Evm384V8,
    Revision::Evm384V9,
    Revision::Evm384V10,
    Revision::X383,
];

/// Three instructions: a sum, a product, and a sum under another modulus where the revision has others.
fn code(revision: Revision) -> Vec<u8> {
    let modulus = |at: &'static str| if revision == Revision::Evm384V6 { "" } else { at };
    let [first, second] = [modulus("960"), modulus("1440")];
    let text =
        format!("ADDMOD384 48 96 144 {first}\nMULMODMONT384 480 96 96 {first}\nSUBMOD384 48 48 48 {second}\nSTOP\n");
    assemble_text(&text, revision).unwrap().bytes
}

#[test]
fn a_code_has_a_layout_where_something_runs_on_its_values() {
    for revision in REVISIONS {
        let is_big = revision == Revision::Evm384V8;
        let has = |batching| Memory::layout(&code(revision), revision, batching).is_some();
        assert!(!has(Batching::Off) && has(Batching::Always));
        assert_eq!(has(Batching::Traces), !is_big, "there are scalar kernels for one order of bytes only");
        assert_eq!(has(Batching::Warm), Batching::Warm.has_plans() || !is_big);
        assert!(Memory::layout(&[0], revision, Batching::Always).is_none(), "no places");
        let layout = Memory::layout(&code(revision), revision, Batching::Always).unwrap();
        assert_eq!(Memory::has_traces(&layout), !is_big);
        assert!(!Memory::lanes_in_turn(&layout));
        assert_eq!((Memory::push(&layout), Memory::layout_bytes(&layout)), (layout.form.push, layout.bytes()));
    }
    assert!(Memory::layout(&[0], Revision::Eip6690_2024, Batching::Always).is_none());
}

#[test]
fn a_block_begins_at_an_opcode_and_goes_on_with_pushes() {
    for revision in REVISIONS {
        let code = code(revision);
        let layout = Memory::layout(&code, revision, Batching::Always).unwrap();
        let (bytes, push) = (layout.form.instruction_bytes(), layout.form.push_bytes());
        let opcodes = [push, bytes + push, 2 * bytes + push];
        assert!((0..100).all(|pc| Memory::may_begin(&layout, pc) == opcodes.contains(&pc)));
        for (number, opcode) in opcodes.into_iter().enumerate() {
            let first = Memory::instruction(&layout, &code, opcode, true).unwrap();
            assert_eq!((first.length, first.count), (bytes - push, 1));
            let later = Memory::instruction(&layout, &code, number * bytes, false).unwrap();
            assert_eq!((later.length, later.operation, later.out), (bytes, first.operation, first.out));
        }
        let product = Memory::instruction(&layout, &code, bytes, false).unwrap();
        let [out, x, y] = [480, 96, 96].map(|at| layout.offsets().binary_search(&at).unwrap());
        assert_eq!([product.out, product.x, product.y].map(|(place, _)| usize::from(place)), [out, x, y]);
        assert!(Memory::instruction(&layout, &code, 3 * bytes, false).is_none());
        assert!(push == 0 || Memory::instruction(&layout, &code, 0, true).is_none(), "no room for the push");
    }
}

#[test]
fn a_block_needs_one_modulus_and_memory_as_far_as_its_instructions_reach() {
    for revision in REVISIONS {
        let code = code(revision);
        let layout = Memory::layout(&code, revision, Batching::Always).unwrap();
        let (bytes, push) = (layout.form.instruction_bytes(), layout.form.push_bytes());
        let mut needs = MemoryNeeds::default();
        let mut admit = |number: usize, is_first: bool| {
            let pc = number * bytes + if is_first { push } else { 0 };
            let instruction = Memory::instruction(&layout, &code, pc, is_first).unwrap();
            let is_admitted = Memory::admit(&layout, &mut needs, &instruction, &code, pc);
            (is_admitted, needs.reach, needs.multiplies, needs.names.count(), needs.writes.count())
        };
        let modulus = if revision == Revision::Evm384V6 { 12_288 } else { 960 };
        let [sum, product] = match revision {
            Revision::Evm384V10 => [modulus + 49; 2],
            _ => [modulus + 48, modulus + 56],
        };
        assert_eq!(admit(0, true), (true, sum, false, 3, 1));
        assert_eq!(admit(1, false), (true, product, true, 4, 2));
        let is_same = revision == Revision::Evm384V6;
        assert_eq!(admit(2, false), (is_same, product, true, 4, 2));
        assert_eq!(needs.modulus, modulus);
        let facts = |memory_bytes| Facts { slot_count: 0, width_limbs: 6, memory_bytes, width: None, plans_run: true };
        let fits = [product - 1, product, product + 1].map(|bytes| Memory::fits(&needs, &facts(bytes)));
        assert_eq!(fits, [false, true, true]);
        assert_eq!(Memory::place_count(&layout, &facts(0)), 4);
    }
}

#[test]
fn a_trace_is_the_operations_themselves() {
    let layout = Memory::layout(&code(Revision::Evm384V7), Revision::Evm384V7, Batching::Always).unwrap();
    let mut block = SlotBlock::new(4);
    (0..5).for_each(|_| block.push_lanes(FieldOp::Mul, [(0, 1, 2)]).unwrap());
    assert_eq!(Memory::trace(&layout, &block), Some(()));
    assert_eq!(Memory::trace_size(&(), &block), (5, 0));
}
