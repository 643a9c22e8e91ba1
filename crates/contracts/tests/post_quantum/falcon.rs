//! `falcon512/eth` and `falcon512/shake` against their second text, and what has to be refused: signatures with which nothing else is wrong.

use crate::compiled::Compiled;
use crate::seeded::Seeded;
use crate::support::cases;
use residue_contracts::falcon512::signer::{
    Signed, compressed, decompressed, numbers, packed, packed_key, transformed, verify, verify_values,
};
use residue_contracts::falcon512::{DEGREE, Hash, MODULUS, NORM_MAX, S2_BYTES, SALT_BYTES};
use residue_engine::{Fork, Halt};
use residue_isa::Revision;
use residue_pages::{grouped, quotes, read};
use std::sync::LazyLock;

/// Bytes of calldata before the message.
const HEAD: usize = 32 + 2_048;

static ETH: LazyLock<Compiled> = LazyLock::new(|| Compiled::new("falcon512/eth", Revision::Evm));

static NUMBERS: LazyLock<[Compiled; 4]> = LazyLock::new(|| {
    [Revision::Evm, Revision::Eip6690_2024, Revision::EvmmaxNext, Revision::XVectorx]
        .map(|revision| Compiled::new("falcon512/eth_numbers", revision))
});

/// The answer for s₂ as numbers, under every interface.
fn answered_numbers(calldata: &[u8]) -> bool {
    let answers = NUMBERS.each_ref().map(|code| code.answer(calldata));
    assert_eq!(answers, [answers[0]; 4]);
    answers[0]
}

/// Code of falcon512/shake that an account holds: its bytes have a price, as for a hundred calls.
static SHAKE: LazyLock<Compiled> =
    LazyLock::new(|| Compiled::priced("falcon512/shake", Revision::Evm, Fork::default(), Some(100)));

/// Code that goes by slots.
static IN_SLOTS: LazyLock<[Compiled; 3]> = LazyLock::new(|| {
    [Revision::Eip6690_2024, Revision::EvmmaxNext, Revision::XVectorx]
        .map(|revision| Compiled::new("falcon512/eth", revision))
});

/// The answer on Osaka, which is that of code without CLZ and of code that goes by slots.
fn answered(calldata: &[u8]) -> bool {
    static BEFORE: LazyLock<[Compiled; 2]> = LazyLock::new(|| {
        [Revision::Evm, Revision::Eip6690_2024]
            .map(|revision| Compiled::priced("falcon512/eth", revision, Fork::Prague, None))
    });
    let answer = ETH.answer(calldata);
    for other in BEFORE.iter().chain(IN_SLOTS.iter()) {
        assert_eq!(other.answer(calldata), answer);
    }
    answer
}

/// Values of s₁ and s₂ as signatures have them, evenly spread with the same variance.
fn values(seeded: &mut Seeded) -> [Vec<i64>; 2] {
    let mut of =
        |most: usize| -> Vec<i64> { (0..DEGREE).map(|_| seeded.below(2 * most + 1) as i64 - most as i64).collect() };
    [of(270), of(255)]
}

fn signed(hash: Hash, seeded: &mut Seeded) -> Signed {
    loop {
        let [s1, s2] = values(seeded);
        let size = seeded.below(200);
        if let Some(signed) = Signed::new(hash, seeded.bytes(size), seeded.bytes(SALT_BYTES), [&s1, &s2]) {
            return signed;
        }
    }
}

/// s₂ as digits, with no look at what is allowed: a length of its own for each unary part, and a sign for each number.
fn digits(s2: &[i64], is_negative: impl Fn(usize) -> bool) -> String {
    let digits = |(place, &value): (usize, &i64)| {
        let size = value.unsigned_abs();
        format!("{}{:07b}{}1", u8::from(is_negative(place)), size & 127, "0".repeat((size >> 7) as usize))
    };
    s2.iter().enumerate().map(digits).collect()
}

fn with(seeded: &mut Seeded, s1: &[i64], s2: &[i64], digits: &str) -> Signed {
    let (message, salt) = (seeded.bytes(32), seeded.bytes(SALT_BYTES));
    Signed::with(Hash::Keccak, [message, salt, packed(digits, S2_BYTES)], [s1, s2]).expect("s₂ has an inverse")
}

#[test]
fn it_costs_no_more_than_the_floor_and_fits_an_account() {
    let outcome = ETH.run(&Signed::example(Hash::Keccak).calldata());
    assert_eq!(outcome.output[31], 1);
    assert!(outcome.gas_used <= 126_000, "{}", outcome.gas_used);
    assert!(ETH.code.len() <= 24_576, "{}", ETH.code.len());
}

#[test]
fn field_instructions_save_a_third_and_code_fits_an_account() {
    for code in IN_SLOTS.iter() {
        let outcome = code.run(&Signed::example(Hash::Keccak).calldata());
        assert_eq!(outcome.output[31], 1);
        assert!(outcome.gas_used <= 84_100, "{}", outcome.gas_used);
        assert!(code.code.len() <= 24_576, "{}", code.code.len());
    }
}

/// `RESIDUE_CASES=3000 cargo test --release -p residue-contracts --test post_quantum falcon` takes more.
#[test]
fn signatures_and_spoiled_ones_are_answered_as_the_second_text_does() {
    let mut seeded = Seeded(8_052);
    let mut most = 0;
    for _ in 0..cases(8) {
        let signed = signed(Hash::Keccak, &mut seeded);
        let calldata = signed.calldata();
        assert!(verify(signed.hash, &signed.key, &signed.message, [&signed.salt, &signed.s2]));
        assert!(answered(&calldata));
        most = most.max(ETH.run(&calldata).gas_used);
        for from in [0, 32, HEAD, HEAD + signed.message.len(), HEAD + signed.message.len() + SALT_BYTES] {
            let mut spoiled = calldata.clone();
            let bit = seeded.below(8 * (calldata.len() - from));
            spoiled[from + bit / 8] ^= 1 << (bit % 8);
            let at = spoiled.len() - S2_BYTES - SALT_BYTES;
            let (salt, s2) = spoiled[at..].split_at(SALT_BYTES);
            let is_of_key = spoiled[..HEAD] == calldata[..HEAD];
            let expected = is_of_key && verify(signed.hash, &signed.key, &spoiled[HEAD..at], [salt, s2]);
            assert_eq!(answered(&spoiled), expected);
        }
    }
    assert!(most < 128_000, "{most}");
}

/// s₂ as numbers costs no compressed one's bits, and is any that is short enough.
#[test]
fn numbers_of_s2_are_answered_as_the_second_text_does() {
    for (code, gas) in NUMBERS.iter().zip([92_000, 62_000, 60_000, 52_000]) {
        let outcome = code.run(&Signed::example(Hash::Keccak).calldata_of_numbers());
        assert_eq!(outcome.output[31], 1);
        assert!(outcome.gas_used <= gas, "{}", outcome.gas_used);
        assert!(code.code.len() <= 24_576, "{}", code.code.len());
    }
    let mut seeded = Seeded(8_054);
    for _ in 0..cases(8) {
        let mut signed = signed(Hash::Keccak, &mut seeded);
        let mut s2 = decompressed(&signed.s2).unwrap();
        let answers = |signed: &Signed, s2: &[i64]| {
            let expected = verify_values(signed.hash, &signed.key, &signed.message, (&signed.salt, s2));
            assert_eq!(answered_numbers(&signed.calldata_with(&numbers(s2))), expected);
            expected
        };
        assert!(answers(&signed, &s2));
        let place = seeded.below(DEGREE);
        s2[place] += 1;
        assert!(!answers(&signed, &s2));
        s2[place] -= 1;
        signed.salt[seeded.below(SALT_BYTES)] ^= 1;
        assert!(!answers(&signed, &s2));
    }
    let calldata = Signed::example(Hash::Keccak).calldata_of_numbers();
    let message = calldata.len() - HEAD - SALT_BYTES - 2 * DEGREE;
    for length in [0, HEAD, calldata.len() - message - 1, calldata.len() - 1] {
        assert!(!answered_numbers(&calldata[..length]), "{length}");
    }
}

/// Numbers that are congruent to the right ones, or have their lowest bits, in a word whose sixteen numbers are 0: their squares come to 0 modulo 2³².
#[test]
fn numbers_of_s2_that_are_not_reduced_are_refused() {
    let mut seeded = Seeded(8_056);
    let signed = loop {
        let [s1, mut s2] = values(&mut seeded);
        s2[..16].fill(0);
        if let Some(signed) = Signed::new(Hash::Keccak, seeded.bytes(32), seeded.bytes(SALT_BYTES), [&s1, &s2]) {
            break signed;
        }
    };
    let right = numbers(&decompressed(&signed.s2).unwrap());
    assert!(answered_numbers(&signed.calldata_with(&right)));
    let multiples = [1, 2, 3, 4, 5].map(|times| times * MODULUS);
    for number in multiples.into_iter().chain([0x4000, 0x8000, 0xc000]) {
        let number = u16::try_from(number).unwrap().to_be_bytes();
        for places in [0..1, 7..8, 15..16, 0..16] {
            let mut bytes = right.clone();
            places.clone().for_each(|place| bytes[2 * place..2 * place + 2].copy_from_slice(&number));
            assert!(!answered_numbers(&signed.calldata_with(&bytes)), "{number:?} at {places:?}");
        }
    }
}

/// The largest and the smallest number that there is, which compression does not have, and norms at the bound made of s₂ alone.
#[test]
fn numbers_of_s2_go_to_their_ends() {
    let mut seeded = Seeded(8_055);
    for (size, is_valid) in
        [(2_100, true), (-2_100, true), (5_800, true), (-5_800, true), (6_144, false), (-6_144, false)]
    {
        for place in [0, 15, 16, DEGREE - 1] {
            let (signed, s2) = of_numbers(&mut seeded, size, place, None);
            assert_eq!(answered_numbers(&signed.calldata_with(&numbers(&s2))), is_valid, "{size} at {place}");
        }
    }
    for (norm, is_valid) in [(NORM_MAX - 1, true), (NORM_MAX, true), (NORM_MAX + 1, false)] {
        for (size, place) in [(5_000, 3), (-5_000, 100), (4_999, DEGREE - 1)] {
            let (signed, s2) = of_numbers(&mut seeded, size, place, Some(norm));
            assert_eq!(answered_numbers(&signed.calldata_with(&numbers(&s2))), is_valid, "{norm}");
        }
    }
    // All of the smallest, and all of the largest: no sum goes around.
    for size in [6_144, -6_144] {
        let signed = Signed::example(Hash::Keccak);
        assert!(!answered_numbers(&signed.calldata_with(&numbers(&[size; DEGREE]))));
    }
}

/// A signature whose s₂, which compression need not have, has a number at a place, and whose s₁ brings the norm to a sum.
fn of_numbers(seeded: &mut Seeded, size: i64, place: usize, norm: Option<u64>) -> (Signed, Vec<i64>) {
    // Not every s₂ has an inverse.
    loop {
        let [mut s1, mut s2] = values(seeded).map(|values| values.iter().map(|value| value / 16).collect::<Vec<i64>>());
        s2[place] = size;
        if let Some(norm) = norm {
            s1[500..].fill(0);
            let left = norm - squares(&s2) - squares(&s1);
            fill(&mut s1[500..], left);
        }
        let (message, salt) = (seeded.bytes(32), seeded.bytes(SALT_BYTES));
        if let Some(signed) = Signed::with(Hash::Keccak, [message, salt, Vec::new()], [&s1, &s2]) {
            return (signed, s2);
        }
    }
}

fn squares(values: &[i64]) -> u64 {
    values.iter().map(|value| value.unsigned_abs().pow(2)).sum()
}

/// Numbers of both signs whose squares have a sum.
fn fill(values: &mut [i64], mut sum: u64) {
    for (place, value) in values.iter_mut().enumerate() {
        let size = sum.isqrt();
        *value = size.cast_signed() * if place % 2 == 0 { 1 } else { -1 };
        sum -= size * size;
    }
    assert_eq!(sum, 0);
}

/// Salts come first, and messages are as long as blocks of SHAKE-256 are.
#[test]
fn signatures_with_shake_and_spoiled_ones_are_answered_as_the_second_text_does() {
    let mut seeded = Seeded(8_053);
    let others = [Revision::Evm, Revision::Eip6690_2024, Revision::EvmmaxNext]
        .map(|revision| Compiled::new("falcon512/shake", revision));
    for case in 0..cases(8) {
        let mut signed = signed(Hash::Shake, &mut seeded);
        if let Some(&size) = [0, 95, 96, 97, 231, 232, 233].get(case) {
            let [s1, s2] = values(&mut seeded);
            let (message, salt) = (seeded.bytes(size), seeded.bytes(SALT_BYTES));
            signed = Signed::new(Hash::Shake, message, salt, [&s1, &s2]).unwrap_or(signed);
        }
        let calldata = signed.calldata();
        assert!(verify(Hash::Shake, &signed.key, &signed.message, [&signed.salt, &signed.s2]));
        assert!(SHAKE.answer(&calldata) && others.iter().all(|other| other.answer(&calldata)));
        for from in [0, 32, HEAD, HEAD + SALT_BYTES, HEAD + SALT_BYTES + signed.message.len()] {
            let mut spoiled = calldata.clone();
            let bit = seeded.below(8 * (calldata.len() - from));
            spoiled[from + bit / 8] ^= 1 << (bit % 8);
            let (hashed, s2) = spoiled[HEAD..].split_at(spoiled.len() - HEAD - S2_BYTES);
            let (salt, message) = hashed.split_at(SALT_BYTES);
            let is_of_key = spoiled[..HEAD] == calldata[..HEAD];
            let expected = is_of_key && verify(Hash::Shake, &signed.key, message, [salt, s2]);
            assert_eq!(SHAKE.answer(&spoiled), expected);
            others.iter().for_each(|other| assert_eq!(other.answer(&spoiled), expected));
        }
        for length in [0, HEAD, HEAD + SALT_BYTES + S2_BYTES - 1, calldata.len() - 1] {
            assert!(!SHAKE.answer(&calldata[..length]), "{length}");
        }
    }
}

#[test]
fn code_with_shake_fits_an_account_and_takes_what_the_document_says() {
    let outcome = SHAKE.run(&Signed::example(Hash::Shake).calldata());
    assert_eq!(outcome.output[31], 1);
    assert!(SHAKE.code.len() <= 24_576, "{}", SHAKE.code.len());
    let sentence =
        format!("has {} bytes and takes {} gas", grouped(SHAKE.code.len() as u64), grouped(outcome.gas_used));
    assert!(quotes(&read("docs/post-quantum.md"), &sentence), "{sentence}");
}

#[test]
fn an_unary_part_above_fifteen_is_refused() {
    let mut seeded = Seeded(1);
    for place in [0, 7, 100, DEGREE - 1] {
        for (size, is_valid) in [(2_047, true), (-2_047, true), (2_048, false), (-2_100, false), (4_000, false)] {
            // Not every s₂ has an inverse.
            let signed = loop {
                let [s1, mut s2] = values(&mut seeded);
                s2.iter_mut().for_each(|value| *value /= 4);
                s2[place] = size;
                let digits = digits(&s2, |place| s2[place] < 0);
                let (message, salt) = (seeded.bytes(32), seeded.bytes(SALT_BYTES));
                if let Some(signed) = Signed::with(Hash::Keccak, [message, salt, packed(&digits, S2_BYTES)], [&s1, &s2])
                {
                    break signed;
                }
            };
            assert_eq!(answered(&signed.calldata()), is_valid, "{size} at {place}");
        }
    }
}

#[test]
fn a_negative_zero_is_refused() {
    let mut seeded = Seeded(2);
    for place in [0, 8, 255, DEGREE - 1] {
        let [s1, mut s2] = values(&mut seeded);
        s2[place] = 0;
        s2[(place + 1) % DEGREE] = -128; // Of −0 it differs by its unary part alone.
        let zero = with(&mut seeded, &s1, &s2, &digits(&s2, |place| s2[place] < 0));
        assert!(answered(&zero.calldata()));
        let s2_bytes = packed(&digits(&s2, |other| s2[other] < 0 || other == place), S2_BYTES);
        assert!(!answered(&Signed { s2: s2_bytes, ..zero }.calldata()), "{place}");
    }
}

#[test]
fn bits_after_the_last_coefficient_are_refused() {
    let mut seeded = Seeded(3);
    let [s1, mut s2] = values(&mut seeded);
    s2.iter_mut().for_each(|value| *value /= 4);
    let digits = digits(&s2, |place| s2[place] < 0);
    let signed = with(&mut seeded, &s1, &s2, &digits);
    assert!(answered(&signed.calldata()));
    for bit in [digits.len(), digits.len() + 1, digits.len() + 200, digits.len() + 255, 8 * S2_BYTES - 1] {
        let mut other = signed.clone();
        other.s2[bit / 8] |= 0x80 >> (bit % 8);
        assert!(!answered(&other.calldata()), "{bit} after {}", digits.len());
    }
}

/// s₂ that fills its bytes to the last bit, and one that takes a bit more.
#[test]
fn an_end_beyond_the_data_is_refused() {
    let mut seeded = Seeded(4);
    for (bits, is_valid) in [(8 * S2_BYTES, true), (8 * S2_BYTES + 1, false), (8 * S2_BYTES + 3, false)] {
        let [s1, _] = values(&mut seeded);
        // 512 of nine bits, and one more for each 128.
        let s2: Vec<i64> = (0..DEGREE).map(|place| 1 + if place < bits - 9 * DEGREE { 128 } else { 0 }).collect();
        let digits = digits(&s2, |_| false);
        assert_eq!(digits.len(), bits);
        let (message, salt) = (seeded.bytes(32), seeded.bytes(SALT_BYTES));
        let Some(signed) = Signed::with(Hash::Keccak, [message, salt, packed(&digits, S2_BYTES)], [&s1, &s2]) else {
            panic!("s₂ of {bits} bits has no inverse");
        };
        assert_eq!(answered(&signed.calldata()), is_valid, "{bits}");
    }
}

/// Coefficients of s₁ in the last places make the norm what it is to be.
#[test]
fn the_largest_norm_is_taken_and_one_more_refused() {
    let mut seeded = Seeded(5);
    for (norm, is_valid) in [(NORM_MAX, true), (NORM_MAX + 1, false), (NORM_MAX - 1, true)] {
        let [mut s1, s2] = values(&mut seeded);
        s1[500..].fill(0);
        let left = norm - squares(&s1) - squares(&s2);
        fill(&mut s1[500..], left);
        let signed = Signed::new(Hash::Keccak, seeded.bytes(32), seeded.bytes(SALT_BYTES), [&s1, &s2]).unwrap();
        assert_eq!(answered(&signed.calldata()), is_valid, "{norm}");
        assert_eq!(verify(signed.hash, &signed.key, &signed.message, [&signed.salt, &signed.s2]), is_valid);
    }
}

/// s₁ with the largest and the smallest coefficient that there is: one alone is too much, and no sum goes around.
#[test]
fn coefficients_at_the_ends_are_refused() {
    let mut seeded = Seeded(6);
    for size in [6_144, -6_144, 6_143] {
        for count in [1, DEGREE] {
            let [_, s2] = values(&mut seeded);
            let mut s1 = vec![0; DEGREE];
            s1[DEGREE - count..].fill(size);
            let signed = Signed::new(Hash::Keccak, seeded.bytes(32), seeded.bytes(SALT_BYTES), [&s1, &s2]).unwrap();
            assert!(!answered(&signed.calldata()), "{count} of {size}");
        }
    }
}

#[test]
fn another_length_or_key_is_refused() {
    let signed = Signed::example(Hash::Keccak);
    let calldata = signed.calldata();
    let without = Signed { message: Vec::new(), ..signed.clone() }.calldata();
    assert!(!answered(&without));
    for length in [0, 31, 32, HEAD, without.len() - 1, without.len(), calldata.len() - 1] {
        assert!(!answered(&calldata[..length]), "{length}");
    }
    assert!(!answered(&[&calldata[..], &[0]].concat()));
    // A salt of 39 or 41 bytes moves what comes after it.
    for salt in [&signed.salt[1..], &[&signed.salt[..], &[0]].concat()] {
        assert!(!answered(&Signed { salt: salt.to_vec(), ..signed.clone() }.calldata()));
    }
    // The key of another, by its own hash.
    let other = Signed { key: transformed_key_of_another(), ..signed.clone() };
    assert!(!answered(&other.calldata()));
}

/// By its own hash. Slots hold numbers below 11·q, or any, and a sum in words marks those that are not below q.
#[test]
fn a_transformed_key_with_a_number_that_is_not_below_q_halts() {
    let calldata = Signed::example(Hash::Keccak).calldata();
    let (before, after) = calldata.split_at(HEAD);
    let q = 12_289u32;
    let large = [q, q + 1, 5 * q, 11 * q - 1, 11 * q, 1 << 31, (1 << 31) + q - 1, (1 << 31) + q, u32::MAX];
    for (place, number) in (0..).step_by(63).zip(large) {
        let mut key = before[32..].to_vec();
        key[4 * place..4 * place + 4].copy_from_slice(&number.to_be_bytes());
        let hash = residue_ir::hash::keccak256_of(&key).to_be_bytes::<32>();
        for code in IN_SLOTS.iter().chain([&*ETH]) {
            let halt = code.run(&[&hash[..], &key, after].concat()).halt;
            assert!(halt.is_exceptional() && halt != Halt::OutOfGas, "{number} at {place}: {halt:?}");
        }
    }
}

fn transformed_key_of_another() -> Vec<u64> {
    signed(Hash::Keccak, &mut Seeded(7)).key
}

#[test]
fn keys_are_registered() {
    let register = Compiled::new("falcon512/eth_register", Revision::Evm);
    let mut seeded = Seeded(9);
    for case in 0..4 {
        let key: Vec<u64> = match case {
            0 => vec![MODULUS - 1; DEGREE],
            1 => vec![0; DEGREE],
            _ => (0..DEGREE).map(|_| seeded.below(12_289) as u64).collect(),
        };
        let outcome = register.run(&packed_key(&key));
        assert!(outcome.halt == Halt::Return && outcome.output == transformed(&key), "{case}");
        let mut wrong = key.clone();
        wrong[seeded.below(DEGREE)] = MODULUS + seeded.below(4_095) as u64;
        assert!(register.run(&packed_key(&wrong)).halt.is_exceptional());
        assert!(register.run(&packed_key(&key)[1..]).halt.is_exceptional());
    }
    let signed = Signed::example(Hash::Keccak);
    assert_eq!(register.run(&packed_key(&signed.key)).output, signed.calldata()[32..HEAD]);
}

#[test]
fn compression_is_undone() {
    let mut seeded = Seeded(10);
    let [_, s2] = values(&mut seeded);
    assert_eq!(decompressed(&compressed(&s2).unwrap()), Some(s2));
}
