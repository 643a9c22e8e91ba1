//! Moduli and field contexts of every width agree with big integers.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use num_bigint::BigUint;
use num_integer::Integer;
use proptest::prelude::*;
use residue_modular::limbs::MAX_WIDTH_LIMBS;
use residue_modular::{
    FieldContext, Fp2Strided, Fp6Slots, Modulus, ModulusError, ShortStrided, SlotLanes, SlotStep, Strided,
    ValueOutOfRange,
};

const SLOTS: usize = 24;

/// Widths in limbs: every one with arrays of its own, and some without.
fn width() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1usize..=13, 1 => proptest::sample::select(vec![16, 24, 32, 63, 64])]
}

/// Odd moduli and powers of two that fit the width, often filling it.
fn modulus_of(width_limbs: usize) -> impl Strategy<Value = BigUint> {
    let bits = 64 * width_limbs;
    let odd = (proptest::collection::vec(any::<u8>(), 8 * width_limbs), 0..bits - 1)
        .prop_map(|(bytes, shift)| ((BigUint::from_bytes_be(&bytes) >> shift) | BigUint::from(1u8)).max(3u8.into()));
    let full = proptest::collection::vec(any::<u8>(), 8 * width_limbs)
        .prop_map(|bytes| (BigUint::from_bytes_be(&bytes) | BigUint::from(1u8)).max(3u8.into()));
    let widest = Just((BigUint::from(1u8) << bits) - 1u8);
    let power = (2..bits).prop_map(|k| BigUint::from(1u8) << k);
    prop_oneof![3 => full, 2 => odd, 1 => widest, 2 => power]
}

fn setting() -> impl Strategy<Value = (usize, BigUint, Vec<BigUint>)> {
    width().prop_flat_map(|width| {
        let values = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 8 * width), SLOTS);
        (Just(width), modulus_of(width), values).prop_map(|(width, m, values)| {
            let mut values: Vec<_> = values.iter().map(|bytes| BigUint::from_bytes_be(bytes) % &m).collect();
            values[0] = BigUint::ZERO;
            values[1] = BigUint::from(1u8);
            values[2] = &m - 1u8;
            (width, m, values)
        })
    })
}

fn bytes_of(value: &BigUint, element_bytes: usize) -> Vec<u8> {
    let bytes = value.to_bytes_be();
    [vec![0; element_bytes.saturating_sub(bytes.len())], bytes].concat()
}

fn context(width: usize, m: &BigUint, values: &[BigUint]) -> FieldContext {
    let modulus = Modulus::with_width(&m.to_bytes_be(), width).unwrap();
    let mut context = FieldContext::new(modulus, SLOTS);
    let bytes: Vec<u8> = values.iter().flat_map(|value| bytes_of(value, 8 * width)).collect();
    context.store(0, &bytes).unwrap();
    context
}

fn values_of(context: &FieldContext) -> Vec<BigUint> {
    let mut bytes = vec![0; context.slot_count() * context.element_bytes()];
    context.load(0, &mut bytes);
    bytes.chunks_exact(context.element_bytes()).map(BigUint::from_bytes_be).collect()
}

fn strided(count: usize) -> impl Strategy<Value = Strided> {
    (0usize..=3)
        .prop_flat_map(move |stride| (0..SLOTS - stride * (count - 1)).prop_map(move |index| Strided { index, stride }))
}

fn operands() -> impl Strategy<Value = (usize, [Strided; 3])> {
    (1usize..=7).prop_flat_map(|count| (Just(count), [strided(count), strided(count), strided(count)]))
}

/// Elements in any slots, with lanes.
fn fp2_operands() -> impl Strategy<Value = (usize, [Fp2Strided; 3])> {
    let element = |count: usize| {
        (0usize..=3).prop_flat_map(move |stride| {
            let slot = || 0..SLOTS - stride * (count - 1);
            [slot(), slot()].prop_map(move |first| Fp2Strided { first, stride })
        })
    };
    (1usize..=7).prop_flat_map(move |count| (Just(count), [element(count), element(count), element(count)]))
}

fn step() -> impl Strategy<Value = SlotStep> {
    let slot = || 0..u16::try_from(SLOTS).unwrap();
    let one = (0..4, slot(), slot(), slot(), 1..6u16).prop_map(|(kind, out, x, y, count)| match kind {
        0 => SlotStep::Add { out, x, y },
        1 => SlotStep::Sub { out, x, y },
        2 => SlotStep::Mul { out, x, y },
        _ => SlotStep::Square { out, x, count },
    });
    let copy = (1..6u16).prop_flat_map(|count| {
        let first = || 0..u16::try_from(SLOTS).unwrap() - count;
        (first(), first()).prop_map(move |(out, x)| SlotStep::Copy { out, x, count })
    });
    prop_oneof![2 => one, 1 => lanes(), 1 => copy]
}

/// Lanes of which none reads a result of an earlier one.
fn lanes() -> impl Strategy<Value = SlotStep> {
    let in_turn = |&(count, [out, x, y]): &(usize, [Strided; 3])| {
        (0..count).all(|lane| (0..lane).all(|before| ![x.slot(lane), y.slot(lane)].contains(&out.slot(before))))
    };
    let operands = operands().prop_filter("lanes overwrite each other's operands", in_turn);
    (0..3usize, operands).prop_map(|(kind, (count, lanes))| {
        let short = |slot: usize| u8::try_from(slot).unwrap();
        let [out, x, y] = lanes.map(|of| ShortStrided { index: short(of.index), stride: short(of.stride) });
        [SlotStep::AddLanes, SlotStep::SubLanes, SlotStep::MulLanes][kind](SlotLanes { out, x, y, count: short(count) })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn operations_agree_with_big_integers((width, m, values) in setting(), (count, [out, x, y]) in operands()) {
        let fresh = context(width, &m, &values);
        prop_assert_eq!(values_of(&fresh), values.clone());
        type Operation = fn(&mut FieldContext, Strided, Strided, Strided, usize);
        type Definition = fn(&BigUint, &BigUint, &BigUint) -> BigUint;
        let operations: [(Operation, Definition); 3] = [
            (FieldContext::add, |x, y, m| (x + y) % m),
            (FieldContext::sub, |x, y, m| (m + x - y) % m),
            (FieldContext::mul, |x, y, m| x * y % m),
        ];
        for (operation, definition) in operations {
            let mut expected = values.clone();
            for lane in 0..count {
                expected[out.slot(lane)] = definition(&values[x.slot(lane)], &values[y.slot(lane)], &m);
            }
            let mut context = fresh.clone();
            operation(&mut context, out, x, y, count);
            prop_assert_eq!(values_of(&context), expected, "m {:x} {:?} {:?} {:?} x{}", m, out, x, y, count);
        }
    }

    #[test]
    fn steps_are_operations_in_their_order((width, m, values) in setting(), steps in proptest::collection::vec(step(), 1..12)) {
        let mut expected = context(width, &m, &values);
        let mut found = expected.clone();
        found.run_steps(&steps);
        let lane = |slot: u16| Strided::contiguous(slot.into());
        for step in steps {
            match step {
                SlotStep::Add { out, x, y } => expected.add(lane(out), lane(x), lane(y), 1),
                SlotStep::Sub { out, x, y } => expected.sub(lane(out), lane(x), lane(y), 1),
                SlotStep::Mul { out, x, y } => expected.mul(lane(out), lane(x), lane(y), 1),
                SlotStep::Square { out, x, count } => {
                    expected.mul(lane(out), lane(x), lane(x), 1);
                    (1..count).for_each(|_| expected.mul(lane(out), lane(out), lane(out), 1));
                }
                SlotStep::Copy { out, x, count } => {
                    let of = |slot: u16| Strided { index: slot.into(), stride: 1 };
                    expected.copy(of(out), of(x), count.into());
                }
                SlotStep::AddLanes(lanes) | SlotStep::SubLanes(lanes) | SlotStep::MulLanes(lanes) => {
                    let [out, x, y] = lanes.strided();
                    let operation = match step {
                        SlotStep::AddLanes(_) => FieldContext::add,
                        SlotStep::SubLanes(_) => FieldContext::sub,
                        _ => FieldContext::mul,
                    };
                    operation(&mut expected, out, x, y, lanes.count.into());
                }
            }
        }
        prop_assert_eq!(values_of(&found), values_of(&expected));
    }

    #[test]
    fn inverses_exist_exactly_for_units((width, m, values) in setting()) {
        let modulus = Modulus::with_width(&m.to_bytes_be(), width).unwrap();
        prop_assert_eq!(BigUint::from_bytes_be(&modulus.to_be_bytes()), m.clone());
        prop_assert_eq!(modulus.bits() as u64, m.bits());
        for value in &values[..6] {
            let mut limbs = value.to_u64_digits();
            limbs.resize(width, 0);
            let inverse = modulus.inverse(&limbs);
            prop_assert_eq!(inverse.is_some(), value.gcd(&m) == BigUint::from(1u8));
            if let Some(inverse) = inverse {
                let bytes: Vec<u8> = inverse.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
                let inverse = BigUint::from_bytes_be(&bytes);
                prop_assert!(inverse < m);
                prop_assert_eq!(value * inverse % &m, BigUint::from(1u8));
            }
            let (mut mont, mut back) = (vec![0; width], vec![0; width]);
            modulus.to_mont(&limbs, &mut mont);
            modulus.from_mont(&mont, &mut back);
            prop_assert_eq!(back, limbs);
        }
    }

    #[test]
    fn slots_become_inverses_or_0((width, m, values) in setting(), (count, [out, x, _]) in operands()) {
        let mut context = context(width, &m, &values);
        context.invert(out, x, count);
        let mut expected = values.clone();
        for lane in 0..count {
            expected[out.slot(lane)] = values[x.slot(lane)].modinv(&m).unwrap_or_default();
        }
        prop_assert_eq!(values_of(&context), expected);
    }

    #[test]
    fn sums_of_products_agree_with_big_integers(
        (width, m, values) in setting(),
        out in 0..SLOTS,
        products in proptest::collection::vec((any::<bool>(), [0..SLOTS, 0..SLOTS]), 1..=6),
    ) {
        let mut context = context(width, &m, &values);
        let signs = products.iter().rev().fold(0, |signs, &(is_subtracted, _)| signs << 1 | u8::from(is_subtracted));
        let slots: Vec<_> = products.iter().map(|(_, slots)| slots.map(|slot| slot as u16)).collect(); // below 24
        context.sum_products(out, signs, &slots);
        let mut expected = values.clone();
        let term = |&(is_subtracted, [x, y]): &(bool, [usize; 2])| {
            let product = &values[x] * &values[y] % &m;
            if is_subtracted { &m - product } else { product }
        };
        expected[out] = products.iter().map(term).sum::<BigUint>() % &m;
        prop_assert_eq!(values_of(&context), expected);
    }

    #[test]
    fn comparisons_are_those_of_integers((width, m, mut values) in setting(), x in 0..SLOTS, y in 0..SLOTS) {
        // Neighbours of a value, and an equal one.
        values[3] = values[4].clone();
        values[5] = (&values[4] + 1u8) % &m;
        let context = context(width, &m, &values);
        for (x, y) in [(x, y), (y, x), (x, x), (3, 4), (4, 5), (5, 4), (0, 2), (2, 0), (0, 1)] {
            prop_assert_eq!(context.equal(x, y), values[x] == values[y]);
            prop_assert_eq!(context.less(x, y), values[x] < values[y]);
        }
        if m.bit(0) {
            let modulus = Modulus::with_width(&m.to_bytes_be(), width).unwrap();
            let mut portable = FieldContext::portable(modulus, SLOTS);
            (0..SLOTS).for_each(|slot| portable.set_slot(slot, context.slot(slot)));
            prop_assert_eq!(portable.less(x, y), values[x] < values[y]);
        }
    }

    #[test]
    fn copies_are_what_was_there((width, m, values) in setting(), (count, [out, x, _]) in operands()) {
        let mut context = context(width, &m, &values);
        context.copy(out, x, count);
        let mut expected = values.clone();
        (0..count).for_each(|lane| expected[out.slot(lane)] = values[x.slot(lane)].clone());
        prop_assert_eq!(values_of(&context), expected);
    }

    #[test]
    fn products_in_fp2_agree_with_big_integers((width, m, values) in setting(), (count, [out, x, y]) in fp2_operands()) {
        let mut context = context(width, &m, &values);
        context.mul_fp2(out, x, y, count);
        let mut expected = values.clone();
        for lane in 0..count {
            let [[x0, x1], [y0, y1]] = [x, y].map(|operand| operand.slots(lane).map(|slot| &values[slot]));
            let [c0, c1] = [(x0 * y0 + &m * &m - x1 * y1) % &m, (x0 * y1 + x1 * y0) % &m];
            let [out0, out1] = out.slots(lane);
            expected[out0] = c0;
            expected[out1] = c1;
        }
        prop_assert_eq!(values_of(&context), expected);
    }

    #[test]
    fn products_in_fp6_agree_with_big_integers((width, m, values) in setting(), slots in prop::array::uniform18(0..SLOTS), xi in any::<[u8; 2]>()) {
        let six = |first: usize| core::array::from_fn(|place| slots[first + place]);
        let (out, x, y): ([usize; 6], [usize; 6], [usize; 6]) = (six(0), six(6), six(12));
        let mut context = context(width, &m, &values);
        context.mul_fp6(&Fp6Slots { out, x, y, xi });
        // Products of coefficients of 1, v, v², which are pairs, by their power of v.
        let mut powers = vec![[BigUint::ZERO, BigUint::ZERO]; 5];
        for i in 0..3 {
            for j in 0..3 {
                let [a, b, c, d] = [x[2 * i], x[2 * i + 1], y[2 * j], y[2 * j + 1]].map(|slot| &values[slot]);
                powers[i + j][0] += a * c + &m * &m - b * d;
                powers[i + j][1] += a * d + b * c;
            }
        }
        let [a, b] = xi.map(BigUint::from);
        let mut expected = values.clone();
        for k in 0..3 {
            let [high_re, high_im] = powers.get(k + 3).cloned().unwrap_or_default().map(|part| part % &m);
            let [re, im] = &powers[k];
            expected[out[2 * k]] = (re + &a * &high_re + &b * (&m - &high_im)) % &m;
            expected[out[2 * k + 1]] = (im + &a * &high_im + &b * &high_re) % &m;
        }
        prop_assert_eq!(values_of(&context), expected);
    }

    #[test]
    fn a_value_out_of_range_changes_no_slot((width, m, values) in setting(), bad in 0..SLOTS) {
        let mut context = context(width, &m, &values);
        let mut bytes: Vec<u8> = values.iter().rev().flat_map(|value| bytes_of(value, 8 * width)).collect();
        bytes[bad * 8 * width..][..8 * width].copy_from_slice(&bytes_of(&m, 8 * width));
        prop_assert_eq!(context.store(0, &bytes), Err(ValueOutOfRange { slot: bad }));
        prop_assert_eq!(values_of(&context), values);
    }
}

#[test]
fn a_portable_context_computes_what_the_others_do() {
    for width in [1, 4, 6, 12, 13] {
        let m = (BigUint::from(1u8) << (64 * width)) - 189u32;
        let values: Vec<BigUint> = (0..SLOTS as u32).map(|slot| (&m >> 1) * (slot + 3) % &m).collect();
        let fast = context(width, &m, &values);
        let mut portable = FieldContext::portable(fast.modulus().clone(), SLOTS);
        (0..SLOTS).for_each(|slot| portable.set_slot(slot, fast.slot(slot)));
        let step = |out, x, y| {
            [SlotStep::Add { out, x, y }, SlotStep::Sub { out: out + 1, x, y }, SlotStep::Mul { out: out + 2, x, y }]
        };
        let steps: Vec<SlotStep> = (0..20).flat_map(|out| step(out, 23 - out, (out * 7) % 24)).collect();
        let run = |mut context: FieldContext| {
            context.run_steps(&steps);
            let [out, x, y] = [20, 3, 8].map(|index| Strided { index, stride: 1 });
            context.add(out, x, y, 1);
            context.sub(y, x, out, 4);
            context.mul(x, y, out, 3);
            context.run_steps(&[SlotStep::Square { out: 5, x: 6, count: 3 }]);
            values_of(&context)
        };
        assert_eq!(run(portable), run(fast), "{width} limbs");
    }
}

#[test]
fn moduli_are_odd_or_powers_of_two_from_3_to_4096_bits() {
    let big = |value: u32| BigUint::from(value);
    let check = |bytes: &[u8], expected: Result<usize, ModulusError>| {
        assert_eq!(Modulus::from_be_bytes(bytes).map(|m| m.width_limbs()), expected, "{bytes:x?}");
    };
    check(&[], Err(ModulusError::TooSmall { value: big(0) }));
    check(&[0, 0], Err(ModulusError::TooSmall { value: big(0) }));
    check(&[1], Err(ModulusError::TooSmall { value: big(1) }));
    check(&[2], Err(ModulusError::TooSmall { value: big(2) }));
    check(&[3], Ok(1));
    check(&[4], Ok(1));
    check(&[6], Err(ModulusError::EvenNotPowerOfTwo { value: big(6) }));
    check(&[0; 9], Err(ModulusError::TooSmall { value: big(0) }));
    check(&[1, 0, 0, 0, 0, 0, 0, 0, 0], Ok(2));
    check(&[0xff; 512], Ok(MAX_WIDTH_LIMBS));
    check(&[vec![0; 90], vec![0xff; 512]].concat(), Ok(MAX_WIDTH_LIMBS));
    check(&[vec![1], vec![0; 512]].concat(), Err(ModulusError::TooWide { bits: 4097, limit_bits: 4096 }));
}

#[test]
fn declared_widths_hold_the_value_or_fail() {
    assert_eq!(Modulus::with_width(&[0, 0, 3], 12).unwrap().to_be_bytes(), [vec![0; 95], vec![3]].concat());
    assert_eq!(Modulus::with_width(&[3], 0), Err(ModulusError::WidthOutOfRange { width_limbs: 0 }));
    assert_eq!(Modulus::with_width(&[3], 65), Err(ModulusError::WidthOutOfRange { width_limbs: 65 }));
    assert_eq!(Modulus::with_width(&[0xff; 9], 1), Err(ModulusError::TooWide { bits: 72, limit_bits: 64 }));
}

fn four_limbs() -> FieldContext {
    context(4, &BigUint::from(0x87d2_0782_e486_6389u64), &vec![BigUint::from(5u8); SLOTS])
}

#[test]
fn slots_beyond_the_context_panic_in_every_operand_and_form() {
    let (inside, beyond) = (Strided::contiguous(0), Strided::contiguous(SLOTS));
    type Operation = fn(&mut FieldContext, Strided, Strided, Strided, usize);
    for operation in [FieldContext::add as Operation, FieldContext::sub, FieldContext::mul] {
        for operands in [[beyond, inside, inside], [inside, beyond, inside], [inside, inside, beyond]] {
            for count in [1, 2] {
                let [out, x, y] = operands;
                let run = || operation(&mut four_limbs(), out, x, y, count);
                assert!(std::panic::catch_unwind(run).is_err(), "{operands:?} x{count}");
            }
        }
        operation(&mut four_limbs(), beyond, beyond, beyond, 0);
    }
}

#[test]
fn staging_leaves_no_slots_behind() {
    let mut context = four_limbs();
    let (first, second) = (Strided::contiguous(0), Strided::contiguous(1));
    context.add(second, first, first, 5); // Lane 1 reads what lane 0 writes, so the results wait.
    assert_eq!(
        values_of(&context)[..7].iter().map(|v| v.to_u32_digits()[0]).collect::<Vec<_>>(),
        [5, 10, 10, 10, 10, 10, 5]
    );
    let run = std::panic::AssertUnwindSafe(|| context.add(Strided::contiguous(SLOTS), first, first, 1));
    assert!(std::panic::catch_unwind(run).is_err());
}

proptest! {
    /// Values that are not below an odd modulus are reduced; modulo a power of two they stay until they are read.
    #[test]
    fn any_value_can_be_stored((width, m, _) in setting(), bytes in proptest::collection::vec(any::<u8>(), 8 * 64)) {
        let modulus = Modulus::with_width(&m.to_bytes_be(), width).unwrap();
        let mut context = FieldContext::new(modulus, 3);
        let bytes = &bytes[..8 * width];
        context.store_any(1, bytes);
        let value = BigUint::from_bytes_be(bytes);
        let kept = if m.is_odd() { &value % &m } else { value.clone() };
        prop_assert_eq!(&values_of(&context)[1], &kept);
        let slot = Strided::contiguous;
        context.mul(slot(2), slot(1), slot(1), 1);
        context.add(slot(0), slot(1), slot(1), 1);
        let values = values_of(&context);
        prop_assert_eq!(&values[2], &(&value * &value % &m));
        prop_assert_eq!(&values[0], &((&value + &value) % &m));
        let inverted = context.invert_doubled(0, 1);
        prop_assert_eq!(inverted.is_some(), m.is_even());
        if m.is_even() && value.is_odd() {
            prop_assert_eq!(&values_of(&context)[0] * &value % (&m * 2u8), BigUint::from(1u8));
        }
    }

    /// Elements need not be whole limbs.
    #[test]
    fn elements_may_be_as_short_as_the_modulus(m in proptest::collection::vec(any::<u8>(), 1..48), x in any::<[u8; 48]>()) {
        let m = BigUint::from_bytes_be(&m) | BigUint::from(3u8);
        let element_bytes = m.to_bytes_be().len();
        let modulus = Modulus::with_width(&m.to_bytes_be(), element_bytes.div_ceil(8)).unwrap();
        let mut context = FieldContext::with_element_bytes(modulus, 2, element_bytes);
        let x = BigUint::from_bytes_be(&x) % &m;
        context.store(1, &bytes_of(&x, element_bytes)).unwrap();
        context.mul(Strided::contiguous(0), Strided::contiguous(1), Strided::contiguous(1), 1);
        prop_assert_eq!(values_of(&context), vec![&x * &x % &m, x]);
    }
}

#[test]
fn one_and_two_are_moduli_where_asked_for() {
    assert!(matches!(Modulus::with_width(&[1], 1), Err(ModulusError::TooSmall { .. })));
    assert!(matches!(Modulus::at_least(1, &[0], 1), Err(ModulusError::TooSmall { .. })));
    let mut context = FieldContext::new(Modulus::at_least(1, &[1], 1).unwrap(), 1);
    context.store_any(0, &[255; 8]);
    assert_eq!(values_of(&context), [BigUint::ZERO]);
    let mut context = FieldContext::new(Modulus::at_least(1, &[2], 1).unwrap(), 1);
    context.store_any(0, &[255; 8]);
    context.mul(Strided::contiguous(0), Strided::contiguous(0), Strided::contiguous(0), 1);
    assert_eq!(values_of(&context), [BigUint::from(1u8)]);
    assert_eq!(context.invert_doubled(0, 0), Some(()));
}
