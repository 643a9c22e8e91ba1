//! Allowed imports between crates: the manifests of all crates against `layers.toml`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::workspace;

/// Crates from elsewhere that only one crate of ours may name, because their interface is not ours to spread.
const RESERVED: [(&str, &str); 1] = [("revm", "engine")];

/// Grants of `layers.toml`: importing crate ↦ crates it may import, by their names in that file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers {
    grants: BTreeMap<String, Vec<String>>,
    test_only: BTreeMap<String, Vec<String>>,
}

impl Layers {
    /// Reads the text of `layers.toml`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: Table = text.parse().map_err(|error| format!("layers.toml: {error}"))?;
        Ok(Self { grants: lists(&file, "layers")?, test_only: lists(&file, "test-only")? })
    }

    /// Violations by crates, each given as its name in `layers.toml` and the text of its manifest.
    pub fn violations(&self, crates: &[(String, String)]) -> Vec<String> {
        let mut found = Vec::new();
        for (name, manifest) in crates {
            match manifest.parse::<Table>() {
                Ok(manifest) => self.check(name, &manifest, &mut found),
                Err(error) => found.push(format!("{name}: {error}")),
            }
        }
        for listed in self.grants.keys() {
            if !crates.iter().any(|(name, _)| name == listed) {
                found.push(format!("{listed} is listed and does not exist"));
            }
        }
        found
    }

    fn check(&self, name: &str, manifest: &Table, found: &mut Vec<String>) {
        let Some(granted) = self.grants.get(name) else {
            return found.push(format!("{name} is not listed"));
        };
        let in_tests = self.test_only.get(name).map_or(&[][..], Vec::as_slice);
        let imports = imports(manifest);
        let unused = |grant: &&String| !imports.iter().any(|(_, imported)| layer_of(imported) == Some(grant.as_str()));
        for grant in granted.iter().chain(in_tests).filter(unused) {
            found.push(format!("{name} does not import {grant}, which is granted"));
        }
        for (section, imported) in imports {
            let only_tests = section == "dev-dependencies";
            if let Some((reserved, owner)) = RESERVED.iter().find(|(reserved, _)| *reserved == imported) {
                if *owner != name {
                    found.push(format!("{name} imports {reserved}, which only {owner} may"));
                }
                continue;
            }
            let Some(layer) = layer_of(&imported) else {
                continue;
            };
            let granted = granted.iter().chain(if only_tests { in_tests } else { &[] });
            if !granted.into_iter().any(|grant| grant == layer) {
                found.push(format!("{name} may not import {layer} ({section})"));
            }
        }
    }
}

/// The crates of the workspace: their folders' names and the texts of their manifests. What stands in `baselines` is none.
pub fn crates() -> Vec<(String, String)> {
    let mut manifests = workspace::files(&["/Cargo.toml"]);
    manifests.retain(|path| !path.starts_with("baselines/"));
    let folder = |path: &str| path.rsplit('/').nth(1).map(str::to_owned);
    manifests.iter().filter_map(|path| Some((folder(path)?, workspace::read(path)))).collect()
}

/// The name in `layers.toml` of a package of ours.
fn layer_of(package: &str) -> Option<&str> {
    if package == "residue" { Some("cli") } else { package.strip_prefix("residue-") }
}

/// The packages that a manifest imports, each with the section it stands in, whatever the target.
fn imports(manifest: &Table) -> Vec<(&'static str, String)> {
    const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table).chain([manifest]);
    let mut found = Vec::new();
    for table in tables {
        for section in SECTIONS {
            for (name, dependency) in table.get(section).and_then(Value::as_table).into_iter().flatten() {
                let renamed = dependency.get("package").and_then(Value::as_str);
                found.push((section, renamed.unwrap_or(name).to_owned()));
            }
        }
    }
    found
}

fn lists(file: &Table, key: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let table = file.get(key).and_then(Value::as_table).ok_or_else(|| format!("layers.toml has no table [{key}]"))?;
    let list = |(name, value): (&String, &Value)| {
        let names = value.as_array().and_then(|names| names.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        let names = names.ok_or_else(|| format!("layers.toml: {key}.{name} is no list of names"))?;
        Ok((name.clone(), names.into_iter().map(str::to_owned).collect()))
    };
    table.iter().map(list).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: &str = "[layers]\nlow = []\nhigh = [\"low\"]\n[test-only]\nlow = [\"high\"]\n";

    #[track_caller]
    fn check(low: &str, high: &str, expected: &[&str]) {
        let crates = [("low".to_owned(), low.to_owned()), ("high".to_owned(), high.to_owned())];
        assert_eq!(Layers::parse(LAYERS).unwrap().violations(&crates), expected);
    }

    const HIGH: &str = "[dependencies]\nresidue-low = { path = \"../low\" }\nserde = \"1\"";
    const LOW: &str = "[dev-dependencies]\nresidue-high.workspace = true";

    #[test]
    fn imports_point_down() {
        check(LOW, HIGH, &[]);
        let section = |section: &str| {
            check(
                &format!("[{section}]\nresidue-high = \"1\""),
                HIGH,
                &[&format!("low may not import high ({})", section.rsplit('.').next().unwrap())],
            );
        };
        section("dependencies");
        section("build-dependencies");
        section("target.'cfg(unix)'.dependencies");
        let renamed = "[dependencies]\nh = { package = \"residue-high\" }";
        check(renamed, HIGH, &["low may not import high (dependencies)"]);
        let to_cli = format!("{HIGH}\nresidue.workspace = true");
        check(LOW, &to_cli, &["high may not import cli (dependencies)"]);
    }

    #[test]
    fn tests_may_import_more_where_it_says_so() {
        let more = format!("{HIGH}\n[dev-dependencies]\nresidue-spec.workspace = true");
        check(LOW, &more, &["high may not import spec (dev-dependencies)"]);
    }

    #[test]
    fn what_is_granted_is_imported() {
        check("", HIGH, &["low does not import high, which is granted"]);
        check(LOW, "[dependencies]\nserde = \"1\"", &["high does not import low, which is granted"]);
    }

    #[test]
    fn a_crate_must_be_listed_and_a_listed_one_must_exist() {
        let crates = [("low".to_owned(), LOW.to_owned()), ("new".to_owned(), String::new())];
        let found = Layers::parse(LAYERS).unwrap().violations(&crates);
        assert_eq!(found, ["new is not listed", "high is listed and does not exist"]);
    }

    #[test]
    fn the_evm_has_one_importer() {
        check(
            &format!("{LOW}\n[dependencies]\nrevm.workspace = true"),
            HIGH,
            &["low imports revm, which only engine may"],
        );
    }
}
