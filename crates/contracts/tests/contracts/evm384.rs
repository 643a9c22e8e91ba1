//! The contracts of the EVM384 documents: operation counts as published, values of blst bit for bit, on random points, on
//! numbers that are no points, and on the identities.

use blst::{blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_p1_affine, blst_p2_affine};
use num_bigint::BigUint;
use residue_compiler::compile;
use residue_contracts::evm384::{f6m_mul, final_exponentiation, miller_loop, pairing_eq, synthetic_loop};
use residue_curves::bls12_381::constants::modulus;
use residue_curves::published::tower;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::Fp2Product;
use residue_ir::program::{FieldOp, Program};
use residue_ir::{Outcome, evaluate, record_with};
use residue_isa::{GasSchedule, Revision};

const GAS: u64 = 100_000_000;

/// Multiplications, additions and subtractions in all blocks of a program.
fn counts(program: &Program) -> [usize; 3] {
    let mut counts = [0; 3];
    for function in &program.functions {
        function.body.for_each_block(&mut |block| {
            for (_, op) in &block.ops {
                counts[match op.kind {
                    FieldOp::Mul => 0,
                    FieldOp::Add => 1,
                    FieldOp::Sub => 2,
                }] += 1;
            }
        });
    }
    counts
}

#[test]
fn a_product_in_fp6_is_made_as_published() {
    assert_eq!(counts(&f6m_mul::CONTRACT.program_with(Fp2Product::Karatsuba)), [18, 50, 20]);
    // One multiplication more and three additions or subtractions less for each of six products in Fp2.
    assert_eq!(counts(&f6m_mul::CONTRACT.program_with(Fp2Product::Schoolbook)), [24, 38, 14]);
    assert_eq!(counts(&synthetic_loop::CONTRACT.program_with(Fp2Product::Karatsuba)), [18, 50, 20]);
}

#[test]
fn a_product_in_fp12_is_made_as_published() {
    let of = |product: Fp2Product| {
        counts(&record_with("mul_fp12", &modulus(), product, |machine| {
            use residue_ir::{Bundle, Machine};
            let parse = |number: u64| machine.parse_mont_le(machine.small(48 * number));
            let values = |first: u64| tower::Fp12::from_list((first..first + 12).map(parse).collect());
            machine.return_mont_le(tower::mul_fp12(values(0), values(12)));
        }))
    };
    assert_eq!(of(Fp2Product::Karatsuba), [54, 115, 109]);
    assert_eq!(of(Fp2Product::Schoolbook), [72, 97, 73]);
}

/// Random numbers below p by xorshift64* (Vigna 2016).
struct Seeded(u64);

impl Seeded {
    fn limb(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A value in Montgomery form, as limbs.
    fn value(&mut self) -> blst_fp {
        let digits: Vec<u32> = (0..12).map(|_| (self.limb() >> 32) as u32).collect();
        let mut limbs = (BigUint::new(digits) % modulus()).to_u64_digits();
        limbs.resize(6, 0);
        blst_fp { l: limbs.try_into().unwrap() }
    }

    fn fp2(&mut self) -> blst_fp2 {
        blst_fp2 { fp: [self.value(), self.value()] }
    }

    /// A multiple of the generators, as points of blst.
    fn points(&mut self) -> (blst_p1_affine, blst_p2_affine) {
        use ark_ec::{AffineRepr, CurveGroup};
        let (k, l) = (self.limb(), self.limb());
        let p = (ark_bls12_381::G1Affine::generator() * ark_bls12_381::Fr::from(k)).into_affine();
        let q = (ark_bls12_381::G2Affine::generator() * ark_bls12_381::Fr::from(l)).into_affine();
        (p1(p), p2(q))
    }
}

/// Arkworks, too, keeps values in Montgomery form with R = 2³⁸⁴.
fn fp(value: ark_bls12_381::Fq) -> blst_fp {
    blst_fp { l: value.0.0 }
}

fn fp2(value: ark_bls12_381::Fq2) -> blst_fp2 {
    blst_fp2 { fp: [fp(value.c0), fp(value.c1)] }
}

fn p1(p: ark_bls12_381::G1Affine) -> blst_p1_affine {
    blst_p1_affine { x: fp(p.x), y: fp(p.y) }
}

fn p2(q: ark_bls12_381::G2Affine) -> blst_p2_affine {
    blst_p2_affine { x: fp2(q.x), y: fp2(q.y) }
}

fn bytes<'a>(values: impl IntoIterator<Item = &'a blst_fp>) -> Vec<u8> {
    values.into_iter().flat_map(|value| value.l).flat_map(u64::to_le_bytes).collect()
}

fn pair_bytes((p, q): &(blst_p1_affine, blst_p2_affine)) -> Vec<u8> {
    bytes([&p.x, &p.y].into_iter().chain(&q.x.fp).chain(&q.y.fp))
}

fn fp12_bytes(f: &blst_fp12) -> Vec<u8> {
    bytes(f.fp6.iter().flat_map(|part| &part.fp2).flat_map(|part| &part.fp))
}

/// A compiled program on the engine of every revision.
struct Runs(Vec<(Revision, residue_engine::Prepared)>);

impl Runs {
    fn new(program: &Program) -> Self {
        let prepared = Revision::ALL.iter().map(|&revision| {
            let code = compile(program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
            (revision, Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code))
        });
        Self(prepared.collect())
    }

    #[track_caller]
    fn check(&mut self, input: &[u8], expected: &[u8]) {
        for (revision, prepared) in &mut self.0 {
            let found = prepared.run(input, GAS);
            assert_eq!(found.halt, Halt::Return, "{revision}");
            assert!(found.output == expected, "{revision}: {}", hex::encode(found.output));
        }
    }

    #[track_caller]
    fn refuse(&mut self, input: &[u8]) {
        for (revision, prepared) in &mut self.0 {
            assert!(prepared.run(input, GAS).halt.is_exceptional(), "{revision}");
        }
    }
}

#[test]
fn the_miller_loop_is_that_of_blst() {
    let mut seeded = Seeded(1);
    let (p, q) = seeded.points();
    let (no_p, no_q) = (blst_p1_affine::default(), blst_p2_affine::default());
    let mut pairs = vec![(p, q), (no_p, q), (p, no_q), (no_p, no_q), seeded.points()];
    // Not on the curves.
    for _ in 0..3 {
        let p = blst_p1_affine { x: seeded.value(), y: seeded.value() };
        pairs.push((p, blst_p2_affine { x: seeded.fp2(), y: seeded.fp2() }));
    }
    // Of order two, if it were on the curve: the addition meets Z = 0.
    pairs.push((p, blst_p2_affine { x: q.x, y: blst_fp2::default() }));
    for product in Fp2Product::ALL {
        let program = miller_loop::CONTRACT.program_with(product);
        let mut runs = Runs::new(&program);
        for pair in &pairs {
            runs.check(&pair_bytes(pair), &fp12_bytes(&blst_fp12::miller_loop(&pair.1, &pair.0)));
        }
        runs.refuse(&pair_bytes(&pairs[0])[..287]);
        let expected = fp12_bytes(&blst_fp12::miller_loop(&q, &p));
        assert_eq!(evaluate(&program, &pair_bytes(&pairs[0])), Outcome::Returned(expected));
    }
}

#[test]
fn the_final_exponentiation_is_that_of_blst() {
    let mut seeded = Seeded(2);
    let (p, q) = seeded.points();
    let mut values = vec![blst_fp12::default(), blst_fp12::miller_loop(&q, &p)];
    for _ in 0..3 {
        let mut fp6 = || blst_fp6 { fp2: [seeded.fp2(), seeded.fp2(), seeded.fp2()] };
        values.push(blst_fp12 { fp6: [fp6(), fp6()] });
    }
    for product in Fp2Product::ALL {
        let mut runs = Runs::new(&final_exponentiation::CONTRACT.program_with(product));
        for value in &values {
            runs.check(&fp12_bytes(value), &fp12_bytes(&value.final_exp()));
        }
        runs.check(&[0; 576], &[0; 576]);
        runs.refuse(&[0; 575]);
    }
}

#[test]
fn pairing_eq_decides_as_blst_does() {
    let mut seeded = Seeded(3);
    let minus = |p: blst_p1_affine| {
        let mut limbs = (modulus() - BigUint::from_bytes_le(&bytes([&p.y]))).to_u64_digits();
        limbs.resize(6, 0);
        blst_p1_affine { x: p.x, y: blst_fp { l: limbs.try_into().unwrap() } }
    };
    let (p, q) = seeded.points();
    let (r, s) = seeded.points();
    let (no_p, no_q) = (blst_p1_affine::default(), blst_p2_affine::default());
    let cases = [
        (vec![(p, q), (minus(p), q)], 1),
        (vec![(p, q)], 0),
        (vec![(no_p, q)], 1),
        (vec![(p, q), (r, s), (minus(p), q), (minus(r), s)], 1),
        (vec![(p, q), (r, s), (minus(p), s)], 0),
        (vec![(p, no_q), (p, q), (minus(p), q), (no_p, no_q)], 1),
    ];
    let mut runs = Runs::new(&pairing_eq::CONTRACT.program());
    for (pairs, expected) in cases {
        let product = pairs.iter().map(|(p, q)| blst_fp12::miller_loop(q, p)).reduce(|mut product, f| {
            product *= f;
            product
        });
        assert_eq!(product.unwrap().final_exp() == blst_fp12::default(), expected == 1);
        let input: Vec<u8> = pairs.iter().flat_map(pair_bytes).collect();
        runs.check(&input, &[vec![0; 31], vec![expected]].concat());
        runs.refuse(&input[1..]);
    }
    runs.refuse(&[]);
}

#[test]
fn products_in_fp6_are_those_of_arkworks() {
    use ark_bls12_381::{Fq, Fq2, Fq6};
    let mut seeded = Seeded(4);
    let mut fq2 = || Fq2::new(Fq::from(seeded.limb()).inverse_or_one(), Fq::from(seeded.limb()).inverse_or_one());
    let (a, b) = (Fq6::new(fq2(), fq2(), fq2()), Fq6::new(fq2(), fq2(), fq2()));
    let encoded = |f: Fq6| bytes(&[f.c0, f.c1, f.c2].map(|part| fp2(part).fp).concat());
    let input = [encoded(a), encoded(b)].concat();
    let power = (0..synthetic_loop::TURNS).fold(a, |power, _| power * b);
    for product in Fp2Product::ALL {
        Runs::new(&f6m_mul::CONTRACT.program_with(product)).check(&input, &encoded(a * b));
        Runs::new(&synthetic_loop::CONTRACT.program_with(product)).check(&input, &encoded(power));
    }
}

trait InverseOrOne {
    fn inverse_or_one(self) -> Self;
}

impl InverseOrOne for ark_bls12_381::Fq {
    fn inverse_or_one(self) -> Self {
        use ark_ff::{Field, One};
        self.inverse().unwrap_or_else(Self::one)
    }
}

/// Executed operations beside table 2 of update 5, whose Miller loop has 6867 multiplications, 12182 additions and
/// 11786 subtractions, and its final exponentiation 8196, 24370 and 13867. Ours have fewer multiplications by products
/// with constants 0 and 1, which the recorder folds: eight in the first doubling of the Miller loop, where Z = 1.
/// Additions of ours include copies, which are additions of zero where that costs less than `MCOPY`.
#[test]
fn operations_executed_beside_the_published_ones() {
    for contract in residue_contracts::CONTRACTS.iter().filter(|contract| contract.name.starts_with("evm384/")) {
        let program = contract.program();
        for &revision in Revision::ALL {
            let code = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let counted = engine.run_counted(&code, &(contract.example)(), GAS);
            let of = [0xc0, 0xc1, 0xc2].map(|opcode| counted.counts.of(opcode));
            let (name, size, gas) = (contract.name, code.len(), counted.outcome.gas_used);
            println!("{name}, {revision}: {size} bytes, c0 c1 c2 {of:?}, gas {gas}, {:?}", counted.gas_split);
            assert_eq!(counted.outcome.halt, Halt::Return, "{name}, {revision}");
            if revision == Revision::Evm384V7 && name == miller_loop::CONTRACT.name {
                assert_eq!(of[2], 6867 - 8, "multiplications of the Miller loop");
            }
        }
    }
}
