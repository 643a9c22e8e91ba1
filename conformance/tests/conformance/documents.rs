//! Paths and anchors in the documents exist, the site has every page, the glossary's words do, the index has every page, and lists of files are complete. Their commands are run by `.ci/documents`.

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

#[test]
fn the_index_has_every_page() {
    let index = workspace::read("docs/README.md");
    let is_missing = |path: &String| {
        let page = path
            .strip_prefix("docs/")
            .filter(|page| !page.contains('/') && !["README.md", "SUMMARY.md"].contains(page));
        page.is_some_and(|page| !index.contains(&format!("]({page})")))
    };
    let missing: Vec<String> = documents::documents().into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "docs/README.md does not name {missing:?}");
}

#[test]
fn the_site_has_every_page() {
    let wrong = documents::not_once_in_summary(&workspace::read("docs/SUMMARY.md"));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A list of files in a page, under a comment that says which words they have.
#[test]
fn worked_changes_name_every_file() {
    let page = workspace::read("docs/worked-changes.md");
    let lists = documents::lists_of_files(&page);
    assert!(lists.len() >= 3);
    for list in lists {
        assert_eq!(list.files, list.complete(), "the files with {:?}", list.words);
    }
}
