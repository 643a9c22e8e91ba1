//! The schedules that come with the program hold the published prices, and a wrong schedule is refused with its place.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use proptest::prelude::*;
use residue_isa::Revision::{self, Eip6690_2024, Evm384V7};
use residue_isa::{Family, FieldOp, FormPrice, GasSchedule, PerOp, Price};

const EIP6690: &str = include_str!("../schedules/eip6690.toml");
/// A schedule of one revision.
const EVMONE: &str = include_str!("evmone.toml");

fn gas(price: Option<Price>) -> u64 {
    let price = price.unwrap();
    assert!(price.is_whole());
    price.whole()
}

#[track_caller]
fn check_error(text: &str, line: usize, words: &str) {
    let message = GasSchedule::from_toml(text, "my.toml").unwrap_err().to_string();
    assert!(message.starts_with(&format!("my.toml:{line}: ")), "{message}");
    assert!(message.contains(words), "{message}");
}

/// The bundled text with one piece replaced, which must be there.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn every_revision_has_its_schedules_and_its_default() {
    let of_update_5 = ["model-a", "model-b"]
        .map(|model| ["", "-pushdup2", "-repriced", "-fractional"].map(|variant| format!("{model}{variant}")));
    let of_update_5 = of_update_5.concat();
    assert_eq!(
        GasSchedule::names(Evm384V7),
        [&["evmone", "geth", "geth-logf", "eip"].map(str::to_owned), &of_update_5[..]].concat()
    );
    assert_eq!(
        GasSchedule::names(Revision::Evm384V9),
        [&["evmone", "eip"].map(str::to_owned), &of_update_5[..]].concat()
    );
    assert_eq!(GasSchedule::names(Revision::X383), ["evmone", "evmone-fractional", "model-b-fractional"]);
    assert_eq!(GasSchedule::names(Revision::Evm384V10), ["geth"]);
    assert_eq!(GasSchedule::names(Revision::Evm384V12), ["evmcurves", "evmcurves-shr0"]);
    for revision in ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v8"] {
        assert_eq!(GasSchedule::names(format!("evm384-{revision}").parse().unwrap()), ["evmone"]);
    }
    assert_eq!(GasSchedule::names(Eip6690_2024), ["eip6690", "geth"]);
    for revision in [Revision::Eip5843, Revision::Geth5843] {
        assert_eq!(GasSchedule::names(revision), ["r5", "r2", "r1"]);
    }
    for &revision in Revision::ALL {
        let default = GasSchedule::default_for(revision).unwrap();
        assert_eq!((default.name(), default.family()), (revision.default_schedule(), revision.family()));
        for name in GasSchedule::names(revision) {
            let schedule = GasSchedule::named(&name, revision).unwrap();
            assert!(schedule.is_for(revision) && !schedule.summary().is_empty());
            assert_eq!(schedule.is_metered_exactly(), !name.ends_with("-fractional"));
            assert_eq!(GasSchedule::from_toml(&schedule.to_toml(), "again"), Ok(schedule));
        }
    }
    assert_eq!(GasSchedule::named("Geth", Revision::Evm384V10), GasSchedule::named("geth", Revision::Evm384V10));
    let message = GasSchedule::named("gath", Revision::Evm384V10).unwrap_err().to_string();
    assert_eq!(message, "unknown gas schedule for evm384-v10 \"gath\"; known are geth");
    let message = GasSchedule::named("eip6690", Revision::Evm384V10).unwrap_err().to_string();
    assert_eq!(message, "the gas schedule eip6690 is not for evm384-v10; those for it are geth");
}

#[test]
fn evm384_prices_are_the_published_ones() {
    for (name, prices) in [
        ("evmone", [8, 8, 24]),
        ("eip", [3, 3, 6]),
        ("model-a", [2, 2, 6]),
        ("model-a-pushdup2", [2, 2, 6]),
        ("model-a-repriced", [2, 2, 5]),
        ("model-b", [1, 1, 3]),
        ("model-b-pushdup2", [1, 1, 3]),
        ("model-b-repriced", [1, 1, 3]),
    ] {
        let schedule = GasSchedule::named(name, Evm384V7).unwrap();
        let mnemonics = ["ADDMOD384", "SUBMOD384", "MULMODMONT384"];
        for ((operation, mnemonic), price) in FieldOp::ALL.into_iter().zip(mnemonics).zip(prices) {
            assert_eq!(gas(schedule.base(mnemonic)), price, "{name}");
            assert_eq!(schedule.arithmetic(operation, 6), Price::from_gas(price));
            assert_eq!(schedule.instruction(operation, 6, 1), Price::from_gas(price));
        }
        assert_eq!(gas(schedule.base("LOGF")), 1);
        assert_eq!(schedule.base("MULMODX"), None);
        assert_eq!(schedule.set_modulus(6), Price::ZERO);
    }
}

#[test]
fn repriced_and_fractional_models_price_the_evm_too() {
    let prices = |name: &str| {
        let schedule = GasSchedule::named(name, Revision::Evm384V9).unwrap();
        let overrides: Vec<_> = schedule.evm_overrides().collect();
        let of = |opcode: u8| overrides.iter().find(|(found, _)| *found == opcode).map_or(3000, |(_, price)| price.0);
        let base = ["ADDMOD384", "SUBMOD384", "MULMODMONT384"].map(|mnemonic| schedule.base(mnemonic).unwrap().0);
        // PUSH16, DUP1, MSTORE, MLOAD.
        (base, [0x6f, 0x80, 0x52, 0x51].map(of))
    };
    assert_eq!(prices("model-a-pushdup2"), ([2000, 2000, 6000], [2000, 2000, 3000, 3000]));
    assert_eq!(prices("model-a-repriced"), ([2000, 2000, 5000], [1000; 4]));
    assert_eq!(prices("model-a-fractional"), ([1100, 1100, 5000], [900, 700, 800, 1000]));
    assert_eq!(prices("model-b-fractional"), ([800, 700, 3000], [900, 700, 800, 1000]));
}

/// Beside version 9 of EVM384 under the schedule of the same name, or what it is named after.
#[test]
fn products_modulo_383_bits_cost_a_fortieth_less_and_nothing_else_does() {
    for name in ["evmone", "evmone-fractional", "model-b-fractional"] {
        let short = GasSchedule::named(name, Revision::X383).unwrap();
        let of = if name == "evmone-fractional" { "evmone" } else { name };
        let any = GasSchedule::named(of, Revision::Evm384V9).unwrap();
        assert!(short.evm_overrides().eq(any.evm_overrides()), "{name}");
        for (mnemonic, thousandths) in [("ADDMOD384", 1000), ("SUBMOD384", 1000), ("MULMODMONT384", 975)] {
            let [short, any] = [&short, &any].map(|schedule| schedule.base(mnemonic).unwrap());
            assert_eq!(short.0 * 1000, any.0 * thousandths, "{name}, {mnemonic}");
        }
    }
    let whole = |revision| GasSchedule::default_for(revision).unwrap().base("MULMODMONT384").unwrap().whole();
    assert_eq!(whole(Revision::X383), whole(Revision::Evm384V9));
}

#[test]
fn eip6690_prices_are_the_tables_of_the_text() {
    let t1 = [23, 26, 29, 32, 36, 39, 42, 45, 48, 51, 54, 58];
    let t2 = [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2];
    let t3 = [1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 12];
    let schedule = GasSchedule::named("eip6690", Eip6690_2024).unwrap();
    assert_eq!(schedule.family(), Family::Slots);
    for (mnemonic, base) in
        [("SETMODX", 1), ("LOADX", 1), ("STOREX", 1), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)]
    {
        assert_eq!(gas(schedule.base(mnemonic)), base, "{mnemonic}");
    }
    for (index, ((t1, t2), t3)) in t1.into_iter().zip(t2).zip(t3).enumerate() {
        let width_limbs = index + 1;
        assert_eq!(schedule.set_modulus(width_limbs), Price::from_gas(t1));
        assert_eq!(schedule.arithmetic(FieldOp::Add, width_limbs), Price::from_gas(t2));
        assert_eq!(schedule.arithmetic(FieldOp::Sub, width_limbs), Price::from_gas(t2));
        assert_eq!(schedule.arithmetic(FieldOp::Mul, width_limbs), Price::from_gas(t3));
        assert_eq!(schedule.transfer_per_value(width_limbs), Price::from_gas(t3));
        assert_eq!(schedule.instruction(FieldOp::Mul, width_limbs, 255), Price::from_gas(255 * t3));
    }
    assert_eq!(schedule.transfer_per_word(), Price::from_gas(3));
}

#[test]
fn prices_by_width_follow_the_published_formulas() {
    use Revision::*;
    let at = |revision, name: &str, width_limbs| GasSchedule::named(name, revision).unwrap().at_width(width_limbs);
    let gas = |price: Price| price.0 / 1000;
    for (revision, name, width_limbs, [set, add, mul, load, store]) in [
        (Eip5843, "r5", 6, [98, 2, 4, 4, 4]),
        (Geth5843, "r5", 16, [136, 4, 26, 26, 26]),
        (Eip5843, "r2", 3, [114, 1, 1, 1, 1]),
        (Geth5843, "r2", 16, [147, 4, 24, 24, 24]),
        (Eip5843, "r1", 1, [110, 0, 0, 0, 0]),
        (Geth5843, "r1", 16, [147, 3, 24, 24, 24]),
        (Eip6690_2024, "geth", 6, [42, 1, 3, 3, 3]),
        (Eip6601, "eip6601", 6, [0, 1, 2, 2, 2]),
        (Eip6690_2023, "eip6601", 7, [0, 2, 5, 5, 5]),
        (Eip6690_2023, "eip6601", 50, [0, 10, 230, 230, 230]),
        (Eip6601, "eip6601", 64, [0, 13, 370, 370, 370]),
        (Geth6601, "geth6601", 6, [0, 1, 2, 0, 0]),
        (Evmone2023, "evmone", 1, [6, 0, 1, 1, 1]),
        (Evmone2023, "evmone", 6, [11, 1, 4, 4, 4]),
        (Eip7747, "eip7747", 6, [52, 2, 4, 4, 0]),
        (Eip7747, "eip7747", 12, [76, 3, 13, 13, 0]),
        (Evmone2025, "evmone", 8, [13, 2, 6, 6, 6]),
        (EvmoneBits, "evmone", 4, [9, 1, 2, 2, 2]),
    ] {
        let prices = at(revision, name, width_limbs);
        let found = [
            prices.set_modulus,
            prices.arithmetic[FieldOp::Add],
            prices.arithmetic[FieldOp::Mul],
            prices.load,
            prices.store,
        ]
        .map(gas);
        assert_eq!(found, [set, add, mul, load, store], "{revision} {name} {width_limbs}");
        assert_eq!(prices.arithmetic[FieldOp::Add], prices.arithmetic[FieldOp::Sub]);
    }
    assert_eq!(gas(at(Evmone2025, "evmone", 6).forms[FormPrice::Invert]), 40);
    let narrow = at(EvmoneBits, "evmone", 0);
    assert_eq!((narrow.set_modulus, narrow.arithmetic), (Price(5000), PerOp([50, 50, 60]).map(Price)));
    let bits = GasSchedule::named("evmone", EvmoneBits).unwrap();
    assert!(bits.rounds_instructions() && bits.has_narrow() && !bits.is_whole() && bits.is_metered_exactly());
}

#[test]
fn fractions_are_exact_as_numbers_and_as_strings() {
    let text = changed(EVMONE, "ADDMOD384 = 8", "ADDMOD384 = 1.1");
    let text = changed(&text, "SUBMOD384 = 8", "SUBMOD384 = \"0.007\"");
    let schedule = GasSchedule::from_toml(&text, "my.toml").unwrap();
    assert_eq!(schedule.base("ADDMOD384"), Some(Price(1100)));
    assert_eq!(schedule.base("SUBMOD384"), Some(Price(7)));
    assert!(!schedule.is_whole());
    assert_eq!(GasSchedule::from_toml(&schedule.to_toml(), "again"), Ok(schedule));
}

#[test]
fn evm_overrides_price_groups_and_single_opcodes() {
    let text = format!("{EVMONE}\n[evm]\nPUSH = 0.9\nPUSH2 = 1\nDUP = 2\nMLOAD = 1\n");
    let schedule = GasSchedule::from_toml(&text, "my.toml").unwrap();
    let overrides: Vec<_> = schedule.evm_overrides().collect();
    assert_eq!(overrides.len(), 1 + 32 + 16);
    assert!(overrides.is_sorted());
    let price = |opcode: u8| overrides.iter().find(|(found, _)| *found == opcode).map(|(_, price)| *price);
    assert_eq!([0x51, 0x60, 0x61, 0x7f, 0x80].map(price), [1000, 900, 1000, 900, 2000].map(|milli| Some(Price(milli))));
    assert_eq!([0x5f, 0x90, 0x52].map(price), [None; 3]);
    assert_eq!(GasSchedule::from_toml(&schedule.to_toml(), "again"), Ok(schedule.clone()));
    check_error(
        &format!("{EVMONE}\n[evm]\nMULMODX = 1\n"),
        13,
        "unknown key \"MULMODX\"; known here are PUSH, DUP, SWAP, LOG and every",
    );
    check_error(&format!("{EVMONE}\n[evm]\nMLOAD = -2\n"), 13, "MLOAD = -2: a price is not negative");
}

#[test]
fn wrong_prices_name_file_line_and_value() {
    let with = |value: &str| changed(EVMONE, "SUBMOD384 = 8", &format!("SUBMOD384 = {value}"));
    for (value, words) in [
        ("-1", "SUBMOD384 = -1: a price is not negative"),
        ("-0.5", "SUBMOD384 = -0.5: a price is not negative"),
        ("1.0001", "SUBMOD384 = 1.0001: a price has at most three decimals"),
        ("\"0.1234\"", "SUBMOD384 = \"0.1234\": a price has at most three decimals"),
        ("4294967296", "SUBMOD384 = 4294967296: a price is at most 4294967295"),
        ("1e3", "SUBMOD384 = 1e3: a price is a decimal number"),
        ("nan", "SUBMOD384 = nan: a price is a decimal number"),
        ("\"30 ns\"", "SUBMOD384 = \"30 ns\": a price is in gas and has no unit, and here ns stands after"),
        ("\"0.25gas\"", "a price is in gas and has no unit, and here gas stands after"),
        ("\"5 %\"", "here % stands after"),
        ("\"cheap\"", "SUBMOD384 = \"cheap\": a price is a decimal number"),
        ("true", "SUBMOD384 = true: expected a price"),
        ("[8]", "SUBMOD384 = [8]: expected a price"),
        ("0x08", "SUBMOD384 = 0x08: expected a price"),
    ] {
        check_error(&with(value), 8, words);
    }
}

#[test]
fn missing_and_unknown_keys_are_errors() {
    check_error("", 1, "name is missing");
    check_error(&changed(EVMONE, "SUBMOD384 = 8\n", ""), 6, "base.SUBMOD384 is missing");
    check_error(
        &changed(EVMONE, "SUBMOD384", "SUBMOD385"),
        8,
        "unknown key \"SUBMOD385\"; known here are ADDMOD384, SUBMOD384",
    );
    check_error(&changed(EVMONE, "[base]", "[bass]"), 6, "unknown key \"bass\"");
    check_error(&changed(EVMONE, "name = \"evmone\"", "name = 3"), 2, "name = 3: expected a string");
    check_error(&changed(EVMONE, "[base]\n", "[base\n"), 6, "");
    check_error(&changed(EVMONE, "LOGF = 1", "LOGF = 1\nLOGF = 2"), 11, "duplicate key");
    check_error(&format!("{EVMONE}\n[per_width]\nadd = [1]\n"), 12, "unknown key \"per_width\"");
    check_error(&changed(EIP6690, "add = ", "plus = "), 18, "unknown key \"plus\"");
    check_error(&changed(EIP6690, "transfer = 3", ""), 24, "per_word.transfer is missing");
}

#[test]
fn wrong_revisions_are_errors() {
    let with = |list: &str| changed(EVMONE, "[\"evm384-v7\"]", list);
    check_error(&with("[]"), 4, "revisions = []: expected a list of one or more names");
    check_error(&with("\"evm384-v7\""), 4, "expected a list");
    check_error(&with("[\"evm384-v7\",\n7]"), 5, "revisions = 7: expected a list");
    check_error(&with("[\"evm385\"]"), 4, "unknown revision \"evm385\"");
    check_error(&with("[\"evm384-v7\",\n\"eip6690-2024\"]"), 5, "evm384-v7 and eip6690-2024 differ");
}

#[test]
fn tables_cover_every_width_exactly() {
    let short = changed(EIP6690, "[1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]", "[1, 1]");
    check_error(&short, 18, "add has 2 prices; expected 12");
    let long = changed(EIP6690, "8, 10, 12]", "8, 10, 12, 13]");
    check_error(&long, 20, "mul has 13 prices; expected 12");
    let negative = changed(EIP6690, "[23, 26,", "[23,\n-26,");
    check_error(&negative, 18, "set_modulus = -26: a price is not negative");
}

proptest! {
    #[test]
    fn no_text_panics(at in any::<prop::sample::Index>(), byte in any::<char>(), cut in 0..4_usize) {
        for text in [EIP6690, EVMONE] {
            let mut characters: Vec<char> = text.chars().collect();
            let at = at.index(characters.len());
            let end = (at + cut).min(characters.len());
            characters.splice(at..end, [byte]);
            let text: String = characters.into_iter().collect();
            if let Ok(schedule) = GasSchedule::from_toml(&text, "mutated") {
                prop_assert_eq!(GasSchedule::from_toml(&schedule.to_toml(), "again"), Ok(schedule));
            }
        }
    }
}

/// The experiment with prices by vector takes no more than the EIP for any number of lanes, and the same for wider moduli.
#[test]
fn no_instruction_is_dearer_as_a_vector() {
    let eip = GasSchedule::named("eip6690", Revision::Eip6690_2024).unwrap();
    let vector = GasSchedule::named("vector", Revision::XVectorx).unwrap();
    for operation in FieldOp::ALL {
        for (width_limbs, count) in (1..=12).flat_map(|width| (1..=255).map(move |count| (width, count))) {
            let [before, after] =
                [&eip, &vector].map(|schedule| schedule.instruction(operation, width_limbs, count).whole());
            assert!(after <= before, "{operation}, {width_limbs} limbs, {count} lanes");
            assert!(width_limbs == 1 || after == before);
        }
    }
}
