//! The crates import exactly the crates that `layers.toml` grants.

use residue_conformance::layers::{Layers, crates};
use residue_conformance::workspace;

#[test]
fn manifests_keep_to_the_layers() {
    let layers = Layers::parse(&workspace::read("layers.toml")).expect("layers.toml is readable");
    let crates = crates();
    assert!(crates.iter().any(|(name, _)| name == "conformance"), "no manifests found");
    let violations = layers.violations(&crates);
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}
