//! Tables of `docs/eip2537.md`, which tests hold to what they say.
//!
//! A table stands between a comment with its name and `<!-- end -->`. With `RESIDUE_WRITE_TABLES=1` a test writes its table anew, for
//! review with the change that asks for it.

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/eip2537.md");
const END: &str = "<!-- end -->";

/// The table `name` of the page is `table`, or becomes it.
pub fn hold(name: &str, table: &str) {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let begin = format!("<!-- {name} -->\n");
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("the page has no table {name:?}"));
    let (_, after) = rest.split_once(END).unwrap();
    let made = format!("{before}{begin}\n{table}\n{END}{after}");
    if std::env::var_os("RESIDUE_WRITE_TABLES").is_some() {
        std::fs::write(PAGE, made).unwrap();
        return;
    }
    assert_eq!(page, made, "docs/eip2537.md is out of step; this file says how to remake it");
}

/// 1234567 ↦ 1 234 567, as in the other pages.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(" ")
}

/// a/b with three decimals.
pub fn ratio(a: u64, b: u64) -> String {
    let thousandths = (1000 * a + b / 2) / b;
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}
