//! The checker in Rust beside the one in Coq, computed: the same verdict and the same gas for compiled random programs and mutants of their code.

use crate::mutants::{mutants, starts};
use crate::semantics::{compiled, library, numbers, program};
use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_compiler::compile;
use residue_extent::{cases, seed};
use residue_ir::text;
use residue_isa::{GasSchedule, Revision};
use residue_proof::{Certificate, check, coq};

/// Mutants of each code.
const MUTANTS: usize = 12;
/// A prime and products of small primes, where multiples of a value may vanish.
const MODULI: [&str; 6] =
    ["9", "15", "45", "105", "3465", "115792089237316195423570985008687907853269984665640564039457584007908834671663"];

/// The gas of a verdict as a term of Coq's.
fn verdict(gas: Option<u64>) -> String {
    gas.map_or_else(|| "None".to_owned(), |gas| format!("Some {gas}"))
}

/// A program whose multiples of the element vanish modulo 15.
const VANISHING: &str = "program \"p\"\nmodulus 0xf\nconstant c0 = 0x3\nconstant c1 = 0x5\nconstant c2 = 0x1\n\
    function f0 \"start\" () -> () values 4 {\nword w0 = 0x20\nword w1 = calldata_size\nword w2 = eq w1 w0\nword w3 = 0x0\n\
    require w2 parse w3 bytes 32 -> v0 block { v1 = mul v0 c0\nv2 = mul v1 c1\nv3 = add v2 c2 } return_elements (v3) bytes 32\n}";

/// Code that returns 1, the result of [`VANISHING`], once calldata has been found to be one element.
const ONE: &str = "60203614156019575f35600e811160195760015f5260205ff35bfe";

/// Text of a random program modulo one of [`MODULI`].
fn random(rng: &mut ChaCha8Rng) -> String {
    let p: BigUint = MODULI.choose(rng).unwrap().parse().unwrap();
    let parses = rng.random_range(1..4);
    program(rng, &p, parses)
}

/// The certificate of a program and its code, if there is one.
fn certificate(written: &str) -> Option<Certificate> {
    let program = text::read(written).unwrap_or_else(|error| panic!("{error}:\n{written}"));
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let code = compile(&program, Revision::Evm, &schedule).unwrap().code;
    Certificate::new(&program, &code).ok()
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_accepts_what_the_checker_accepts() {
    let Some(folder) = library("judges", &["Evm", "Program", "Check"]) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let (mut terms, mut accepted, mut programs) = (Vec::new(), 0, 0);
    for number in 0..=cases(120) {
        let written = if number == 0 { VANISHING.to_owned() } else { random(&mut rng) };
        let Some(Certificate { program, mut code, witness, .. }) = certificate(&written) else { continue };
        if number == 0 {
            code = hex::decode(ONE).unwrap();
            assert!(check(&program, &code, &witness).is_ok(), "the checker takes zero multiples away");
        }
        programs += 1;
        let (known, hints) = (coq::program(&program), coq::hints(&witness));
        let starts = starts(&code);
        let mut codes = vec![code.clone()];
        for _ in 0..MUTANTS {
            let place = rng.random_range(0..starts.len() - 1);
            codes.extend(mutants(&code, &starts, place).choose(&mut rng).cloned());
        }
        for code in codes {
            let gas = check(&program, &code, &witness).ok();
            accepted += usize::from(gas.is_some());
            terms.push(format!("({known}, {hints}, {}, {})", coq::bytes(&code), verdict(gas)));
        }
    }
    let source = format!(
        "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Check Run.\nImport ListNotations.\nOpen Scope Z_scope.\n\
         Definition agrees (c : program * witness * list Z * option Z) : bool :=\n\
         let '(p, w, code, expected) := c in\n\
         match check p w code, expected with Some g, Some h => g =? h | None, None => true | _, _ => false end.\n\
         Definition cases : list (program * witness * list Z * option Z) :=\n [{}].\n\
         Eval vm_compute in differing agrees 0 cases.\n",
        terms.join(";\n ")
    );
    let said = compiled(&folder, "Cases", &source);
    println!("{programs} programs, {} codes, {accepted} accepted by both", terms.len());
    // Of the random programs a third has a certificate: others have code with products that the program has not.
    assert!(programs > 1 && programs <= accepted && accepted < terms.len(), "{programs} programs, {accepted} accepted");
    assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}", folder.join("Cases.v").display());
}
