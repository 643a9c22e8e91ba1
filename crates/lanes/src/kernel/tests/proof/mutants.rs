//! Mutants: programs with one fault each. The proof of every mutant fails, unless it is equivalent to the program: if
//! an instruction has no effect for any operand, or its result is never read.

use super::products::{self, Way};
use super::sums::{self, RowStep};
use super::symbols::Proof;
use super::transfers::{self, Part};
use crate::shape::Shape;

/// Ways to spoil a program in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// An instruction does nothing: its first operand is the outcome.
    Dropped,
    /// Elements stay where they are, or are not written.
    Unmoved,
    /// The low half of a product is the high one, or the other way round.
    OtherHalf,
    /// A shift by 52 is one by 51.
    ShiftedLess,
    /// A number in the code is one more.
    LiteralChanged,
    /// A constant of the modulus is one more.
    ConstantChanged,
}

impl Fault {
    /// All there are.
    pub const ALL: [Self; 6] =
        [Self::Dropped, Self::Unmoved, Self::OtherHalf, Self::ShiftedLess, Self::LiteralChanged, Self::ConstantChanged];
}

/// A fault, in the one of all its places that has this number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mutant {
    pub fault: Fault,
    pub at: usize,
}

/// Proves every mutant with one of the faults, or one in `step` of them; none may be right and differ from the program.
fn check(name: &str, faults: &[Fault], step: usize, prove: impl Fn(Option<Mutant>) -> (Proof, Result<(), String>)) {
    let (program, outcome) = prove(None);
    assert_eq!(outcome, Ok(()), "{name}");
    let mut found = 0;
    for fault in faults {
        for at in (0..program.places(*fault)).step_by(step) {
            let (proof, outcome) = prove(Some(Mutant { fault: *fault, at }));
            assert!(outcome.is_err() || !proof.is_noticed(), "{name}: place {at} for {fault:?} makes no difference");
            found += usize::from(outcome.is_err());
        }
    }
    assert!(found > 0, "{name} has mutants");
}

fn shape(bits: usize) -> Shape {
    Shape::of_bits(bits).unwrap()
}

#[test]
fn mutants_of_products_are_found() {
    for way in [Way::Lane, Way::Lanes] {
        check(&format!("{way:?} of six limbs"), &Fault::ALL, 1, |mutant| {
            products::prove::<6, 1>(way, shape(256), mutant)
        });
    }
    check("lane of eight limbs", &Fault::ALL, 1, |mutant| products::prove::<8, 1>(Way::Lane, shape(381), mutant));
}

#[test]
fn mutants_of_products_with_assembly_are_found() {
    check("line", &Fault::ALL, 1, |mutant| products::prove::<8, 1>(Way::Line, shape(381), mutant));
}

/// One in four: the program is that of the narrower rows, and its proof takes ten times as long.
#[test]
fn mutants_of_products_of_fifteen_limbs_are_found() {
    check("lane of fifteen limbs", &Fault::ALL, 4, |mutant| products::prove::<15, 2>(Way::Lane, shape(761), mutant));
}

#[test]
fn batches_that_confuse_rows_are_found() {
    let faults = [Fault::Unmoved];
    check("batch of six limbs", &faults, 1, |mutant| products::prove::<6, 1>(Way::Batch, shape(256), mutant));
    check("quads of six limbs", &faults, 1, |mutant| products::prove::<6, 1>(Way::Quads(2), shape(256), mutant));
    check("batch of eight limbs", &faults, 1, |mutant| products::prove::<8, 1>(Way::Batch, shape(381), mutant));
    check("quads of eight limbs", &faults, 1, |mutant| products::prove::<8, 1>(Way::Quads(1), shape(381), mutant));
    check("batch of ten limbs", &faults, 9, |mutant| products::prove::<10, 2>(Way::Batch, shape(512), mutant));
    check("batch of fifteen limbs", &faults, 9, |mutant| products::prove::<15, 2>(Way::Batch, shape(761), mutant));
}

#[test]
fn streams_that_confuse_rows_are_found() {
    check("stream", &[Fault::Unmoved], 1, |mutant| products::prove::<8, 1>(Way::Stream, shape(381), mutant));
}

#[test]
fn mutants_of_steps_on_rows_are_found() {
    for step in [RowStep::Linear(0), RowStep::Linear(-1), RowStep::Carry, RowStep::Reduce] {
        let name = format!("{step:?}");
        check(&name, &Fault::ALL, 1, |mutant| sums::prove::<6, 1>(step, shape(308), mutant));
        check(&name, &Fault::ALL, 1, |mutant| sums::prove::<8, 1>(step, shape(381), mutant));
        check(&name, &Fault::ALL, 1, |mutant| sums::prove::<10, 2>(step, shape(512), mutant));
        check(&name, &Fault::ALL, 1, |mutant| sums::prove::<15, 2>(step, shape(761), mutant));
    }
}

#[test]
fn mutants_of_transfers_are_found() {
    let parts = [
        Part::Words,
        Part::Reduced,
        Part::Canonical { is_below: true },
        Part::Canonical { is_below: false },
        Part::LessModulus,
        Part::Unpacked,
        Part::Packed,
    ];
    for part in parts {
        check(&format!("{part:?}"), &Fault::ALL, 1, |mutant| transfers::prove::<6>(part, shape(256), mutant));
        check(&format!("{part:?}"), &Fault::ALL, 5, |mutant| transfers::prove::<10>(part, shape(512), mutant));
        check(&format!("{part:?}"), &Fault::ALL, 5, |mutant| transfers::prove::<15>(part, shape(761), mutant));
    }
    check("division by 2³²", &Fault::ALL, 1, |mutant| transfers::prove::<8>(Part::Divided(32), shape(381), mutant));
    check("division by 2¹²", &Fault::ALL, 1, |mutant| transfers::prove::<15>(Part::Divided(12), shape(761), mutant));
}
