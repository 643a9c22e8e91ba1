//! Sentences with numbers in README and docs agree with the records.

use residue_lab::{Quantity, Record};

/// The machine that README names.
pub const ZEN5: &str = "amd-epyc-zen5-2c";

/// A record that sentences quote.
pub struct Quoted {
    /// Path as written in documents.
    path: String,
    pub record: Record,
}

impl Quoted {
    /// The newest record of a group on a machine.
    pub fn newest(machine: &str, group: &str) -> Self {
        let directory = residue_pages::path("records").join(machine);
        let files = directory.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let file = files.filter(|name| name.ends_with(&format!("-{group}.csv"))).max().unwrap();
        let record = Record::read(&directory.join(&file)).unwrap();
        Self { path: format!("records/{machine}/{file}"), record }
    }

    /// The median ratio of a subject's time to the precompile's.
    pub fn of_precompile(&self, subject: &str) -> String {
        let row = self.record.find(subject, Quantity::Time, Some("precompile")).unwrap();
        format!("{:.2}", row.spread.median)
    }

    /// The median time of a subject in milliseconds.
    fn milliseconds(&self, subject: &str) -> String {
        let row = self.record.find(subject, Quantity::Time, None).unwrap();
        format!("{:.2}", row.spread.median / 1e6)
    }
}

#[track_caller]
fn check(document: &str, sentence: &str) {
    assert!(residue_pages::quotes(&residue_pages::read(document), sentence), "{document} should say: {sentence}");
}

#[test]
fn the_readme_quotes_the_records_of_the_pairing() {
    let [zen5, zen4] = [ZEN5, "amd-epyc-zen4-2c"].map(|machine| Quoted::newest(machine, "pairing"));
    let subjects = ["eip6690-2024:batch/pairing/2", "evm384-v7:batch/pairing/2", "eip6690-2024:batch/pairing/8"];
    let [two, memory, eight] = subjects.map(|subject| zen5.of_precompile(subject));
    check(
        "README.md",
        &format!(
            "the check takes {two} (`eip6690-2024`) and {memory} (`evm384-v7`) of the precompile's time, and with eight pairs {eight}, by `{}`",
            zen5.path
        ),
    );
    let [two, memory, eight] = subjects.map(|subject| zen4.of_precompile(subject));
    check("README.md", &format!("on a Zen 4, whose vector products are narrower, {two}, {memory} and {eight}."));
}

#[test]
fn the_page_for_clients_quotes_the_record_of_elements() {
    let quoted = Quoted::newest(ZEN5, "elements");
    check("docs/eip/implementing.md", &format!("by `{}`, in ns", quoted.path));
    for (name, operation, price) in [
        ("a sum", "fp-add", "10"),
        ("a product", "fp-mul", "30"),
        ("an inverse, and a sum", "fp-inverse", "2 160"),
        ("a product in Fp2", "fp2-mul", "100"),
    ] {
        let time = |layer: &str| {
            let row = quoted.record.find(&format!("{layer}/{operation}/381"), Quantity::Time, None).unwrap();
            match row.spread.median {
                median if median < 100.0 => format!("{median:.1}"),
                median => residue_pages::grouped(format!("{median:.0}").parse().unwrap()),
            }
        };
        let [go, unrolled, assembly, blst] = ["go", "gnark:purego", "gnark", "blst"].map(time);
        check("docs/eip/implementing.md", &format!("| {name} | {go} | {unrolled} | {assembly} | {blst} | {price} |"));
    }
}

#[test]
fn the_page_of_interfaces_quotes_the_record_of_the_pairing() {
    let quoted = Quoted::newest(ZEN5, "pairing");
    let subjects = [
        "evm384-v7:batch/pairing/2",
        "eip6690-2024:batch/pairing/2",
        "evm384-v7:plain/pairing/2",
        "eip6690-2024:plain/pairing/2",
        "precompile/pairing/2",
    ];
    let [memory, slots, plain_memory, plain_slots, precompile] = subjects.map(|subject| quoted.milliseconds(subject));
    check(
        "docs/interfaces.md",
        &format!(
            "Measured ([records](../{}), medians): the check of two pairs takes {memory} ms on `evm384-v7` and {slots} ms on \
             `eip6690-2024` with the batch engine, {plain_memory} and {plain_slots} ms without it, where the precompile takes {precompile} ms.",
            quoted.path,
        ),
    );
}
