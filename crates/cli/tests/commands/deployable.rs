//! `residue address` and `residue catalogue`: addresses follow from the bytes alone, and the catalogue says what the bytes are today.

use std::fs;
use std::path::Path;

use residue_engine::revm::primitives::{Address, B256, keccak256};
use residue_pages::{grouped, hold};
use serde_json::Value;

use crate::support::{directory, file, residue};

const SMALL: &str = "bn254/add";

/// The catalogue of this version.
fn catalogue_path() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/catalogue.json").to_str().unwrap().to_owned()
}

#[test]
fn an_address_follows_from_the_creation_code() {
    let told = residue(&["address", SMALL, "--json"]).json(0);
    let creation = residue(&["build", SMALL, "--revision", "evm", "--format", "creation"]);
    let creation = hex::decode(&creation.text().trim()[2..]).unwrap();
    // EIP-1014: the last 20 bytes of keccak256(0xff ++ factory ++ salt ++ keccak256(creation code)).
    let factory: Address = "0x4e59b44847b379578588920ca78fbf26c0b4956c".parse().unwrap();
    let text = [&[0xff], factory.as_slice(), &[0; 32], keccak256(&creation).as_slice()].concat();
    let expected = Address::from_slice(&keccak256(text)[12..]);
    assert_eq!(told["address"], expected.to_checksum(None));
    assert_eq!(residue(&["address", SMALL]).text().trim(), expected.to_checksum(None));
    assert_eq!(told["creation_hash"], keccak256(&creation).to_string());
    // Everything that changes the code or the salt changes the address.
    let salt = B256::with_last_byte(1).to_string();
    for other in [&["--salt", &salt][..], &["--fork", "london"], &["--use-precompiles"], &["--revision", "evmone-2023"]]
    {
        assert_ne!(residue(&[&["address", SMALL, "--json"], other].concat()).json(0)["address"], told["address"]);
    }
}

#[test]
fn what_no_account_holds_has_no_address() {
    residue(&["address", "secp521r1/verify"]).refused(&[
        "secp521r1/verify",
        "bytes of code",
        "24576 bytes (EIP-170, osaka)",
    ]);
    residue(&["address", SMALL, "--salt", "0x12"]).refused(&["--salt", "0x12", "64 digits"]);
    residue(&["address", "examples/ir/polynomial.ir"]).refused(&["is a program", "--format creation"]);
    residue(&["address", "bn254/ad"]).refused(&["bn254/add"]);
    residue(&["address", SMALL, "--witness"]).refused(&["--key"]);
}

/// Holds every `share`-th contract of the catalogue, beginning at the place of `day`, to what it is today.
fn hold_entries(share: usize, day: u64) {
    let held: Value = serde_json::from_str(&fs::read_to_string(catalogue_path()).unwrap()).unwrap();
    let names = held["contracts"].as_array().unwrap().iter().map(|entry| entry["contract"].as_str().unwrap());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    let first = (day % share as u64) as usize; // below `share`
    let some: Vec<&str> = names.into_iter().skip(first).step_by(share).collect();
    let checked = residue(&[&["catalogue", "--check", &catalogue_path()], &some[..]].concat());
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
}

/// Number of the day.
pub fn day() -> u64 {
    std::env::var("RESIDUE_SAMPLE").ok().and_then(|day| day.parse().ok()).unwrap_or(0)
}

/// A few of the entries, others each day; `.ci/longer` checks them all.
#[test]
fn some_of_the_catalogue_are_what_contracts_are_today() {
    hold_entries(35, day());
}

/// A tenth of them. `.ci/longer today` runs this test one day in five, so another tenth each time.
#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_catalogue_is_what_contracts_are_today() {
    hold_entries(10, day() / 5);
}

/// The table of `docs/deploy.md` is the catalogue's. `RESIDUE_WRITE_TABLES=1 cargo test -p residue the_table_of_the_catalogue` writes it anew.
#[test]
fn the_table_of_the_catalogue_is_the_catalogue() {
    let held: Value = serde_json::from_str(&fs::read_to_string(catalogue_path()).unwrap()).unwrap();
    let mut text = String::from(
        "| contract | bytes | gas | deployment, 200 a byte | 1,530 a byte | address |\n|---|---:|---:|---:|---:|---|\n",
    );
    for entry in held["contracts"].as_array().unwrap().iter().filter(|entry| !entry["stages"].is_array()) {
        let number = |field: &str| entry[field].as_u64().unwrap();
        let [bytes, gas] = [number("code_bytes"), number("gas")].map(grouped);
        let [today, later] = [200, 1530].map(|price| grouped(price * number("code_bytes")));
        assert_eq!(today, grouped(number("deployment_gas")));
        let by = if entry["precompiles"] == true { ", by precompiles" } else { "" };
        let (name, address) = (entry["contract"].as_str().unwrap(), entry["address"].as_str().unwrap());
        text += &format!("| `{name}`{by} | {bytes} | {gas} | {today} | {later} | `{address}` |\n");
    }
    hold("docs/deploy.md", "catalogue", &text);
}

/// The same of contracts in linked form, a line for each code.
#[test]
fn the_table_of_linked_forms_is_the_catalogue() {
    let held: Value = serde_json::from_str(&fs::read_to_string(catalogue_path()).unwrap()).unwrap();
    let mut text = String::from("| code | bytes | gas of its example | address |\n|---|---:|---:|---|\n");
    for entry in held["contracts"].as_array().unwrap().iter().filter(|entry| entry["stages"].is_array()) {
        for code in [entry].into_iter().chain(entry["stages"].as_array().unwrap()) {
            let [bytes, gas] = ["code_bytes", "gas"].map(|field| code[field].as_u64().unwrap());
            assert!(bytes <= 24_576, "{code}");
            let [name, address] = ["contract", "address"].map(|field| code[field].as_str().unwrap());
            text += &format!("| `{name}` | {} | {} | `{address}` |\n", grouped(bytes), grouped(gas));
        }
    }
    hold("docs/deploy.md", "linked", &text);
}

/// All commands say the same codes, at the addresses of the catalogue.
#[test]
fn a_contract_in_linked_form_is_built_run_and_found() {
    let held: Value = serde_json::from_str(&fs::read_to_string(catalogue_path()).unwrap()).unwrap();
    let entries = held["contracts"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["stages"].is_array()).unwrap();
    let path = directory("linked").join("linked.bin").to_str().unwrap().to_owned();
    let built = ["build", "modexp/words", "--linked", "--revision", "evm", "--output", &path, "--json"];
    let built = residue(&built).json(0);
    let codes = |object: &Value| -> Vec<[Value; 2]> {
        let of = |code: &Value| ["address", "code_hash"].map(|field| code[field].clone());
        [object].into_iter().chain(object["stages"].as_array().unwrap()).map(of).collect()
    };
    assert_eq!(codes(&built), codes(entry));
    for code in [&built].into_iter().chain(built["stages"].as_array().unwrap()) {
        let written = fs::read(code["path"].as_str().unwrap()).unwrap();
        assert_eq!(code["code_hash"], keccak256(&written).to_string());
        assert_eq!(code["code"], format!("0x{}", hex::encode(&written)));
    }
    // 3⁵ modulo 2²⁶³ + 1, which is done by a stage.
    let modulus = format!("80{}01", "00".repeat(31));
    let input = format!("0x{:064x}{:064x}{:064x}0305{modulus}", 1, 1, 33);
    let run = ["run", "modexp/words", "--linked", "--revision", "evm", "--no-time", "--json", "--input", &input];
    let ran = residue(&run).json(0);
    assert!(ran["output"].as_str().unwrap().ends_with("f3"), "{ran}");
    let [cold, warm] = ["gas_used", "gas_used_warm"].map(|field| ran[field].as_u64().unwrap());
    assert_eq!((cold - warm, &ran["stages"][0]["address"]), (2_500, &entry["stages"][0]["address"]));
}

#[test]
fn a_contract_without_stages_has_no_linked_form() {
    for command in ["address", "build", "run"] {
        residue(&[command, "p256/verify", "--linked"]).refused(&["\"p256/verify\"", "modexp/words"]);
        residue(&[command, "examples/ir/polynomial.ir", "--linked"]).refused(&["polynomial.ir"]);
    }
    residue(&["build", "all", "--linked"]).refused(&["--linked"]);
    residue(&["build", "modexp/words", "--linked", "--calls", "1"]).refused(&["--calls"]);
    residue(&["run", "modexp/words", "--linked", "--engine", "spec"]).refused(&["--linked", "specification"]);
}

/// Contracts with forms of different lengths.
const SIZED: [&str; 9] = [
    "bn254/add",
    "bn254/mul",
    "p256/verify",
    "p384/verify",
    "secp256k1/recover",
    "ed25519/verify",
    "poseidon/t3",
    "poseidon/t5",
    "poseidon/t6",
];

/// Lengths and gas of forms. `RESIDUE_WRITE_TABLES=1 cargo test -p residue the_table_of_sizes -- --ignored` writes the table anew.
#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_sizes_is_of_the_compiler() {
    let options = [&[][..], &["--calls", "10000"], &["--calls", "1000"], &["--calls", "100"], &["--calls", "1"]];
    let mut text = String::from(
        "| contract | by default | 10,000 calls | 1,000 calls | 100 calls | 1 call |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for name in SIZED {
        let form = |options: &&[&str]| {
            let built = residue(&[&["build", name, "--revision", "evm", "--json"], *options].concat()).json(0);
            let number = |value: &Value| grouped(value.as_u64().unwrap());
            format!("{} / {}", number(&built["code_bytes"]), number(&built["variants"][0]["gas"]))
        };
        text += &format!("| `{name}` | {} |\n", options.iter().map(form).collect::<Vec<_>>().join(" | "));
    }
    hold("docs/deploy.md", "sizes", &text);
}

/// Gas that verifiers of Groth16 proofs with so many inputs may take in an account, with field instructions. `RESIDUE_WRITE_TABLES=1 cargo test -p residue
/// verifiers_of_few_inputs` writes their table anew.
const GAS_OF_VERIFIERS: [(usize, u64); 2] = [(1, 127_000), (2, 140_000)];

#[test]
fn verifiers_of_few_inputs_fit_an_account() {
    let folder = directory("verifiers_of_few_inputs");
    let key =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/groth16/key.json")).unwrap();
    let key: Value = serde_json::from_str(&key).unwrap();
    let mut text = String::from(
        "| inputs | by default | within 32,768 bytes | 28,672 | an account |\n|---:|---:|---:|---:|---:|\n",
    );
    for (inputs, gas_max) in GAS_OF_VERIFIERS {
        // The key of another circuit, with the first points of the inputs alone.
        let mut key = key.clone();
        key["nPublic"] = inputs.into();
        key["IC"].as_array_mut().unwrap().truncate(inputs + 1);
        let path = file(&folder, &format!("{inputs}.json"), key.to_string());
        let built = |options: &[&str]| {
            let built = residue(&[&["build", "groth16", "--key", &path, "--json"], options].concat()).json(0);
            [&built["code_bytes"], &built["variants"][0]["gas"]].map(|value| value.as_u64().unwrap())
        };
        let forms =
            [&[][..], &["--code-limit", "32768"], &["--code-limit", "28672"], &["--code-limit", "fork"]].map(built);
        let [bytes, gas] = forms[3];
        assert!(bytes <= 24_576 && gas <= gas_max, "{inputs} inputs: {bytes} bytes, {gas} gas");
        let forms = forms.map(|form| form.map(grouped).join(" / "));
        text += &format!("| {inputs} | {} |\n", forms.join(" | "));
    }
    hold("docs/groth16.md", "accounts", &text);
}

#[test]
fn a_changed_byte_is_seen() {
    let folder = directory("catalogue");
    let made = residue(&["catalogue", SMALL, "hashes/sha1"]);
    let text = made.text().to_owned();
    let entries: Value = serde_json::from_str(&text).unwrap();
    let of: Vec<(&str, bool)> = entries["contracts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["name"].as_str().unwrap(), entry["precompiles"] == true))
        .collect();
    assert_eq!(of, [("Bn254Add", false), ("Bn254AddByPrecompiles", true), ("HashesSha1", false)]);
    let check = |text: &str, more: &[&str]| {
        let path = file(&folder, "held.json", text);
        residue(&[&["catalogue", "--check", &path], more].concat())
    };
    check(&text, &[SMALL]).text();
    let hash = entries["contracts"][0]["code_hash"].as_str().unwrap();
    let changed = check(&text.replace(hash, &hash.replace(&hash[2..6], "0000")), &[SMALL]);
    assert_eq!(changed.code, 1, "{}", changed.stderr);
    assert!(changed.stdout.contains("bn254/add: code_hash is"), "{}", changed.stdout);
    let missing = check(&text, &["hashes/sha512"]);
    assert_eq!((missing.code, missing.stdout.trim()), (1, "hashes/sha512 is missing"));
    check("{}", &[SMALL]).refused(&["held.json", "no catalogue"]);
    check("[", &[SMALL]).refused(&["held.json", "no JSON"]);
    residue(&["catalogue", "secp521r1/verify"]).refused(&["secp521r1/verify", "bytes of code"]);
}

#[test]
fn packages_have_a_library_of_each_contract() {
    let folder = directory("catalogue-packages");
    let packages = folder.to_str().unwrap();
    residue(&["catalogue", SMALL, "--packages", packages]).text();
    let told = residue(&["address", SMALL, "--json"]).json(0);
    let library = fs::read_to_string(folder.join("Bn254Add.sol")).unwrap();
    for part in [
        format!("address internal constant ADDRESS = {};", told["address"].as_str().unwrap()),
        format!("bytes32 internal constant CODE_HASH = {};", told["code_hash"].as_str().unwrap()),
        "function add(uint256[2] memory p, uint256[2] memory q) internal view returns (uint256[2] memory)".to_owned(),
        "function deploy() internal returns (address)".to_owned(),
    ] {
        assert!(library.contains(&part), "{part} is not in {library}");
    }
    assert!(folder.join("Bn254AddByPrecompiles.sol").exists());
}
