//! The tables of gas in `docs/modexp.md` equal the gas of the contract.
//!
//! If the contract or the compiler changes, this writes them anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts modexp_page -- --ignored`.

use std::fmt::Write;

use crate::linked::LinkedCode;
use crate::modexp::{code, input};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, GasSplit, Halt};
use residue_formula::Number;
use residue_ir::Length;
use residue_isa::{GasSchedule, Revision};
use residue_modular::fields::Bn254Fp;
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 1_000_000_000;

/// The contract under one revision.
struct Compiled {
    engine: Engine,
    code: Vec<u8>,
}

struct Row {
    gas: u64,
    price: u64,
    split: GasSplit,
}

impl Compiled {
    fn new(revision: Revision) -> Self {
        let schedule = GasSchedule::default_for(revision).unwrap();
        Self::of(revision, cheapest(find("modexp").unwrap(), revision, &schedule).unwrap().compiled.code)
    }

    fn of(revision: Revision, code: Vec<u8>) -> Self {
        Self { engine: Engine::new(EngineConfig::default_for(revision)).unwrap(), code }
    }

    fn row(&self, input: &[u8]) -> Row {
        let native = native(find("modexp").unwrap(), input).unwrap().unwrap();
        let counted = self.engine.run_counted(&self.code, input, GAS);
        assert_eq!((counted.outcome.halt, counted.outcome.output), (Halt::Return, native.output));
        Row { gas: counted.outcome.gas_used, price: native.gas_used, split: counted.gas_split }
    }
}

/// A modulus of so many bits whose lowest bits are those of `low`, and a base below it of the same length, at random.
fn numbers(bits: usize, low: u8) -> [Vec<u8>; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(7883);
    let [mut modulus, mut base] = [(); 2].map(|()| {
        let mut bytes = vec![0; bits / 8];
        random.fill(&mut bytes[..]);
        bytes
    });
    modulus[0] |= 0x80;
    base[0] &= 0x7f;
    *modulus.last_mut().unwrap() = low;
    [base, modulus]
}

/// All bits of an exponent at random, the highest 1.
fn full(bits: usize) -> Vec<u8> {
    let mut exponent = vec![0; bits / 8];
    ChaCha8Rng::seed_from_u64(198).fill(&mut exponent[..]);
    exponent[0] |= 0x80;
    exponent
}

const F4: [u8; 3] = [1, 0, 1];

/// Breakdown of the gas.
fn split() -> String {
    let contract = Compiled::new(Revision::Eip6690_2024);
    let mut text = String::from(
        "| modulus | exponent | gas | price | ratio | arithmetic | transfer | growth | control |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut add = |modulus: &str, exponent: &str, input: &[u8]| {
        let Row { gas, price, split } = contract.row(input);
        let numbers = [gas, price].map(grouped).join(" | ");
        let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
        writeln!(text, "| {modulus} | {exponent} | {numbers} | {} | {split} |", ratio(gas, price)).unwrap();
    };
    let bn254 = Bn254Fp::modulus();
    let inverse = (&bn254 - 2u8).to_bytes_be();
    add("p of BN254", "p − 2", &input(&[3; 32], &inverse, &bn254.to_bytes_be()));
    for bits in [256, 384, 512, 768] {
        let [base, modulus] = numbers(bits, 0xfb);
        add(&format!("{bits} bits, odd"), "as long", &input(&base, &full(bits), &modulus));
    }
    for bits in [256, 768] {
        let [base, modulus] = numbers(bits, 0xf8);
        add(&format!("{bits} bits, even"), "as long", &input(&base, &full(bits), &modulus));
    }
    for bits in [1024, 2048, 3072, 4096, 8192] {
        let [base, modulus] = numbers(bits, 0xfb);
        add(&format!("{bits} bits"), "65537", &input(&base, &F4, &modulus));
    }
    for bits in [1024, 2048] {
        let [base, modulus] = numbers(bits, 0xfb);
        add(&format!("{bits} bits"), "as long", &input(&base, &full(bits), &modulus));
    }
    text
}

/// Gas by width and revision, for the exponent 65537. Experiments whose code is that of EIP-6690 of 2024, but for prefixes, are left out.
fn revisions() -> String {
    let revisions: Vec<Revision> = Revision::ALL
        .iter()
        .copied()
        .filter(|&revision| {
            let schedule = GasSchedule::default_for(revision).unwrap();
            cheapest(find("modexp").unwrap(), revision, &schedule).is_ok()
        })
        .collect();
    let base = Compiled::new(Revision::Eip6690_2024);
    let compiled = revisions.iter().map(|&revision| (revision, Compiled::new(revision)));
    let is_shown = |(revision, compiled): &(Revision, Compiled)| {
        revision.experiments().is_empty() || compiled.code != base.code && revision.prefix().is_none()
    };
    let (revisions, contracts): (Vec<Revision>, Vec<Compiled>) = compiled.filter(is_shown).unzip();
    let names: Vec<String> = revisions.iter().map(|revision| format!("`{revision}`")).collect();
    let mut text = format!("| modulus | price | {} |\n|---|---:|{}\n", names.join(" | "), "---:|".repeat(names.len()));
    for (bits, low) in
        [256, 512, 768, 1024, 2048, 3072, 4096, 8192].into_iter().flat_map(|bits| [(bits, 0xfb), (bits, 0xf8)])
    {
        let [base, modulus] = numbers(bits, low);
        let rows: Vec<Row> = contracts.iter().map(|contract| contract.row(&input(&base, &F4, &modulus))).collect();
        let cells: Vec<String> =
            rows.iter().map(|row| format!("{} ({})", grouped(row.gas), ratio(row.gas, row.price))).collect();
        let parity = if low % 2 == 0 { "even" } else { "odd" };
        writeln!(text, "| {bits} bits, {parity} | {} | {} |", grouped(rows[0].price), cells.join(" | ")).unwrap();
    }
    let sizes: Vec<String> = contracts.iter().map(|contract| grouped(contract.code.len() as u64)).collect();
    writeln!(text, "| code, bytes | | {} |", sizes.join(" | ")).unwrap();
    text
}

/// The largest ratios up to 768 bits, by what the numbers are like.
fn dearest() -> String {
    let contract = Compiled::new(Revision::Eip6690_2024);
    let mut text =
        String::from("| modulus, bytes | odd: ratio | exponent | even: ratio | exponent |\n|---:|---:|---|---:|---|\n");
    let one = |bits: usize| (BigUint::from(1u8) << bits) - 1u8;
    let mut exponents: Vec<(String, Vec<u8>)> =
        [0u32, 1, 2, 3, 15, 16, 17, 65537].map(|e| (e.to_string(), BigUint::from(e).to_bytes_be())).to_vec();
    exponents.extend(
        [8, 9, 12, 16, 17, 25, 32, 33, 41, 49, 64, 65, 128, 129, 192, 255, 256]
            .map(|bits| (format!("2^{bits} − 1"), one(bits).to_bytes_be())),
    );
    exponents.extend([32, 64, 128, 255].map(|bits| (format!("2^{bits}"), (one(bits) + 1u8).to_bytes_be())));
    exponents.push(("3 in 32 bytes".into(), [vec![0; 31], vec![3]].concat()));
    exponents.push(("3 in 33 bytes".into(), [vec![0; 32], vec![3]].concat()));
    exponents.push(("2^384 − 1".into(), one(384).to_bytes_be()));
    exponents.push(("2^2048 − 1".into(), one(2048).to_bytes_be()));
    for bytes in [1, 16, 31, 32, 33, 48, 64, 65, 80, 96] {
        let mut cells = Vec::new();
        for low in [0xfb, 0xf8] {
            let rows = exponents.iter().flat_map(|(name, exponent)| {
                let [base, modulus] = numbers(8 * bytes, low);
                let long = [[5; 64].as_slice(), &base].concat();
                [(name.clone(), base), (format!("{name}, base longer"), long)].map(|(name, base)| {
                    let row = contract.row(&input(&base, exponent, &modulus));
                    (row.gas as f64 / row.price as f64, ratio(row.gas, row.price), name)
                })
            });
            let (_, ratio, name) = rows.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            cells.push(format!("{ratio} | {name}"));
        }
        writeln!(text, "| {bytes} | {} |", cells.join(" | ")).unwrap();
    }
    text
}

/// An exponent of so many bits: all of them 1, every second one, one in five, at random, or the first alone.
fn patterns(bits: usize) -> impl Iterator<Item = BigUint> {
    let one = BigUint::from(1u8);
    let every = move |distance: usize| {
        (0..bits).step_by(distance).fold(BigUint::ZERO, |sum, at| sum + (BigUint::from(1u8) << (bits - 1 - at)))
    };
    let first = &one << (bits - 1);
    let random = BigUint::from_bytes_be(&full(256)) % &first + &first;
    [1, 2, 5].map(every).into_iter().chain([random, first])
}

/// [`numbers`], with an odd base, which is the dearer one modulo a power of two.
fn dear_numbers(bits: usize, low: u8) -> [Vec<u8>; 2] {
    let [mut base, modulus] = numbers(bits, low);
    base[bits / 8 - 1] |= 1;
    [base, modulus]
}

/// Gas of the dearest exponent of so many bits, and the price.
fn dearest_of(contract: &Compiled, bits: usize, [base, modulus]: &[Vec<u8>; 2], exponent_bytes: usize) -> (u64, u64) {
    let rows = patterns(bits).map(|exponent| {
        let digits = exponent.to_bytes_be();
        let exponent = [vec![0; exponent_bytes.saturating_sub(digits.len())], digits].concat();
        let row = contract.row(&input(base, &exponent, modulus));
        (row.gas, row.price)
    });
    rows.max().unwrap()
}

/// Calls of 32 bytes each by the length of the exponent.
fn lengths() -> String {
    let contract = Compiled::new(Revision::Eip6690_2024);
    let mut text = String::from(
        "| bits of the exponent | price | odd: gas | ratio | even: gas | ratio |\n|---:|---:|---:|---:|---:|---:|\n",
    );
    for bits in [2, 4, 8, 9, 16, 17, 24, 32, 33, 40, 48, 56, 62, 63, 64, 80, 96, 112, 128, 129, 154, 160, 192, 224, 256]
    {
        let [odd, even] = [0xfb, 0xf8].map(|low| dearest_of(&contract, bits, &dear_numbers(256, low), 32));
        let cells = [odd, even].map(|(gas, price)| format!("{} | {}", grouped(gas), ratio(gas, price)));
        writeln!(text, "| {bits} | {} | {} |", grouped(odd.1), cells.join(" | ")).unwrap();
    }
    text
}

/// Bit lengths from which on exponents cost no more than the price, as the page states.
#[test]
#[ignore = "it takes long: by name, and in CI"]
fn exponents_that_cost_no_more_than_the_price() {
    let contract = Compiled::new(Revision::Eip6690_2024);
    let holds = |numbers: &[Vec<u8>; 2], bits: std::ops::RangeInclusive<usize>, exponent_bytes: usize| {
        for bits in bits {
            let (gas, price) = dearest_of(&contract, bits, numbers, exponent_bytes);
            let bytes = numbers[1].len();
            assert!(gas <= price, "{bits} bits modulo {bytes} bytes: {gas} of {price}");
        }
    };
    // Bytes of modulus and base and of the exponent, 0 for no more than it needs, and bits from which on it costs no more: modulo odd and even numbers.
    for (bytes, exponent_bytes, from) in [
        (32, 32, [63, 122]),
        (31, 31, [78, 132]),
        (48, 0, [16, 44]),
        (64, 0, [9, 25]),
        (96, 0, [5, 12]),
        (33, 0, [38, 69]),
        (40, 0, [38, 69]),
        (80, 0, [10, 19]),
    ] {
        for (low, from) in [0xfb, 0xf8].into_iter().zip(from) {
            let numbers = dear_numbers(8 * bytes, low);
            holds(&numbers, from..=8 * exponent_bytes.max(32), exponent_bytes);
            let (gas, price) = dearest_of(&contract, from - 1, &numbers, exponent_bytes);
            assert!(
                gas > price,
                "{} bits modulo {bytes} bytes: {gas} of {price}, so the page says too little",
                from - 1
            );
        }
    }
    for low in [0xfb, 0xf8] {
        holds(&dear_numbers(256, low), 1..=8, 32);
        holds(&dear_numbers(248, low), 1..=2, 31);
    }
    for (bytes, from) in [(48, 16), (64, 9), (96, 5)] {
        holds(&dear_numbers(8 * bytes, 0xfb), from..=256, 32);
    }
    for bytes in [32, 48, 64, 96] {
        let [base, modulus] = dear_numbers(8 * bytes, 0xfb);
        for exponent in [F4.to_vec(), [vec![0; 29], F4.to_vec()].concat()] {
            let row = contract.row(&input(&base, &exponent, &modulus));
            assert!(row.gas <= row.price, "65537 modulo {bytes} bytes: {} of {}", row.gas, row.price);
        }
    }
}

/// A row's modulus and exponent in words, and its input.
type Named = (String, String, Vec<u8>);

/// Gas of a contract in code of any length and in code that an account holds.
fn in_an_account(name: &str, rows: &[Named]) -> String {
    let revision = Revision::Eip6690_2024;
    let forms = [Length::Full, Length::Short].map(|length| Compiled::of(revision, code(name, revision, length)));
    let bytes = forms.each_ref().map(|form| form.code.len());
    assert!(bytes[1] <= 24_576, "{bytes:?}");
    let mut text = String::from(
        "| modulus | exponent | price | gas | ratio | in an account: gas | ratio |\n|---|---|---:|---:|---:|---:|---:|\n",
    );
    for (modulus, exponent, input) in rows {
        let rows = forms.each_ref().map(|form| form.row(input));
        assert!(name == "modexp" || rows.iter().all(|row| row.split.arithmetic == 0));
        let numbers = rows.each_ref().map(|row| format!("{} | {}", grouped(row.gas), ratio(row.gas, row.price)));
        writeln!(text, "| {modulus} | {exponent} | {} | {} |", grouped(rows[0].price), numbers.join(" | ")).unwrap();
    }
    let [any, in_account] = bytes.map(|bytes| grouped(bytes as u64));
    writeln!(text, "| code, bytes | | | {any} | | {in_account} | |").unwrap();
    text
}

/// Exponents of 32 bytes modulo 32 bytes.
fn in_a_word(bits: &[usize], low: u8) -> Vec<Named> {
    let [base, modulus] = numbers(256, low);
    let named = |bits: usize| {
        let exponent = full(bits);
        let exponent = [vec![0; 32 - exponent.len()], exponent].concat();
        ("256 bits".to_owned(), format!("{bits} bits, in 32 bytes"), input(&base, &exponent, &modulus))
    };
    bits.iter().map(|&bits| named(bits)).collect()
}

/// Short exponents modulo 32 bytes, in 32 bytes and in as many as they have.
fn short_in_a_word(exponents: &[(&str, &[u8])]) -> Vec<Named> {
    let [base, modulus] = numbers(256, 0xfb);
    let named = |name: String, exponent: &[u8]| ("256 bits".to_owned(), name, input(&base, exponent, &modulus));
    let both = |&(name, exponent): &(&str, &[u8])| {
        let in_a_word = [vec![0; 32 - exponent.len()], exponent.to_vec()].concat();
        [named(format!("{name}, in 32 bytes"), &in_a_word), named(name.to_owned(), exponent)]
    };
    exponents.iter().flat_map(both).collect()
}

/// The exponent 65537, or one as long as the modulus, modulo numbers of so many bits.
fn of_lengths(bits: &[usize], low: u8, is_long: bool) -> Vec<Named> {
    let named = |&bits: &usize| {
        let [base, modulus] = numbers(bits, low);
        let (name, exponent) = if is_long { ("as long", full(bits)) } else { ("65537", F4.to_vec()) };
        let parity = if low.is_multiple_of(2) { ", even" } else { "" };
        (format!("{bits} bits{parity}"), name.to_owned(), input(&base, &exponent, &modulus))
    };
    bits.iter().map(named).collect()
}

/// Gas without field instructions.
fn words() -> String {
    let bn254 = Bn254Fp::modulus();
    let inverse = (&bn254 - 2u8).to_bytes_be();
    let [base, modulus] = numbers(256, 0xfb);
    let rows = [
        vec![("p of BN254".to_owned(), "p − 2".to_owned(), input(&[3; 32], &inverse, &bn254.to_bytes_be()))],
        short_in_a_word(&[("3", &[3]), ("17", &[17]), ("65537", &F4)]),
        in_a_word(&[32, 64, 128, 256], 0xfb),
        vec![("256 bits".to_owned(), "512 bits".to_owned(), input(&base, &full(512), &modulus))],
        of_lengths(&[512, 1024, 2048, 3072, 4096, 8192], 0xfb, false),
        of_lengths(&[1024, 2048], 0xfb, true),
    ];
    in_an_account("modexp/words", &rows.concat())
}

/// Gas with them.
fn account() -> String {
    let rows = [
        short_in_a_word(&[("3", &[3]), ("65537", &F4)]),
        in_a_word(&[32, 64, 128, 256], 0xfb),
        of_lengths(&[256], 0xf8, true),
        of_lengths(&[512, 768, 1024, 2048, 3072, 4096, 8192], 0xfb, false),
        of_lengths(&[1024], 0xf8, false),
        of_lengths(&[384, 512, 768, 1024, 2048], 0xfb, true),
    ];
    in_an_account("modexp", &rows.concat())
}

/// Gas in linked form, for `evm`: of the first call in a transaction, and of later ones.
#[test]
fn the_table_of_the_linked_form_is_what_it_costs() {
    let revision = Revision::Evm;
    let linked = LinkedCode::new("modexp/words", revision);
    let engines = [false, true].map(|is_warm| linked.engine(revision, is_warm));
    let mut text = String::from("| modulus | exponent | gas, cold | warm |\n|---|---|---:|---:|\n");
    let mut add = |bits: usize, low: u8, name: &str, exponent: &[u8]| {
        let [base, modulus] = numbers(bits, low);
        let input = input(&base, exponent, &modulus);
        let native = native(find("modexp").unwrap(), &input).unwrap().unwrap();
        let gas = engines.each_ref().map(|engine| {
            let ended = engine.run_code(&linked.code, &input, GAS);
            assert_eq!((ended.halt, ended.output), (Halt::Return, native.output.clone()));
            ended.gas_used
        });
        let parity = if low.is_multiple_of(2) { ", even" } else { "" };
        writeln!(text, "| {bits} bits{parity} | {name} | {} | {} |", grouped(gas[0]), grouped(gas[1])).unwrap();
        gas
    };
    add(256, 0xfb, "as long", &full(256));
    add(512, 0xfb, "65537", &F4);
    add(1024, 0xfb, "65537", &F4);
    let [_, warm] = add(2048, 0xfb, "65537", &F4);
    assert!(warm <= 95_000, "RSA of 2048 bits takes {warm} gas");
    add(2048, 0xf8, "65537", &F4);
    for bits in [3072, 4096, 8192] {
        add(bits, 0xfb, "65537", &F4);
    }
    for bits in [1024, 2048] {
        add(bits, 0xfb, "as long", &full(bits));
    }
    residue_pages::hold("docs/modexp.md", "linked", &text);
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_tables_are_what_the_contract_costs() {
    for (name, table) in [
        ("split", split()),
        ("revisions", revisions()),
        ("dearest", dearest()),
        ("lengths", lengths()),
        ("words", words()),
        ("account", account()),
    ] {
        residue_pages::hold("docs/modexp.md", name, &table);
    }
}
