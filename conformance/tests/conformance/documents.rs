//! Paths in the documents exist, and the glossary's words. Their commands are run by `.ci/documents`.

use residue_conformance::{documents, glossary, workspace};

#[test]
fn paths_in_documents_exist() {
    let missing: Vec<String> = documents::documents()
        .iter()
        .flat_map(|document| documents::missing_paths(document, &workspace::read(document)))
        .collect();
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn words_of_the_glossary_are_those_of_the_code() {
    let unknown = glossary::unknown(&workspace::read(glossary::GLOSSARY), &glossary::identifiers());
    assert!(unknown.is_empty(), "\n{}", unknown.join("\n"));
}
