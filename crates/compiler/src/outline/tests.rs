use super::*;
use residue_isa::Family;
use std::num::NonZeroU64;

/// Bytes above all.
const DEAR: Deployment = Deployment { gas_a_byte: 1_000_000, calls: NonZeroU64::MIN };

/// A stretch that takes two words, copies one from below them and gives one.
fn stretch(code: &mut Assembly) {
    code.push(0x1234_5678u64).op(evm::MUL).op(evm::SWAP1).op(evm::DUP1 + 3).op(evm::MULMOD);
    code.push(0x1234_5678_9abcu64).op(evm::XOR).push(0x9abc_def0u64).op(evm::ADD);
}

/// An end that takes a word.
fn end(code: &mut Assembly) {
    code.push(0x1122_3344_5566u64).op(evm::XOR).push(0u8).op(evm::MSTORE).push(32u8).push(0u8).op(evm::RETURN);
}

/// Code with three such stretches, two such ends, and three bodies of one length, two of which have a stretch in them.
fn listing(revision: Revision) -> Listing {
    let mut assembly = Assembly::new();
    let [origin, fail, other] = [(); 3].map(|()| assembly.new_label());
    assembly.mark(origin);
    (1..=7u8).for_each(|word| _ = assembly.push(word));
    stretch(&mut assembly);
    stretch(&mut assembly);
    assembly.push_label(fail).op(evm::JUMPI).push_label(other).op(evm::JUMPI);
    end(&mut assembly);
    assembly.label(other);
    stretch(&mut assembly);
    let length = assembly.item(Item::Push(0u8.into()));
    let bodies = (0..3u8).map(|number| {
        let start = assembly.items().len();
        let body = assembly.new_label();
        assembly.label(body).push(number);
        if number > 0 {
            stretch(&mut assembly);
        }
        start..assembly.item(Item::Data(Vec::new()))
    });
    let bodies: Vec<Range<usize>> = bodies.collect();
    end(&mut assembly);
    assembly.label(fail).op(evm::INVALID);
    let filled = Filled { bodies, lengths: vec![length], filling: evm::JUMPDEST, is_fixed: false };
    filled.fill(&mut assembly, revision).unwrap();
    let code = assembly.assemble(revision).unwrap();
    let runs = vec![1.0; assembly.items().len()];
    Listing { assembly, code, fail, near: Vec::new(), filled: vec![filled], runs }
}

fn outlined(listing: &Listing, revision: Revision) -> (Outlined, BTreeMap<usize, usize>) {
    let schedule = GasSchedule::default_for(revision).unwrap();
    let (outlined, lengths) = once(listing, DEAR, &schedule, revision).unwrap().unwrap();
    assert!(outlined.listing.code.bytes.len() < listing.code.bytes.len());
    (outlined, lengths)
}

#[test]
fn stretches_become_calls_and_ends_become_one() {
    for revision in [Revision::Evm, Revision::EvmCallsub, Revision::Eip6690_2024] {
        let listing = listing(revision);
        let (outlined, lengths) = outlined(&listing, revision);
        // Five stretches, or parts of them, and one of the ends.
        assert_eq!(lengths.len(), 6, "{revision}: {lengths:?}");
        let ends =
            |listing: &Listing| listing.assembly.items().iter().filter(|item| **item == Item::Op(evm::RETURN)).count();
        assert_eq!((ends(&listing), ends(&outlined.listing)), (2, 1));
        let filled = &outlined.listing.filled[0];
        let Item::Push(length) = &outlined.listing.assembly.items()[filled.lengths[0]] else { panic!("no length") };
        let starts: Vec<usize> =
            filled.bodies.iter().map(|body| outlined.listing.code.item_offsets[body.start]).collect();
        assert!(starts.windows(2).all(|pair| num_bigint::BigUint::from(pair[1] - pair[0]) == *length), "{starts:?}");
        assert!(revision.family() == Family::Slots || !outlined.subroutines.is_empty());
    }
}

/// Other items in place of one: what a mistake in the pass could write.
fn mistakes(item: &Item) -> Vec<Vec<Item>> {
    let mut others = vec![vec![], vec![item.clone(), item.clone()]];
    others.extend(match item {
        Item::Op(opcode @ (evm::DUP1..=evm::DUP16 | evm::SWAP1..=evm::SWAP16)) => {
            vec![vec![Item::Op(opcode + 1)], vec![Item::Op(opcode - 1)]]
        }
        Item::Op(opcode) => vec![vec![Item::Op(if *opcode == evm::ADD { evm::MUL } else { evm::ADD })]],
        Item::Push(number) => vec![vec![Item::Push(number + 1u8)]],
        Item::PushLabel(LabelId(label)) => vec![vec![Item::PushLabel(LabelId(label ^ 1))]],
        Item::PushDistances { to: LabelId(to), from } => {
            vec![vec![Item::PushDistances { to: LabelId(to ^ 1), from: from.clone() }]]
        }
        Item::Data(bytes) => vec![vec![Item::Data([&bytes[..], &[evm::JUMPDEST]].concat())]],
        _ => vec![],
    });
    others
}

/// Every item of outlined code dropped, doubled or replaced, every pair of neighbours exchanged, and every hint changed is refused.
#[test]
fn every_mistake_is_refused() {
    let mut refused = 0;
    for revision in [Revision::Evm, Revision::EvmCallsub] {
        let listing = listing(revision);
        let (outlined, lengths) = outlined(&listing, revision);
        let items = outlined.listing.assembly.items();
        let mut mutants: Vec<(usize, Vec<Item>)> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let with = |other: Vec<Item>| (at, [&items[..at], &other, &items[at + 1..]].concat());
            mutants.extend(mistakes(item).into_iter().map(with));
            if let Some(next) = items.get(at + 1).filter(|next| *next != item) {
                let pair = [next.clone(), item.clone()];
                mutants.push((at, [&items[..at], &pair, &items[at + 2..]].concat()));
            }
        }
        for (at, mutant) in mutants {
            let mut assembly = outlined.listing.assembly.clone();
            assembly.truncate(0);
            mutant.iter().for_each(|item| _ = assembly.item(item.clone()));
            let Ok(code) = assembly.assemble(revision) else { continue };
            let wrong = Listing { assembly, code, ..outlined.listing.clone() };
            let subroutines = outlined.subroutines.clone();
            let wrong = Outlined { listing: wrong, moved: Vec::new(), subroutines, call_words: CALL_WORDS };
            let found = expansion::check(&listing, &wrong, &lengths, revision);
            assert!(found.is_err(), "{revision}: item {at}: {:?} is accepted", items[at]);
            refused += 1;
        }
        for (&place, &length) in &lengths {
            for other in [length - 1, length + 1] {
                let mut wrong = lengths.clone();
                wrong.insert(place, other);
                assert!(expansion::check(&listing, &outlined, &wrong, revision).is_err());
            }
        }
        assert!(expansion::check(&listing, &outlined, &lengths, revision).is_ok());
    }
    assert!(refused > 300, "only {refused} were tried");
}

#[test]
fn bytes_that_are_worth_little_stay() {
    let revision = Revision::Evm;
    let listing = listing(revision);
    let schedule = GasSchedule::default_for(revision).unwrap();
    let cheap = Deployment { gas_a_byte: 1, calls: NonZeroU64::new(1_000).unwrap() };
    assert!(once(&listing, cheap, &schedule, revision).unwrap().is_none());
    // Bytes are worth their gas where code seldom runs.
    let seldom = Listing { runs: vec![1e-6; listing.runs.len()], ..listing };
    assert!(once(&seldom, cheap, &schedule, revision).unwrap().is_some());
}

/// A form that a judge refused is no reason to take another one: it shows a mistake.
#[test]
fn a_refusal_of_the_judge_is_not_passed_over() {
    let refused = || CompileError::Outlined { what: "another body".to_owned(), item: 7 };
    let too_far = || CompileError::Far { offset: 70_000, limit: 65_535 };
    let cheaper = |one, other| crate::cheaper(one, other, |cost: &f64| *cost);
    assert_eq!(cheaper(Ok(1.0), Err(refused())), Err(refused()));
    assert_eq!(cheaper(Err(refused()), Ok(1.0)), Err(refused()));
    assert_eq!(cheaper(Ok(1.0), Err(too_far())), Ok(1.0));
    assert_eq!(cheaper(Err(too_far()), Ok(1.0)), Ok(1.0));
    assert_eq!((cheaper(Ok(2.0), Ok(1.0)), cheaper(Ok(1.0), Ok(2.0))), (Ok(1.0), Ok(1.0)));
}
