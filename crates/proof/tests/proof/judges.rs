//! The checker in Rust beside the one in Coq, computed: the same verdict and the same gas for compiled random programs and mutants of their code.

use crate::code_of;
use crate::mutants::{mutants, starts};
use crate::semantics::{compiled, library, numbers, program};
use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_extent::{cases, sample, seed};
use residue_ir::text;
use residue_proof::{Certificate, Semantics, Source, coq};
use std::iter::once;
use std::path::Path;

/// Mutants of each code.
const MUTANTS: usize = 12;
/// A prime and products of small primes, where multiples of a value may vanish.
const MODULI: [&str; 6] =
    ["9", "15", "45", "105", "3465", "115792089237316195423570985008687907853269984665640564039457584007908834671663"];

/// The gas of a verdict as a term of Coq's.
pub fn verdict(gas: Option<u64>) -> String {
    gas.map_or_else(|| "None".to_owned(), |gas| format!("Some {gas}"))
}

/// A program whose multiples of the element vanish modulo 15.
const VANISHING: &str = "program \"p\"\nmodulus 0xf\nconstant c0 = 0x3\nconstant c1 = 0x5\nconstant c2 = 0x1\n\
    function f0 \"start\" () -> () values 4 {\nword w0 = 0x20\nword w1 = calldata_size\nword w2 = eq w1 w0\nword w3 = 0x0\n\
    require w2 parse w3 bytes 32 -> v0 block { v1 = mul v0 c0\nv2 = mul v1 c1\nv3 = add v2 c2 } return_elements (v3) bytes 32\n}";

/// Code that returns 1, the result of [`VANISHING`], once calldata has been found to be one element.
const ONE: &str = "60203614156019575f35600e811160195760015f5260205ff35bfe";

/// Odd moduli of code with slots, of one to four limbs: of three bytes, 64, 65, 129 and 256 bits, the first and the last products of small primes.
const MODULI_OF_SLOTS: [&str; 6] = [
    "3465",
    "18446744069414584321",
    "36893488147419103231",
    "680564733841876926926749214863536422909",
    "99481188195845490820207625772642576801367201360910529106101988047706955286135",
    "115792089237316195423570985008687907853269984665640564039457584007908834671663",
];

/// Text of a random program modulo one of these.
fn random(rng: &mut ChaCha8Rng, moduli: &[&str]) -> String {
    let p: BigUint = moduli.choose(rng).unwrap().parse().unwrap();
    let parses = rng.random_range(1..4);
    program(rng, &p, parses)
}

/// Codes that both checkers judge: a code of each program, and mutants.
struct Cases<'a> {
    rng: &'a mut ChaCha8Rng,
    semantics: Semantics,
    terms: Vec<String>,
    programs: usize,
    accepted: usize,
}

impl Cases<'_> {
    /// Adds a program's code, if it has a certificate: that of the compiler or another one.
    fn add(&mut self, written: &str, other: Option<Vec<u8>>) {
        let semantics = self.semantics;
        let program = text::read(written).unwrap_or_else(|error| panic!("{error}:\n{written}"));
        let made = Certificate::new(&program, semantics, &code_of(&program, semantics));
        let Ok(made) = made else { return };
        let Source::Straight(program) = &made.program else { panic!("it is straight:\n{written}") };
        let code = other.unwrap_or_else(|| made.code.clone());
        self.programs += 1;
        let (known, hints) = (coq::program(program), coq::hints(&made.witness));
        let starts = starts(&code, semantics);
        let mut codes = vec![code.clone()];
        for _ in 0..MUTANTS {
            let place = self.rng.random_range(0..starts.len() - 1);
            codes.extend(mutants(&code, &starts, place).choose(self.rng).cloned());
        }
        for code in codes {
            let gas = made.gas_of(&code).ok().map(|gas| gas.gas);
            self.accepted += usize::from(gas.is_some());
            self.terms.push(format!("({known}, {hints}, {}, {})", coq::bytes(&code), verdict(gas)));
        }
    }

    /// Holds Coq to the verdict on each of them.
    fn judge(&self, folder: &Path, checker: &str) {
        let (programs, accepted, codes) = (self.programs, self.accepted, self.terms.len());
        println!("{}: {programs} programs, {codes} codes, {accepted} accepted by both", self.semantics.revision());
        // Of the random programs a third has a certificate: others have code with products that the program has not.
        assert!(programs > 1 && programs <= accepted && accepted < codes, "{programs} programs, {accepted} accepted");
        let source = format!(
            "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Check Slots CheckSlots Run.\n\
             Import ListNotations.\nOpen Scope Z_scope.\n\
             Definition agrees (c : program * witness * list Z * option Z) : bool :=\n\
             let '(p, w, code, expected) := c in\n\
             match {checker} p w code, expected with Some g, Some h => g =? h | None, None => true | _, _ => false end.\n\
             Definition cases : list (program * witness * list Z * option Z) :=\n [{}].\n\
             Eval vm_compute in differing agrees 0 cases.\n",
            self.terms.join(";\n ")
        );
        let file = format!("Cases_{:?}", self.semantics);
        let said = compiled(folder, &file, &source);
        assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}/{file}.v", folder.display());
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_accepts_what_the_checker_accepts() {
    let Some(folder) = library("judges", &["Evm", "Program", "Check", "Slots", "CheckSlots"]) else { return };
    // Contexts take Coq's machine several times as long: one of two interfaces a day.
    let words = (Semantics::Evm, "check", &MODULI[..], cases(120));
    let slots = [(Semantics::Slots, "check_slots false"), (Semantics::Next, "check_slots true")];
    let slots = sample(&slots, 2, 0).map(|&(semantics, checker)| (semantics, checker, &MODULI_OF_SLOTS[..], cases(40)));
    for (semantics, checker, moduli, programs) in once(words).chain(slots) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed());
        let mut judged = Cases { rng, semantics, terms: Vec::new(), programs: 0, accepted: 0 };
        if semantics == Semantics::Evm {
            judged.add(VANISHING, Some(hex::decode(ONE).unwrap()));
            assert!(judged.accepted > 0, "the checker takes zero multiples away");
        }
        for _ in 0..programs {
            let written = random(judged.rng, moduli);
            judged.add(&written, None);
        }
        judged.judge(&folder, checker);
    }
}
