//! Times what a field operation costs through each interface of this crate, beside blst's raw product and sum.
//!
//! `cargo run --release -p residue-modular --example kernels [rounds]`. *Dependent* chains each result into the next
//! operation (latency); *independent* works through sixteen pairs (throughput). Rounds of all candidates are
//! interleaved, so that a change of clock meets all alike; medians are printed, and big integers check every answer.

use std::hint::black_box;
use std::time::Instant;

use num_bigint::BigUint;
use residue_modular::fields::{Bls12_381Fp, Bls12_381FpModulus, Bn254Fp};
use residue_modular::{FieldContext, Limb, Modulus, Number, PrimeField, Strided, evm384};

/// Operations in one round of one candidate.
const OPERATIONS: usize = 16_000;
/// Pairs of the independent form: x in slots 0 .., y in the next, results in the last third.
const PAIRS: usize = 16;
const SLOTS: usize = 3 * PAIRS;

/// One interface: slots of values, and an operation on them.
trait Candidate {
    /// Runs `out = x ∘ y` for each triple of slots, `times` times over.
    fn run(&mut self, triples: &[[usize; 3]], times: usize);
    /// The canonical value of a slot.
    fn read(&self, slot: usize) -> BigUint;
}

/// Slots of a field context.
struct InContext<F>(FieldContext, F);

impl<F: Fn(&mut FieldContext, [usize; 3])> Candidate for InContext<F> {
    fn run(&mut self, triples: &[[usize; 3]], times: usize) {
        for _ in 0..times {
            triples.iter().for_each(|triple| self.1(&mut self.0, *triple));
        }
    }

    fn read(&self, slot: usize) -> BigUint {
        let mut bytes = vec![0; self.0.element_bytes()];
        self.0.load(slot, &mut bytes);
        BigUint::from_bytes_be(&bytes)
    }
}

/// Values of 48 bytes in EVM memory, in Montgomery form; the BLS12-381 prime and its r_inv behind them.
struct InMemory<F>(Vec<u8>, F);

impl<F: Fn(&mut [u8], [usize; 3])> Candidate for InMemory<F> {
    fn run(&mut self, triples: &[[usize; 3]], times: usize) {
        for _ in 0..times {
            triples.iter().for_each(|triple| self.1(&mut self.0, triple.map(|slot| slot * 48)));
        }
    }

    fn read(&self, slot: usize) -> BigUint {
        let mont = evm384::read_le(self.0[slot * 48..][..48].try_into().expect("48 bytes"));
        Bls12_381Fp::from_mont(mont).expect("a reduced value").to_canonical()
    }
}

/// Numbers in Rust variables.
struct Numbers<N, F>(Vec<N>, F);

impl<N: Number, F: Fn(N, N) -> N> Candidate for Numbers<N, F> {
    fn run(&mut self, triples: &[[usize; 3]], times: usize) {
        for _ in 0..times {
            triples.iter().for_each(|&[out, x, y]| self.0[out] = self.1(self.0[x], self.0[y]));
        }
    }

    fn read(&self, slot: usize) -> BigUint {
        self.0[slot].to_canonical()
    }
}

/// blst's assembly on limbs in Montgomery form.
mod native {
    use super::{Bls12_381Fp, Bls12_381FpModulus, Limb, PrimeField};

    unsafe extern "C" {
        fn mulx_mont_384(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb, n0: Limb);
        fn add_mod_384(out: *mut Limb, x: *const Limb, y: *const Limb, m: *const Limb);
    }

    /// Values as blst has them.
    pub type Value = blst::blst_fp;

    /// Can blst's product with BMI2 and ADX run here?
    pub fn is_available() -> bool {
        #[cfg(target_arch = "x86_64")]
        return std::arch::is_x86_feature_detected!("adx") && std::arch::is_x86_feature_detected!("bmi2");
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// out = x·y·R⁻¹.
    pub fn mul(values: &mut [Value], [out, x, y]: [usize; 3]) {
        let (to, x, y) = (&raw mut values[out].l, &raw const values[x].l, &raw const values[y].l);
        // SAFETY: indexing checked the three values; `is_available` was asked before the first round.
        unsafe { mulx_mont_384(to.cast(), x.cast(), y.cast(), Bls12_381FpModulus::MODULUS.as_ptr(), Bls12_381Fp::N0) }
    }

    /// out = x + y.
    pub fn add(values: &mut [Value], [out, x, y]: [usize; 3]) {
        let (to, x, y) = (&raw mut values[out].l, &raw const values[x].l, &raw const values[y].l);
        // SAFETY: indexing checked the three values.
        unsafe { add_mod_384(to.cast(), x.cast(), y.cast(), Bls12_381FpModulus::MODULUS.as_ptr()) }
    }
}

/// blst's values.
struct Native<F>(Vec<native::Value>, F);

impl<F: Fn(&mut [native::Value], [usize; 3])> Candidate for Native<F> {
    fn run(&mut self, triples: &[[usize; 3]], times: usize) {
        for _ in 0..times {
            triples.iter().for_each(|triple| self.1(&mut self.0, *triple));
        }
    }

    fn read(&self, slot: usize) -> BigUint {
        Bls12_381Fp::from_mont(self.0[slot].l).expect("a reduced value").to_canonical()
    }
}

/// A candidate with what is known about it.
struct Row {
    name: String,
    /// Which native operation to divide by.
    yardstick: &'static str,
    candidate: Box<dyn Candidate>,
    definition: fn(&BigUint, &BigUint) -> BigUint,
    m: BigUint,
    dependent_ns: Vec<f64>,
    independent_ns: Vec<f64>,
}

const MUL: fn(&BigUint, &BigUint) -> BigUint = |x, y| x * y;
const ADD: fn(&BigUint, &BigUint) -> BigUint = |x, y| x + y;

fn main() {
    let rounds = std::env::args().nth(1).map_or(40, |text| text.parse().expect("a number of rounds"));
    let mut rows = rows();
    for _ in 0..rounds {
        rows.iter_mut().for_each(time_round);
    }
    rows.iter_mut().for_each(check);
    print(&mut rows);
}

fn rows() -> Vec<Row> {
    let p = Bls12_381Fp::modulus();
    let numbers =
        start(&p).iter().map(|value| Bls12_381Fp::from_canonical(value).expect("reduced")).collect::<Vec<_>>();
    let values = || numbers.iter().map(|number| native::Value { l: number.to_mont() }).collect::<Vec<_>>();
    let mut rows = Vec::new();
    let mut push = |name: &str, yardstick, candidate, definition, m: &BigUint| {
        let (dependent_ns, independent_ns) = (Vec::new(), Vec::new());
        let (name, m) = (name.to_owned(), m.clone());
        rows.push(Row { name, yardstick, candidate, definition, m, dependent_ns, independent_ns });
    };
    if native::is_available() {
        push("blst mulx_mont_384", "mul", Box::new(Native(values(), native::mul)) as Box<dyn Candidate>, MUL, &p);
        push("blst add_mod_384", "add", Box::new(Native(values(), native::add)), ADD, &p);
    }
    push(
        "evm384::mul_in_memory",
        "mul",
        in_memory(&numbers, |bytes, [out, x, y]| evm384::mul_in_memory(bytes, out, x, y, SLOTS * 48)),
        MUL,
        &p,
    );
    push(
        "evm384::add_in_memory",
        "add",
        in_memory(&numbers, |bytes, [out, x, y]| evm384::add_in_memory(bytes, out, x, y, SLOTS * 48)),
        ADD,
        &p,
    );
    push("Bls12_381Fp mul", "mul", Box::new(Numbers(numbers.clone(), |x, y| x * y)), MUL, &p);
    push("Bls12_381Fp add", "add", Box::new(Numbers(numbers.clone(), |x, y| x + y)), ADD, &p);
    let bn254 = Bn254Fp::modulus();
    let bits = |bits: u32, below: u32| (BigUint::from(1u8) << bits) - below;
    // The moduli 2ᵇ − c have no spare bit, so their products carry out of the width.
    let moduli = [
        ("256", bn254),
        ("256 full", bits(256, 189)),
        ("384", p.clone()),
        ("384 full", bits(384, 317)),
        ("448", bits(447, 1)),
        ("768", bits(767, 1)),
        ("768 full", bits(768, 825)),
        ("1024", bits(1024, 105)),
        ("2048", bits(2048, 1)),
    ];
    for (name, m) in &moduli {
        let yardstick = |operation| if name.starts_with("384") { operation } else { "" };
        push(
            &format!("FieldContext::mul {name}"),
            yardstick("mul"),
            in_context(m, |context, [out, x, y]| context.mul(at(out), at(x), at(y), 1)),
            MUL,
            m,
        );
        push(
            &format!("FieldContext::add {name}"),
            yardstick("add"),
            in_context(m, |context, [out, x, y]| context.add(at(out), at(x), at(y), 1)),
            ADD,
            m,
        );
    }
    rows
}

fn in_memory(numbers: &[Bls12_381Fp], run: impl Fn(&mut [u8], [usize; 3]) + 'static) -> Box<dyn Candidate> {
    let limbs = numbers.iter().flat_map(|number| number.to_mont()).chain(Bls12_381FpModulus::MODULUS);
    Box::new(InMemory(limbs.chain([Bls12_381Fp::N0]).flat_map(Limb::to_le_bytes).collect(), run))
}

fn in_context(m: &BigUint, run: impl Fn(&mut FieldContext, [usize; 3]) + 'static) -> Box<dyn Candidate> {
    let mut context = FieldContext::new(Modulus::from_be_bytes(&m.to_bytes_be()).expect("a modulus"), 256);
    for (slot, value) in start(m).iter().enumerate() {
        let bytes = value.to_bytes_be();
        let padding = vec![0; context.element_bytes() - bytes.len()];
        context.store(slot, &[padding, bytes].concat()).expect("a reduced value");
    }
    Box::new(InContext(context, run))
}

fn at(slot: usize) -> Strided {
    Strided::contiguous(slot)
}

/// Values that fill the width: m·(i + 1) / (SLOTS + 1).
fn start(m: &BigUint) -> Vec<BigUint> {
    (1..=SLOTS).map(|i| m * i / (SLOTS + 1)).collect()
}

fn time_round(row: &mut Row) {
    let dependent = [[0, 0, PAIRS]];
    let independent: Vec<_> = (0..PAIRS).map(|i| [2 * PAIRS + i, i, PAIRS + i]).collect();
    let begin = Instant::now();
    row.candidate.run(black_box(&dependent), OPERATIONS);
    row.dependent_ns.push(begin.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64);
    let begin = Instant::now();
    row.candidate.run(black_box(&independent), OPERATIONS / PAIRS);
    row.independent_ns.push(begin.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64);
}

/// One more round, whose answers big integers repeat.
fn check(row: &mut Row) {
    let mut expected = row.candidate.read(0);
    let y = row.candidate.read(PAIRS);
    time_round(row);
    for _ in 0..OPERATIONS {
        expected = (row.definition)(&expected, &y) % &row.m;
    }
    assert_eq!(row.candidate.read(0), expected, "{}, dependent", row.name);
    for i in 0..PAIRS {
        let expected = (row.definition)(&row.candidate.read(i), &row.candidate.read(PAIRS + i)) % &row.m;
        assert_eq!(row.candidate.read(2 * PAIRS + i), expected, "{}, independent", row.name);
    }
}

fn print(rows: &mut [Row]) {
    let medians: Vec<[f64; 2]> =
        rows.iter_mut().map(|row| [median(&mut row.dependent_ns), median(&mut row.independent_ns)]).collect();
    let native = |yardstick: &str| {
        let position = rows.iter().position(|row| row.yardstick == yardstick && row.name.starts_with("blst"))?;
        Some(medians[position])
    };
    println!("{:28} {:>10} {:>12}   ratio to blst", "", "dependent", "independent");
    for (row, [dependent, independent]) in rows.iter().zip(&medians) {
        print!("{:28} {dependent:>7.2} ns {independent:>9.2} ns", row.name);
        match native(row.yardstick) {
            Some([by, by_independent]) => println!("   {:.3}  {:.3}", dependent / by, independent / by_independent),
            None => println!(),
        }
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
