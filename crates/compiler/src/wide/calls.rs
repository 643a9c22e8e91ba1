//! Results that subroutines make, where code has to be short and a block runs seldom.
//!
//! A subroutine is for one shape of results: a sum of products of sums over parameters, which are addresses of slots. It costs some 45 gas for the call and
//! 6 for each word that it loads or stores but the first of a slot, and takes 15 to 30 bytes in place of 100 and more. Which shapes are
//! worth one is counted when the program is built the first time. The checker follows a call into the subroutine ([`super::read`]).

use super::emission::{Emission, Name};
use super::emit::{Bounds, Known, Memory, Place, Values};
use super::sums::{Atom, Form, Linear};
use super::system::{Constant, POWER, System};
use foldhash::HashMap;
use num_bigint::BigUint;
use num_traits::One;
use residue_isa::Fork;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use residue_passes::Slot;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Parameters of a subroutine at most, beside the result's address: with more the lowest are out of reach of DUP in every product.
const PARAMETERS_MAX: usize = 10;

/// Results of a shape from which on it is worth a subroutine.
const USES_MIN: usize = 3;

/// The bits of words of a reduced value, but that modulo 2²⁵⁶.
const REDUCED_BITS: u32 = 243;

/// The integer of a reduced value is at most so many times p, and as many more as a base has moduli.
const REDUCED_MULTIPLE: u8 = 2;

/// A result over parameters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Its value; atoms are the numbers of parameters.
    form: Form,
    /// For each parameter whether it is as small as reduced values are. Those that only products read may be anything.
    is_reduced: Vec<bool>,
}

impl Shape {
    /// The shape of a result, and the atoms that its parameters are.
    fn of(form: &Form, is_reduced: impl Fn(Atom) -> bool) -> Option<(Self, Vec<Atom>)> {
        let atoms: Vec<Atom> = form.atoms().collect::<BTreeSet<_>>().into_iter().collect();
        if atoms.is_empty() || atoms.len() > PARAMETERS_MAX {
            return None;
        }
        let number = |atom: &Atom| atoms.binary_search(atom).expect("it is one of them");
        let renamed = |sum: &Linear| sum.iter().map(|(atom, &count)| (number(atom), count)).collect::<Linear>();
        let products = form.products.iter().map(|((x, y), &count)| ((renamed(x), renamed(y)), count)).collect();
        let is_reduced = atoms.iter().map(|&atom| form.linear.contains_key(&atom) && is_reduced(atom)).collect();
        Some((Self { form: Form { products, linear: renamed(&form.linear) }, is_reduced }, atoms))
    }

    /// The shape of a result whose atoms are in slots, with these.
    pub fn in_slots(values: &Values<'_>, form: &Form) -> Option<(Self, Vec<Slot>)> {
        let [reduced, any] = [true, false].map(|is_reduced| bounds(values.system, is_reduced));
        let fits = |known: &Known, within: &Bounds| {
            known.bounds.most <= within.most
                && known.bounds.words.iter().zip(&within.words).all(|(word, most)| word <= most)
        };
        let (shape, atoms) = Self::of(form, |atom| fits(&values.known[&atom], &reduced))?;
        let slots = atoms.iter().map(|atom| match &values.known[atom] {
            known @ Known { place: Place::Slot(slot), .. } if fits(known, &any) => Some(*slot),
            _ => None,
        });
        Some((shape, slots.collect::<Option<Vec<Slot>>>()?))
    }
}

/// Numbers of results of each shape, by the modulus.
pub type Counts = BTreeMap<(BigUint, Shape), usize>;

#[derive(Debug)]
struct Subroutine {
    label: LabelId,
    code: Assembly,
    /// Bounds of results.
    bounds: Bounds,
}

/// The subroutines of a program.
#[derive(Debug)]
pub struct Calls {
    subroutines: BTreeMap<Shape, Subroutine>,
    counts: RefCell<BTreeMap<Shape, usize>>,
}

impl Calls {
    /// Those for the shapes that come often.
    pub fn new(system: &System, memory: &Memory, counts: &Counts, code: &mut Assembly) -> Self {
        let often = counts.iter().filter(|((p, _), uses)| *p == system.p && **uses >= USES_MIN);
        let subroutines = often.filter_map(|((_, shape), _)| {
            let (written, bounds) = subroutine(system, memory, shape, code.fork())?;
            let label = code.new_label();
            Some((shape.clone(), Subroutine { label, code: written, bounds }))
        });
        Self { subroutines: subroutines.collect(), counts: RefCell::default() }
    }

    /// True if there are none.
    pub fn are_none(&self) -> bool {
        self.subroutines.is_empty()
    }

    /// True if there is a subroutine for a form, if its atoms are small enough.
    pub fn may_make(&self, form: &Form) -> bool {
        let has = |is_reduced| {
            Shape::of(form, |_| is_reduced).is_some_and(|(shape, _)| self.subroutines.contains_key(&shape))
        };
        has(true) || has(false)
    }

    /// Counts the results of a block.
    pub fn count(&self, shapes: Vec<Shape>) {
        for shape in shapes {
            *self.counts.borrow_mut().entry(shape).or_default() += 1;
        }
    }

    /// Calls the subroutine for a result that goes to a slot, if there is one and it makes nothing above so many times p. [] → []
    pub fn call(
        &self,
        e: &mut Emission<'_>,
        values: &Values<'_>,
        (form, to): (&Form, Slot),
        most: f64,
    ) -> Option<Bounds> {
        let (shape, slots) = Shape::in_slots(values, form)?;
        let subroutine = self.subroutines.get(&shape)?;
        // In 1024ths of p.
        let limit = &values.system.p * ((most * 1024.0) as u64); // small and not negative
        if &subroutine.bounds.most * 1024u32 > limit {
            return None;
        }
        e.call(subroutine.label, std::iter::once(to).chain(slots).map(|slot| values.memory.address(slot)));
        Some(subroutine.bounds.clone())
    }

    /// Writes the subroutines. [] → []
    pub fn write(&self, code: &mut Assembly) {
        for subroutine in self.subroutines.values() {
            code.label(subroutine.label);
            for item in subroutine.code.items() {
                code.item(item.clone());
            }
        }
    }

    /// Says how often shapes came.
    pub fn report(&self, p: &BigUint, counts: &mut Counts) {
        counts.retain(|(other, _), _| other != p);
        counts.extend(self.counts.borrow().iter().map(|(shape, &uses)| ((p.clone(), shape.clone()), uses)));
    }
}

/// Bound of a parameter.
fn bounds(system: &System, is_reduced: bool) -> Bounds {
    let mut bounds = Bounds::between_blocks(system);
    if is_reduced {
        let most = (BigUint::one() << REDUCED_BITS) - 1u8;
        for &residue in system.residues().iter().filter(|&&residue| residue != POWER) {
            bounds.words[system.place(residue)] = most.clone();
        }
        bounds.most = &system.p * (REDUCED_MULTIPLE + system.count());
    }
    bounds
}

/// The code for a shape, and how large its results are; none if it has too many parameters for the reach of DUP. Moduli lie on the stack if that leaves parameters in
/// reach: it takes 15 gas more and some 200 bytes less. [return, to, parameters] → []
fn subroutine(system: &System, memory: &Memory, shape: &Shape, fork: Fork) -> Option<(Assembly, Bounds)> {
    let known = shape.is_reduced.iter().zip(0u8..).map(|(&is_reduced, number)| {
        (usize::from(number), Known { place: Place::Parameter(number + 1), bounds: bounds(system, is_reduced) })
    });
    let values = Values { system, memory, known: known.collect::<HashMap<_, _>>() };
    let moduli = if shape.form.products.is_empty() { Vec::new() } else { system.held(false).collect() };
    [&moduli[..], &[]].into_iter().find_map(|held: &[Constant]| {
        let mut code = Assembly::for_fork(fork);
        let mut e = Emission::new(system, &mut code);
        e.stack = vec![Name::Other];
        e.stack.extend((0..=shape.is_reduced.len()).map(|number| Name::Parameter(u8::try_from(number).expect("few"))));
        for &constant in held {
            e.constant(constant);
            e.name(Name::Constant(constant));
        }
        let bounds = values.made(&mut e, &shape.form, &Place::Parameter(0));
        while e.stack.len() > 1 {
            e.pop();
        }
        let is_within_reach = !e.is_too_deep;
        code.op(evm::JUMP);
        is_within_reach.then_some((code, bounds))
    })
}
