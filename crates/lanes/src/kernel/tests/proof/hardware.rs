//! The instructions of the CPU agree with their descriptions in the proofs: on millions of operands, for numbers and
//! for symbols that stand for numbers, as long as no lane overflows.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::facts::Value;
use super::polynomial::Polynomial;
use super::symbols::{Proof, Symbol};
use crate::kernel::Kernel;
use crate::kernel::ifma::{Eights, Fours};
use crate::kernel::vectors::{Halves, Lines, Vectors};
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::line::{LINE_LIMBS, Line, ROW_LIMBS, ZERO_LINE};

/// Instructions on elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Element {
    Add,
    Sub,
    And,
    Or,
    Above,
    Carry,
    ShiftedDown(u32),
    ShiftedUp(u32),
    AddLow,
    AddHigh,
    Select,
}

impl Element {
    fn all() -> impl Iterator<Item = Self> {
        let shifts = (0..64).flat_map(|bits| [Self::ShiftedDown(bits), Self::ShiftedUp(bits)]);
        let others = [
            Self::Add,
            Self::Sub,
            Self::And,
            Self::Or,
            Self::Above,
            Self::Carry,
            Self::AddLow,
            Self::AddHigh,
            Self::Select,
        ];
        others.into_iter().chain(shifts)
    }

    fn run<V: Vectors>(self, v: V, t: V::Vector, x: V::Vector, y: V::Vector) -> V::Vector {
        match self {
            Self::Add => v.add(x, y),
            Self::Sub => v.sub(x, y),
            Self::And => v.and(x, y),
            Self::Or => v.or(x, y),
            Self::Above => v.above(x),
            Self::Carry => v.carry(x),
            Self::ShiftedDown(bits) => v.shifted_down(x, bits),
            Self::ShiftedUp(bits) => v.shifted_up(x, bits),
            Self::AddLow => v.add_low(t, x, y),
            Self::AddHigh => v.add_high(t, x, y),
            Self::Select => v.select(t, x, y),
        }
    }

    /// The description.
    fn meaning(self, t: u64, x: u64, y: u64) -> u64 {
        let word = |x: u64| u128::from(x & LIMB_MASK);
        match self {
            Self::Add => x.wrapping_add(y),
            Self::Sub => x.wrapping_sub(y),
            Self::And => x & y,
            Self::Or => x | y,
            Self::Above => x / (1 << ROW_LIMB_BITS),
            Self::Carry => (x as i64).div_euclid(1 << ROW_LIMB_BITS) as u64,
            Self::ShiftedDown(bits) => x / (1 << bits),
            Self::ShiftedUp(bits) => x.wrapping_mul(1 << bits),
            Self::AddLow => t.wrapping_add((word(x) * word(y) % (1 << ROW_LIMB_BITS)) as u64),
            Self::AddHigh => t.wrapping_add((word(x) * word(y) / (1 << ROW_LIMB_BITS)) as u64),
            Self::Select => {
                if (t as i64) < 0 {
                    x
                } else {
                    y
                }
            }
        }
    }
}

/// Any 64 bits: random, or near a boundary of limbs, words and signs.
fn any(rng: &mut ChaCha8Rng) -> u64 {
    let random = rng.random::<u64>();
    let end = [0, 1 << 52, 1 << 53, 1 << 62, 1 << 63, 1 << rng.random_range(0..64)][rng.random_range(0..6)];
    match rng.random_range(0..6) {
        0 => random,
        1 => random & LIMB_MASK,
        2 => random >> rng.random_range(0..64),
        3 => end,
        4 => u64::wrapping_sub(end, 1),
        _ => u64::wrapping_sub(end, random % 4),
    }
}

fn line(v: Eights, elements: [u64; 8]) -> <Eights as Vectors>::Vector {
    v.line(&Line(elements.map(|element| element as i64)))
}

fn elements(v: Eights, x: <Eights as Vectors>::Vector) -> [u64; 8] {
    let mut out = ZERO_LINE;
    // SAFETY: there is one row of one line.
    unsafe { v.store(&raw mut out, 0, 0, 1, x) };
    out.0.map(|element| element as u64)
}

fn half(v: Fours, elements: [u64; 4]) -> <Fours as Vectors>::Vector {
    let mut out = ZERO_LINE;
    out.0[..4].copy_from_slice(&elements.map(|element| element as i64));
    // SAFETY: there is one row of one line.
    unsafe { v.load(&raw mut out, 0, 0, 1) }
}

fn half_elements(v: Fours, x: <Fours as Vectors>::Vector) -> [u64; 4] {
    let mut out = ZERO_LINE;
    // SAFETY: there is one row of one line.
    unsafe { v.store(&raw mut out, 0, 0, 1, [x, x]) };
    assert_eq!(out.0[..4], out.0[4..]);
    std::array::from_fn(|i| out.0[i] as u64)
}

/// The machines, if this one has the instructions.
fn machines() -> Option<(Eights, Fours)> {
    // SAFETY: the instructions were found.
    Kernel::Ifma.is_available().then(|| unsafe { (Eights::new(), Fours::new()) })
}

#[test]
fn instructions_on_elements_do_what_they_are_described_to_do() {
    let Some((eights, fours)) = machines() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    for element in Element::all() {
        let rounds = if matches!(element, Element::ShiftedDown(_) | Element::ShiftedUp(_)) { 2_000 } else { 60_000 };
        for _ in 0..rounds {
            let [t, x, y]: [[u64; 8]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| any(&mut rng)));
            let expected: [_; 8] = std::array::from_fn(|i| element.meaning(t[i], x[i], y[i]));
            let out = element.run(eights, line(eights, t), line(eights, x), line(eights, y));
            assert_eq!(elements(eights, out), expected, "{element:?} of {t:x?}, {x:x?}, {y:x?}");
            let [t, x, y] = [t, x, y].map(|operand| half(fours, [operand[0], operand[1], operand[2], operand[3]]));
            assert_eq!(half_elements(fours, element.run(fours, t, x, y)), expected[..4], "{element:?} by fours");
        }
    }
    for _ in 0..1000 {
        let number = any(&mut rng);
        assert_eq!(elements(eights, eights.literal(number)), [number; 8]);
        assert_eq!(elements(eights, eights.broadcast(number)), [number; 8]);
        assert_eq!(half_elements(fours, fours.literal(number)), [number; 4]);
        assert_eq!(half_elements(fours, fours.broadcast(number)), [number; 4]);
    }
}

#[test]
fn symbols_of_numbers_do_what_instructions_are_described_to_do() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let mut compared = 0;
    for element in Element::all() {
        for _ in 0..300 {
            let proof = Proof::new(None);
            let v = proof.machine::<1>();
            // With a sign or without, as a lane may be read; masks are those of low bits.
            let [t, x, mut y] = std::array::from_fn(|_| any(&mut rng));
            if element == Element::And {
                y = u64::MAX.checked_shr(rng.random_range(1..64)).unwrap();
            }
            let number =
                |bits: u64, is_signed: bool| if is_signed { i128::from(bits as i64) } else { i128::from(bits) };
            let symbol = |bits, is_signed| [proof.number(number(bits, is_signed))];
            let is_signed = rng.random();
            let (t, x, y) = match element {
                Element::AddLow | Element::AddHigh | Element::Select => {
                    ((t, is_signed), (x, rng.random()), (y, rng.random()))
                }
                Element::And => ((t, false), (x, is_signed), (y, false)),
                _ => ((t, false), (x, is_signed), (y, is_signed)),
            };
            let out = element.run(v, symbol(t.0, t.1), symbol(x.0, x.1), symbol(y.0, y.1));
            if proof.failure().is_none() {
                let outcome = proof.value(out[0]).polynomial.as_constant().unwrap();
                assert_eq!(outcome as u64, element.meaning(t.0, x.0, y.0), "{element:?} of {t:x?}, {x:x?}, {y:x?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared} were within lanes");
}

/// Moves of elements, and the other operations of lines: all results, for distinct elements.
fn outcomes<V: Lines>(v: V, x: V::Vector, y: V::Vector) -> Vec<V::Vector> {
    let mut all = vec![
        v.first_of_pairs(x, y),
        v.second_of_pairs(x, y),
        v.even_pairs(x, y),
        v.odd_pairs(x, y),
        v.moved_up(x, y),
        v.xor(x, v.literal(u64::MAX)),
        v.xor(x, v.literal(0)),
    ];
    all.extend((0..LINE_LIMBS).map(|at| v.everywhere(x, at)));
    let mask = v.literal(LIMB_MASK);
    all.extend((0..=255).flat_map(|set| [v.carry_in(set, x), v.and_in(set, x, mask)]));
    all
}

fn half_outcomes<V: Halves>(v: V, x: V::Vector, y: V::Vector) -> Vec<V::Vector> {
    vec![v.first_of_pairs(x, y), v.second_of_pairs(x, y), v.first_pairs(x, y), v.second_pairs(x, y)]
}

/// Instructions that move elements do not depend on their values, so distinct elements show each destination.
#[test]
fn instructions_move_elements_as_symbols_do() {
    let Some((eights, fours)) = machines() else { return };
    let proof = Proof::new(None);
    let number = |symbol: Symbol| proof.value(symbol).polynomial.as_constant().unwrap() as u64; // The same 64 bits.
    let numbers: [i64; 16] = std::array::from_fn(|i| (i as i64 + 1) << 53 | 0x123 << i);
    let [x, y]: [[i64; 8]; 2] = [0, 8].map(|first| std::array::from_fn(|i| numbers[first + i] * [1, -1][i % 2]));
    let symbols = [x, y].map(|numbers| numbers.map(|number| proof.number(number.into())));
    let [x, y] = [x, y].map(|numbers| numbers.map(|number| number as u64));
    let from_symbols = outcomes(proof.machine::<8>(), symbols[0], symbols[1]);
    let from_hardware = outcomes(eights, line(eights, x), line(eights, y));
    for (symbols, vector) in from_symbols.into_iter().zip(from_hardware) {
        assert_eq!(symbols.map(number), elements(eights, vector));
    }
    let lower = |elements: [u64; 8]| half(fours, std::array::from_fn(|i| elements[i]));
    let lower_symbols = symbols.map(|symbols| std::array::from_fn(|i| symbols[i]));
    let from_symbols = half_outcomes(proof.machine::<4>(), lower_symbols[0], lower_symbols[1]);
    for (symbols, vector) in from_symbols.into_iter().zip(half_outcomes(fours, lower(x), lower(y))) {
        assert_eq!(symbols.map(number), half_elements(fours, vector));
    }
    assert_eq!(proof.failure(), None);
}

/// Rows of two lines, so that every index counts.
#[test]
fn lines_and_halves_are_where_symbols_look_for_them() {
    let Some((eights, fours)) = machines() else { return };
    let mut rows: [Line; 6] = std::array::from_fn(|line| Line(std::array::from_fn(|i| (8 * line + i) as i64)));
    let at = rows.as_mut_ptr();
    // SAFETY: there are three rows of two lines.
    unsafe {
        for (row, line) in (0..3).flat_map(|row| [(row, 0), (row, 1)]) {
            let first = 8 * (2 * u64::from(row) + line as u64);
            assert_eq!(elements(eights, eights.load(at, row, line, 2)), std::array::from_fn(|i| first + i as u64));
            for half in [0, 1] {
                let first = first + 4 * half as u64;
                let found = half_elements(fours, fours.load(at, row, 2 * line + half, 2));
                assert_eq!(found, std::array::from_fn(|i| first + i as u64));
            }
        }
        eights.store(at, 1, 1, 2, eights.literal(100));
        fours.store(at, 2, 0, 2, [fours.literal(101), fours.literal(102)]);
    }
    assert_eq!(rows[3].0, [100; 8]);
    assert_eq!(rows[4].0, [101, 101, 101, 101, 102, 102, 102, 102]);
    assert_eq!((rows[2].0[0], rows[5].0[0]), (16, 40));
}

/// The passes in assembly, with the binding of registers to their names.
#[test]
fn assembly_computes_the_passes_of_a_window() {
    let Some((eights, _)) = machines() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(33);
    for _ in 0..20_000 {
        let [t, x]: [[[u64; 8]; 8]; 2] =
            std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| any(&mut rng))));
        let [y, z, u]: [[u64; 8]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| any(&mut rng)));
        let m: [u64; ROW_LIMBS] = std::array::from_fn(|_| any(&mut rng));
        let turned = |vectors: [[u64; 8]; 8]| vectors.map(|vector| line(eights, vector));
        let (mut products, mut multiple) = (turned(t), turned(t));
        eights.add_products(&mut products, &turned(x), line(eights, y), line(eights, z));
        eights.add_multiple(&mut multiple, line(eights, u), &m);
        for j in 0..8 {
            let (high, low) = (Element::AddHigh, Element::AddLow);
            let expected: [_; 8] =
                std::array::from_fn(|i| low.meaning(high.meaning(t[j][i], x[j][i], y[i]), x[j][i], z[i]));
            assert_eq!(elements(eights, products[j]), expected);
            let expected = std::array::from_fn(|i| {
                let sum = high.meaning(t[j][i], u[i], m[j]);
                if j < 7 { low.meaning(sum, u[i], m[j + 1]) } else { sum }
            });
            assert_eq!(elements(eights, multiple[j]), expected);
        }
    }
}

/// Symbols report lanes that would overflow, for any value in them.
#[test]
fn symbols_find_overflow() {
    let between = |low: i128, high: i128| {
        let proof = Proof::new(None);
        let value = Value { polynomial: Polynomial::constant(low), low, high };
        proof.symbol(value);
        proof.failure().is_none()
    };
    assert!(between(-(1 << 63), (1 << 63) - 1) && between(0, (1 << 64) - 1));
    assert!(!between(-1, 1 << 63) && !between(0, 1 << 64) && !between(-(1 << 63) - 1, 0));
}
