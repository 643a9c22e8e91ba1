//! ML-DSA against its second text and the crate `fips204`, and what has to be refused: signatures with which nothing else is wrong.

use crate::compiled::Compiled;
use crate::seeded::Seeded;
use crate::support::cases;
use fips204::traits::{KeyGen, SerDes, Signer as _, Verifier};
use fips204::{ml_dsa_44, ml_dsa_65};
use residue_contracts::find;
use residue_contracts::mldsa::signer::{Signed, Signer, coefficients, matrix, transformed, values};
use residue_contracts::mldsa::{DEGREE, Hash, ML_DSA_44, ML_DSA_65, MODULUS, Scheme};
use residue_contracts::ntt::DILITHIUM;
use residue_engine::{Fork, Halt};
use residue_isa::Revision;
use residue_pages::{grouped, quotes, read};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// Bytes of code that an account may have (EIP-170).
const CODE_BYTES_MAX: usize = 24_576;

/// Transformed keys, by a contract and a published key.
type Keys = HashMap<(&'static str, Vec<u8>), Vec<u8>>;

/// A contract, with its scheme, hash, and calls that the price of bytes is for, so that an account holds its code; gas that its example takes at most,
/// under `evm` and under the first of [`IN_SLOTS`].
struct Case {
    name: &'static str,
    of: (Scheme, Hash),
    calls: Option<u64>,
    most: [u64; 2],
    code: LazyLock<Compiled>,
    in_slots: LazyLock<[Compiled; 2]>,
}

/// Interfaces with room for what goes by slots.
const IN_SLOTS: [Revision; 2] = [Revision::Eip6690_2024, Revision::EvmmaxNext];

static CASES: [Case; 3] = [
    Case {
        name: "mldsa44/eth",
        of: (ML_DSA_44, Hash::Keccak),
        calls: None,
        most: [400_000, 160_000],
        code: LazyLock::new(|| CASES[0].compiled(Revision::Evm, Fork::default())),
        in_slots: LazyLock::new(|| CASES[0].compiled_in_slots()),
    },
    Case {
        name: "mldsa44/fips",
        of: (ML_DSA_44, Hash::Shake),
        calls: Some(100),
        most: [720_000, 440_000],
        code: LazyLock::new(|| CASES[1].compiled(Revision::Evm, Fork::default())),
        in_slots: LazyLock::new(|| CASES[1].compiled_in_slots()),
    },
    Case {
        name: "mldsa65/fips",
        of: (ML_DSA_65, Hash::Shake),
        calls: Some(20),
        most: [1_000_000, 495_000],
        code: LazyLock::new(|| CASES[2].compiled(Revision::Evm, Fork::default())),
        in_slots: LazyLock::new(|| CASES[2].compiled_in_slots()),
    },
];

impl Case {
    fn compiled(&self, revision: Revision, fork: Fork) -> Compiled {
        Compiled::priced(self.name, revision, fork, self.calls)
    }

    fn compiled_in_slots(&self) -> [Compiled; 2] {
        IN_SLOTS.map(|revision| Compiled::new(self.name, revision))
    }

    /// The answer of code, which is one under all interfaces.
    #[track_caller]
    fn answer(&self, calldata: &[u8]) -> bool {
        let answer = self.code.answer(calldata);
        for (code, revision) in self.in_slots.iter().zip(IN_SLOTS) {
            assert_eq!(code.answer(calldata), answer, "{} under {revision}", self.name);
        }
        answer
    }

    /// The answer of code, which is that of the second text.
    #[track_caller]
    fn answers(&self, signed: &Signed, expected: bool) {
        assert_eq!(signed.is_valid(), expected, "{}, by its second text", self.name);
        assert_eq!(self.answer(&self.calldata(signed)), expected, "{}", self.name);
    }

    /// Calldata, for which a key is transformed once.
    fn calldata(&self, signed: &Signed) -> Vec<u8> {
        static KEYS: LazyLock<Mutex<Keys>> = LazyLock::new(Mutex::default);
        let mut keys = KEYS.lock().unwrap();
        let key = keys.entry((self.name, signed.key.clone()));
        signed.calldata_for(key.or_insert_with(|| transformed(self.of.0, self.of.1, &signed.key)))
    }

    fn signer(&self, seeded: &mut Seeded) -> Signer {
        Signer::new(self.of.0, self.of.1, &seeded.bytes(32))
    }

    fn signed(&self, signer: &Signer, message: Vec<u8>) -> Signed {
        let signature = signer.sign(&message);
        Signed { scheme: self.of.0, hash: self.of.1, key: signer.key.clone(), message, signature }
    }

    /// A signature of a key whose t₁ is 0.
    fn of_zero_key(&self, rho: &[u8], z: &[Vec<i64>], hints: &[Vec<usize>]) -> Signed {
        Signed::of_zero_key(self.of, (rho, vec![0, 0, 7]), (z, hints))
    }

    fn no_z(&self) -> Vec<Vec<i64>> {
        vec![vec![0; DEGREE]; self.of.0.columns]
    }

    fn no_hints(&self) -> Vec<Vec<usize>> {
        vec![Vec::new(); self.of.0.rows]
    }
}

/// A context of some bytes with the two before it, and a message.
fn message(seeded: &mut Seeded, context: usize, size: usize) -> Vec<u8> {
    let context_bytes = [u8::try_from(context).unwrap()];
    [&[0], &context_bytes[..], &seeded.bytes(context + size)].concat()
}

#[test]
fn code_fits_an_account_and_takes_what_the_document_says() {
    let page = read("docs/post-quantum.md");
    let sentences: Vec<String> = CASES
        .iter()
        .flat_map(|case| {
            let outcome = case.code.run(&case.calldata(&Signed::example(case.of.0, case.of.1)));
            assert_eq!(outcome.output[31], 1, "{}", case.name);
            assert!(outcome.gas_used <= case.most[0], "{} takes {}", case.name, outcome.gas_used);
            let bytes = case.code.code.len();
            assert!(bytes <= CODE_BYTES_MAX, "{} has {bytes} bytes", case.name);
            let (bytes, gas) = (grouped(bytes as u64), grouped(outcome.gas_used)); // usize to u64 widens
            let price = case.calls.map(|calls| format!(" with `--calls {calls}`")).unwrap_or_default();
            let in_words = format!("`{}`{price} has {bytes} bytes and takes {gas} gas", case.name);
            let code = &case.in_slots[0];
            let outcome = code.run(&case.calldata(&Signed::example(case.of.0, case.of.1)));
            assert_eq!(outcome.output[31], 1, "{}", case.name);
            assert!(outcome.gas_used <= case.most[1], "{} takes {} in slots", case.name, outcome.gas_used);
            assert!(code.code.len() <= CODE_BYTES_MAX, "{} has {} bytes in slots", case.name, code.code.len());
            let (bytes, gas) = (grouped(code.code.len() as u64), grouped(outcome.gas_used)); // usize to u64 widens
            [in_words, format!("`{}` in slots has {bytes} bytes and takes {gas} gas", case.name)]
        })
        .collect();
    assert!(sentences.iter().all(|sentence| quotes(&page, sentence)), "{sentences:?}");
}

/// `RESIDUE_CASES=300 cargo test --release -p residue-contracts --test post_quantum mldsa` takes more. Messages are as long as blocks of SHAKE256 are, too.
#[test]
fn signatures_and_spoiled_ones_are_answered_as_the_second_text_does() {
    let mut seeded = Seeded(204);
    for case in &CASES {
        let (scheme, hash) = case.of;
        let head = 32 + scheme.transformed_bytes();
        for number in 0..cases(4) {
            let signer = case.signer(&mut seeded);
            let (context, size) = match number {
                0 => (0, 0),
                1 => (255, 68),
                2 => (0, 69),
                3 => (1, 70),
                _ => (seeded.below(256), seeded.below(300)),
            };
            let message = message(&mut seeded, context, size);
            let signed = case.signed(&signer, message);
            case.answers(&signed, true);
            let calldata = signed.calldata();
            let parts = [0, 32, head, head + signed.message.len(), calldata.len() - scheme.hint_bytes()];
            for from in parts {
                let mut spoiled = calldata.clone();
                let bit = seeded.below(8 * (calldata.len() - from));
                spoiled[from + bit / 8] ^= 1 << (bit % 8);
                let (message, signature) = spoiled[head..].split_at(signed.message.len());
                let (message, signature) = (message.to_vec(), signature.to_vec());
                let is_of_key = spoiled[..head] == calldata[..head];
                let expected = is_of_key && Signed { message, signature, ..signed.clone() }.is_valid();
                assert_eq!(case.answer(&spoiled), expected, "{} {hash:?}, bit {bit} from {from}", case.name);
            }
        }
    }
}

/// Keys and signatures of the crate are accepted, and those of ours by the crate; spoiled ones are answered as the crate does.
#[test]
fn the_crate_agrees() {
    let mut seeded = Seeded(7);
    macro_rules! agree {
        ($case:expr, $module:ident) => {
            let case: &Case = $case;
            for number in 0..cases(3) {
                let (public, secret) = $module::KG::keygen_from_seed(&seeded.bytes(32).try_into().unwrap());
                let message = message(&mut seeded, 5 * number % 256, 3 * number);
                let (context, body) = message[2..].split_at(5 * number % 256);
                let signature = secret.try_sign_with_seed(&[5; 32], body, context).unwrap();
                let (scheme, hash) = case.of;
                let key = public.clone().into_bytes().to_vec();
                let signed = Signed { scheme, hash, key, message: message.clone(), signature: signature.to_vec() };
                case.answers(&signed, true);
                for _ in 0..4 {
                    let mut spoiled = signed.clone();
                    let bit = seeded.below(8 * spoiled.signature.len());
                    spoiled.signature[bit / 8] ^= 1 << (bit % 8);
                    let is_valid = public.verify(body, &spoiled.signature.clone().try_into().unwrap(), context);
                    case.answers(&spoiled, is_valid);
                }
                let signer = case.signer(&mut seeded);
                let ours = case.signed(&signer, message.clone());
                let public = $module::PublicKey::try_from_bytes(ours.key.clone().try_into().unwrap()).unwrap();
                assert!(public.verify(body, &ours.signature.clone().try_into().unwrap(), context));
                // A key of zeros, whose signatures anybody makes.
                let hints: Vec<Vec<usize>> = (0..scheme.rows).map(|row| vec![row, 7 * row + 9, 255]).collect();
                let z: Vec<Vec<i64>> = (0..scheme.columns)
                    .map(|_| (0..DEGREE).map(|_| seeded.below(1 << 17) as i64 - (1 << 16)).collect())
                    .collect();
                let zero = Signed::of_zero_key(case.of, (&seeded.bytes(32), message.clone()), (&z, &hints));
                case.answers(&zero, true);
                let public = $module::PublicKey::try_from_bytes(zero.key.clone().try_into().unwrap()).unwrap();
                assert!(public.verify(body, &zero.signature.clone().try_into().unwrap(), context));
            }
        };
    }
    agree!(&CASES[1], ml_dsa_44);
    agree!(&CASES[2], ml_dsa_65);
}

/// A key whose t₁ is 0 does not see c, so a signature has one c̃ alone: each of its bytes is compared.
#[test]
fn each_byte_of_the_challenge_is_compared() {
    for case in &CASES {
        let zero = case.of_zero_key(&[5; 32], &case.no_z(), &case.no_hints());
        case.answers(&zero, true);
        for byte in 0..case.of.0.challenge_bytes {
            let mut other = zero.clone();
            other.signature[byte] ^= 1 << (byte % 8);
            case.answers(&other, false);
        }
    }
}

/// Numbers of z at their bounds, in each word of three in a block and in the last one.
#[test]
fn a_coefficient_of_z_that_is_too_large_is_refused() {
    for case in &CASES {
        let bound = (case.of.0.mask_range() - case.of.0.slack) as i64;
        let range = case.of.0.mask_range() as i64;
        for (number, (column, place)) in [(0, 0), (0, 5), (1, 10), (2, 131), (3, 248), (3, 255)].into_iter().enumerate()
        {
            let ends = [(range, false), (1 - range, false), (bound - 1, true), (1 - bound, true)];
            for (value, is_valid) in [(bound, false), (-bound, false), ends[number % 4]] {
                let mut z = case.no_z();
                z[column][place] = value;
                case.answers(&case.of_zero_key(&[1; 32], &z, &case.no_hints()), is_valid);
            }
        }
        // At every place.
        for (value, is_valid) in [(bound - 1, true), (1 - bound, true), (bound, false), (-bound, false)] {
            let z = vec![vec![value; DEGREE]; case.of.0.columns];
            case.answers(&case.of_zero_key(&[1; 32], &z, &case.no_hints()), is_valid);
        }
    }
}

/// A signature whose z is one too large of a signer who does not look.
#[test]
fn a_signature_without_a_look_at_the_norm_is_refused() {
    for case in &CASES {
        let bound = case.of.0.mask_range() - case.of.0.slack;
        let signer = case.signer(&mut Seeded(9));
        let change = |_, mut mask: Vec<Vec<i64>>| {
            mask[1][77] = bound as i64;
            mask
        };
        for (most, is_valid) in [(bound, false), (bound - 1, true)] {
            let largest = |z: &[Vec<i64>]| z.iter().flatten().map(|value| value.unsigned_abs()).max() == Some(most);
            let message = vec![0, 0, 1];
            let signature = signer.sign_if(&message, change, largest);
            let (scheme, hash) = case.of;
            case.answers(&Signed { scheme, hash, key: signer.key.clone(), message, signature }, is_valid);
        }
    }
}

#[test]
fn hints_have_one_encoding() {
    for case in &CASES {
        let (scheme, _) = case.of;
        let signer = case.signer(&mut Seeded(11));
        let signed = case.signed(&signer, vec![0, 0]);
        case.answers(&signed, true);
        let first = signed.signature.len() - scheme.hint_bytes();
        let hints = scheme.hints(&signed.signature[first..]).unwrap();
        let count: usize = hints.iter().map(Vec::len).sum();
        assert!(count < scheme.hints_max && hints.iter().all(|row| row.len() > 1), "{hints:?}");
        let refuse = |change: &dyn Fn(&mut [u8])| {
            let mut other = signed.clone();
            change(&mut other.signature[first..]);
            assert_ne!(other.signature, signed.signature);
            case.answers(&other, false);
        };
        let mut row_first = 0;
        for (row, places) in hints.iter().enumerate() {
            // The hints in another order, and one of them twice.
            refuse(&|bytes| bytes.swap(row_first, row_first + 1));
            let last = row_first + places.len();
            refuse(&|bytes| bytes.swap(last - 2, last - 1));
            refuse(&|bytes| {
                bytes[last..scheme.hints_max].rotate_right(1);
                bytes[last] = bytes[last - 1];
                bytes[scheme.hints_max + row..].iter_mut().for_each(|count| *count += 1);
            });
            row_first = last;
        }
        // A hint twice for r = 0, which moves it down and up again: of a signature without hints.
        let zero = case.of_zero_key(&[3; 32], &case.no_z(), &case.no_hints());
        case.answers(&zero, true);
        for row in 0..scheme.rows {
            let mut twice = zero.clone();
            twice.signature[first..first + 2].fill(5);
            twice.signature[first + scheme.hints_max + row..].fill(2);
            case.answers(&twice, false);
        }
        // Bytes that are not used.
        for place in (count..scheme.hints_max).step_by(3).chain([scheme.hints_max - 1]) {
            refuse(&|bytes| bytes[place] = 1 + (place % 255) as u8);
        }
        // Counts that decrease or are too large.
        for (row, _) in hints.iter().enumerate().skip(1) {
            refuse(&|bytes| bytes.swap(scheme.hints_max + row - 1, scheme.hints_max + row));
        }
        for row in 0..scheme.rows {
            for count in [0, scheme.hints_max + 1, 255] {
                refuse(&|bytes| bytes[scheme.hints_max + row] = count as u8);
            }
        }
    }
}

/// As many hints as there may be, in one row or another, and one more, which the last count says.
#[test]
fn no_more_hints_than_omega_are_taken() {
    for case in &CASES {
        let (scheme, _) = case.of;
        for row in 0..scheme.rows {
            let mut hints = case.no_hints();
            hints[row] = (0..scheme.hints_max).map(|place| 255 - 3 * place).rev().collect();
            let signed = case.of_zero_key(&[2; 32], &case.no_z(), &hints);
            case.answers(&signed, true);
            let mut more = signed.clone();
            let counts = more.signature.len() - scheme.rows;
            more.signature[counts + row..].iter_mut().for_each(|count| *count += 1);
            case.answers(&more, false);
        }
    }
}

/// Low parts at 0, 1, −1 and their ends, with and without a hint, high parts at their ends: numbers of w' that are chosen by one coefficient of z.
#[test]
fn hints_are_used_at_all_edges() {
    for case in &CASES {
        let (scheme, hash) = case.of;
        let step = 2 * scheme.low_range;
        // r = 0: the high part becomes the greatest one.
        let all: Vec<Vec<usize>> = (0..scheme.rows).map(|row| vec![row, 100, 255]).collect();
        case.answers(&case.of_zero_key(&[3; 32], &case.no_z(), &all), true);
        let column: Vec<Vec<u64>> = matrix(scheme, hash, &[3; 32]).iter().map(|row| coefficients(&row[0])).collect();
        let bound = (scheme.mask_range() - scheme.slack) as i64;
        let inverse = |value: u64| {
            let (mut power, mut base, mut exponent) = (1, value, MODULUS - 2);
            while exponent > 0 {
                power = if exponent % 2 == 1 { power * base % MODULUS } else { power };
                (base, exponent) = (base * base % MODULUS, exponent / 2);
            }
            power
        };
        let mut found = 0;
        for high in [0, 1, 2, (MODULUS - 1) / step - 1, (MODULUS - 1) / step] {
            for low in [0, 1, -1, scheme.low_range as i64, 1 - scheme.low_range as i64] {
                let target = (high as i64 * step as i64 + low).rem_euclid(MODULUS as i64) as u64;
                // A coefficient with a multiple that is the target.
                let places = (0..scheme.rows).flat_map(|row| (0..DEGREE).map(move |place| (row, place)));
                let hit = places.filter(|&(row, place)| column[row][place] > 0).find_map(|(row, place)| {
                    let factor = target * inverse(column[row][place]) % MODULUS;
                    let factor = if factor > MODULUS / 2 { factor as i64 - MODULUS as i64 } else { factor as i64 };
                    (factor.abs() < bound).then_some((row, place, factor))
                });
                let (row, place, factor) = hit.expect("one of a thousand coefficients has such a multiple");
                let mut z = case.no_z();
                z[0][0] = factor;
                for is_hint in [false, true] {
                    let mut hints = case.no_hints();
                    hints[row].extend(is_hint.then_some(place));
                    let signed = case.of_zero_key(&[3; 32], &z, &hints);
                    case.answers(&signed, true);
                    found += 1;
                }
            }
        }
        assert_eq!(found, 50);
        assert_eq!(values(&coefficients(&values(&column[0]))), values(&column[0]));
    }
}

#[test]
fn another_length_header_or_key_is_refused() {
    for case in &CASES {
        let (scheme, hash) = case.of;
        let signer = case.signer(&mut Seeded(13));
        let signed = case.signed(&signer, vec![0, 1, 99, 5]);
        let calldata = signed.calldata();
        let head = 32 + scheme.transformed_bytes();
        assert!(case.answer(&calldata));
        for length in [0, 31, 32, head, head + scheme.signature_bytes() + 1, calldata.len() - 1] {
            assert!(!case.answer(&calldata[..length]), "{length}");
        }
        assert!(!case.answer(&[&calldata[..], &[0]].concat()));
        // Messages that say of themselves that they are hashed before, or have a context that is longer than they are: signed as they stand.
        for (message, is_valid) in [
            (vec![0, 0], true),
            (vec![1, 0, 3], false),
            (vec![128, 0, 3], false),
            (vec![0, 2, 3], false),
            (vec![0, 255, 3], false),
            (vec![0, 2, 3, 4], true),
            ([&[0, 255][..], &[7; 255]].concat(), true),
            ([&[0, 255][..], &[7; 254]].concat(), false),
            ([&[1, 0][..], &[7; 300]].concat(), false),
        ] {
            let signed = case.signed(&signer, message);
            case.answers(&signed, is_valid);
        }
        // The key of another by its own hash, and by the hash of this one.
        let other = case.signer(&mut Seeded(14)).key;
        assert!(!case.answer(&Signed { key: other.clone(), ..signed.clone() }.calldata()));
        let key = transformed(scheme, hash, &other);
        assert!(!case.answer(&[&calldata[..32], &key, &calldata[head..]].concat()));
        // Numbers of a key that are not below q, by the key's hash: the same numbers modulo q, other bytes.
        let mut key = calldata[32..head].to_vec();
        let number = |key: &[u8], at: usize| u32::from_be_bytes(key[at..at + 4].try_into().unwrap());
        let small = (0..1 << 13).map(|at| 4 * at).find(|&at| u64::from(number(&key, at)) < (1 << 23) - MODULUS);
        let small = small.unwrap_or(0);
        let larger = number(&key, small).wrapping_add(MODULUS as u32);
        key[small..small + 4].copy_from_slice(&larger.to_be_bytes());
        assert!(!case.answer(&[&calldata[..32], &key, &calldata[head..]].concat()));
    }
}

/// Values of a transformed key's polynomials but the last one of each row, from the lowest 23 bits of its numbers.
fn values_of_key(scheme: Scheme, key: &[u8]) -> Vec<Vec<Vec<u64>>> {
    let number = |number: usize, word: usize, lane: usize| {
        let at = 2_048 * (number / 2) + 32 * word + 8 * (3 - lane) + 4 * (1 - number % 2);
        u64::from(u32::from_be_bytes(key[at..at + 4].try_into().unwrap()) & 0x7f_ffff)
    };
    let value = |of: usize, place: usize| {
        let root = DILITHIUM.root_of(place);
        (0..4).rev().fold(0, |sum, lane| (sum * root + 64 * number(of, place / 4, lane)) % MODULUS)
    };
    let rows = (0..scheme.rows).map(|row| row * (scheme.columns + 1));
    rows.map(|first| {
        (first..first + scheme.columns).map(|of| (0..DEGREE).map(|place| value(of, place)).collect()).collect()
    })
    .collect()
}

/// The greatest and the least numbers that a key can have, with 0 for t₁: sums of products stay within lanes, and numbers are taken modulo q.
#[test]
fn keys_of_the_largest_numbers_are_summed() {
    for case in &CASES {
        let (scheme, _) = case.of;
        let bound = (scheme.mask_range() - scheme.slack) as i64 - 1;
        for (byte, value) in [(0xff, bound), (0xff, -bound), (0x7f, bound), (0, 7)] {
            let mut key = vec![byte; scheme.transformed_bytes()];
            for row in 0..scheme.rows {
                let last = row * (scheme.columns + 1) + scheme.columns;
                for lane in 0..DEGREE {
                    let at = 2_048 * (last / 2) + 8 * lane + 4 * (1 - last % 2);
                    key[at..at + 4].fill(0);
                }
            }
            let z = vec![vec![value; DEGREE]; scheme.columns];
            let rows = values_of_key(scheme, &key);
            let tr = &key[key.len() - 64..];
            let signed = Signed::of_values(case.of, (&rows, tr), vec![0, 0, 8], (&z, &case.no_hints()));
            assert!(case.code.answer(&signed.calldata_for(&key)), "{} {byte} {value}", case.name);
        }
    }
}

/// The greatest numbers below q, at every place of a key or at some: sums stay within lanes under every interface.
#[test]
fn keys_of_the_largest_numbers_below_q_are_summed_in_slots() {
    let mut seeded = Seeded(19);
    for case in &CASES {
        let (scheme, _) = case.of;
        let bound = (scheme.mask_range() - scheme.slack) as i64 - 1;
        for (every, value) in [(1, bound), (1, -bound), (3, bound), (7, -bound)] {
            let mut key = seeded.bytes(scheme.transformed_bytes());
            let numbers = key.len() - 64;
            for (place, number) in key[..numbers].chunks_mut(4).enumerate() {
                let of = 2 * (place / 512) + 1 - place % 2;
                let is_last = of % (scheme.columns + 1) == scheme.columns;
                let largest = if place % every == 0 { MODULUS - 1 } else { 0 };
                number.copy_from_slice(&(if is_last { 0 } else { largest } as u32).to_be_bytes());
            }
            let z = vec![vec![value; DEGREE]; scheme.columns];
            let rows = values_of_key(scheme, &key);
            let tr = &key[key.len() - 64..];
            let signed = Signed::of_values(case.of, (&rows, tr), vec![0, 0, 8], (&z, &case.no_hints()));
            assert!(case.answer(&signed.calldata_for(&key)), "{} {every} {value}", case.name);
        }
    }
}

#[test]
fn keys_are_registered() {
    let mut seeded = Seeded(17);
    for (case, name) in CASES.iter().zip(["mldsa44/eth_register", "mldsa44/register", "mldsa65/register"]) {
        let register = Compiled::new(name, Revision::Evm);
        let (scheme, hash) = case.of;
        for number in 0..2 {
            let mut key = seeded.bytes(scheme.key_bytes());
            if number == 0 {
                key[32..].fill(0xff);
            }
            let outcome = register.run(&key);
            assert!(outcome.halt == Halt::Return, "{name} {number}: {:?}", outcome.halt);
            assert!(outcome.output == transformed(scheme, hash, &key), "{name} {number}");
        }
        let key = seeded.bytes(scheme.key_bytes() + 1);
        for length in [0, scheme.key_bytes() - 1, scheme.key_bytes() + 1] {
            let halt = register.run(&key[..length]).halt;
            assert!(halt.is_exceptional() && halt != Halt::OutOfGas, "{name} {length}");
        }
        println!("{name} takes {} gas", register.run(&key[1..]).gas_used);
    }
}

#[test]
fn it_is_the_same_under_other_interfaces_and_forks() {
    let mut seeded = Seeded(15);
    for (case, revision, fork) in [
        (&CASES[0], Revision::Eip6690_2024, Fork::default()),
        (&CASES[0], Revision::EvmmaxNext, Fork::default()),
        (&CASES[0], Revision::Evm, Fork::Prague),
        (&CASES[1], Revision::Evm, Fork::Shanghai),
    ] {
        let code = case.compiled(revision, fork);
        let calldata = case.calldata(&Signed::example(case.of.0, case.of.1));
        assert!(code.answer(&calldata), "{revision} {fork}");
        let mut spoiled = calldata.clone();
        let bit = seeded.below(8 * case.of.0.signature_bytes());
        let at = calldata.len() - 1 - bit / 8;
        spoiled[at] ^= 1 << (bit % 8);
        assert!(!code.answer(&spoiled), "{revision} {fork}");
    }
}

/// The evaluator leaves other numbers than code, congruent ones: the answer does not depend on them.
#[test]
fn the_evaluator_agrees() {
    for case in &CASES {
        let program = find(case.name).unwrap().program();
        let calldata = Signed::example(case.of.0, case.of.1).calldata();
        let mut spoiled = calldata.clone();
        *spoiled.last_mut().unwrap() ^= 1;
        for (input, expected) in [(&calldata, 1), (&spoiled, 0)] {
            let residue_ir::Outcome::Returned(output) = residue_ir::evaluate(&program, input) else {
                panic!("it returns")
            };
            assert_eq!(output[31], expected, "{}", case.name);
        }
    }
}
