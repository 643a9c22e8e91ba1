//! Paths in the documents exist. Their commands are run by `.ci/documents`.

use residue_conformance::{documents, workspace};

#[test]
fn paths_in_documents_exist() {
    let missing: Vec<String> = documents::documents()
        .iter()
        .flat_map(|document| documents::missing_paths(document, &workspace::read(document)))
        .collect();
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}
