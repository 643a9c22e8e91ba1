//! `lab report`: the figures as one page that needs nothing else, and as Markdown with drawings beside it.

use std::fmt::Write as _;

use residue_workbench::svg::escaped;

use crate::record::Record;
use crate::record::table::Table;
use crate::render::figures::{Figure, Records};
use crate::render::svg::bars::STYLE as CHART_STYLE;

/// Title of the report.
const TITLE: &str = "Modular arithmetic in the EVM: the published figures again";

/// Characters of a cell that stays in one line.
const SHORT_CELL: usize = 20;

/// The styles of the page: light and dark, wide tables scroll inside of themselves.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--line:#ccc;--soft:#f3f3f3;--note:#555}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--line:#444;--soft:#222;--note:#aaa}}\
*{box-sizing:border-box}body{margin:0 auto;padding:16px;max-width:1000px;font:16px/1.5 system-ui,sans-serif;\
color:var(--ink);background:var(--paper);overflow-wrap:anywhere}h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}\
svg.chart{display:block;width:100%;max-width:640px;height:auto}.scroll{overflow-x:auto;max-width:100%;margin-top:12px}\
td.short{white-space:nowrap}\
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\
th,td{border-bottom:1px solid var(--line);padding:4px 8px;text-align:right;vertical-align:top;overflow-wrap:normal}\
th:first-child,td:first-child{text-align:left}th{background:var(--soft)}.note{color:var(--note);font-size:.9rem}\
.missing{border-left:4px solid #c60;padding-left:8px}a{color:inherit}nav ul{columns:18rem;padding-left:1.2rem}";

/// One HTML page: drawings inside, no script, nothing from a network, the records to be downloaded from it.
pub fn to_html(figures: &[Figure], records: &Records) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{TITLE}</title><style>{STYLE}{CHART_STYLE}</style></head><body>\n<h1>{TITLE}</h1>\n{}<nav><ul>\n",
        paragraphs(&introduction(records))
    );
    for figure in figures {
        let _ = writeln!(page, "<li><a href=\"#{}\">{}</a></li>", figure.id, escaped(figure.title));
    }
    page.push_str("</ul></nav>\n");
    for figure in figures {
        let _ = writeln!(page, "<section id=\"{}\"><h2>{}</h2>", figure.id, escaped(figure.title));
        let _ = writeln!(page, "<p class=\"note\">Published: {}</p>", escaped(&figure.source));
        if let Some(chart) = figure.chart.as_ref().filter(|chart| !chart.is_empty()) {
            let _ = writeln!(page, "<figure style=\"margin:0\">{}</figure>", chart.to_svg(figure.title, false));
        }
        let _ = writeln!(page, "<div class=\"scroll\">{}</div>", html_table(&figure.table));
        let _ = writeln!(page, "<p>{}</p>", escaped(&figure.explanation));
        for missing in &figure.missing {
            let _ = writeln!(page, "<p class=\"missing\">Not recorded: {}.</p>", escaped(missing));
        }
        for ours in &figure.ours {
            let _ = writeln!(page, "<p class=\"note\">Ours: {}</p>", escaped(ours));
        }
        let csv = data_url(&table_csv(&figure.table));
        let _ =
            writeln!(page, "<p><a download=\"{}.csv\" href=\"{csv}\">this table as CSV</a></p></section>", figure.id);
    }
    page.push_str("<section id=\"records\"><h2>Raw data</h2><ul>\n");
    for record in records.all() {
        let name = format!("{}-{}.csv", record.date, record.group);
        let _ = writeln!(page, "<li><a download=\"{name}\" href=\"{}\">{name}</a></li>", data_url(&record.to_csv()));
    }
    page.push_str("</ul></section>\n</body></html>\n");
    page
}

/// The report in Markdown, and the files beside it: drawings and records.
pub fn to_markdown(figures: &[Figure], records: &Records) -> (String, Vec<(String, String)>) {
    let mut files = Vec::new();
    let mut text = format!("# {TITLE}\n\n{}\n", introduction(records).join("\n\n"));
    for figure in figures {
        let _ = write!(text, "\n## {}\n\nPublished: {}\n", figure.title, figure.source);
        if let Some(chart) = figure.chart.as_ref().filter(|chart| !chart.is_empty()) {
            let name = format!("{}.svg", figure.id);
            let _ = write!(text, "\n![{}]({name})\n", figure.title);
            files.push((name, chart.to_svg(figure.title, true)));
        }
        let _ = write!(text, "\n{}\n{}\n", markdown_table(&figure.table), figure.explanation);
        for missing in &figure.missing {
            let _ = write!(text, "\n**Not recorded**: {missing}.\n");
        }
        for ours in &figure.ours {
            let _ = write!(text, "\nOurs: {ours}\n");
        }
    }
    text.push_str("\n## Raw data\n\n");
    for record in records.all() {
        let name = format!("{}-{}.csv", record.date, record.group);
        let _ = writeln!(text, "- [{name}]({name})");
        files.push((name, record.to_csv()));
    }
    (text, files)
}

fn introduction(records: &Records) -> Vec<String> {
    let machine = |record: &Record| {
        let of = |name| record.environment.get(name).unwrap_or("unknown");
        format!(
            "{} ({}), {}, blst {}, revm {}, profile {}",
            of("cpu"),
            of("machine"),
            of("rustc"),
            of("blst"),
            of("revm"),
            of("profile")
        )
    };
    let mut machines: Vec<String> = records.all().map(machine).collect();
    machines.sort();
    machines.dedup();
    vec![
        "Every table and figure of the EVM384 and EVMMAX documents beside what Residue measures: their values as they were \
         published, ours of the records named under each figure."
            .to_owned(),
        if machines.is_empty() {
            "There are no records: only published values are shown.".to_owned()
        } else {
            format!("Machine of the records: {}.", machines.join("; "))
        },
        "Times of the published columns are of machines of 2020 to 2024: only ratios within one column can be compared.".to_owned(),
    ]
}

fn paragraphs(texts: &[String]) -> String {
    texts.iter().map(|text| format!("<p>{}</p>\n", escaped(text))).collect()
}

fn html_table(table: &Table) -> String {
    let cells = |tag: &str, cells: &[String]| {
        let cell = |cell: &String| {
            // A number is not broken at its thousands, nor a name at its hyphens.
            let is_short = tag == "td" && cell.chars().count() <= SHORT_CELL;
            let class = if is_short { " class=\"short\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", escaped(cell))
        };
        cells.iter().map(cell).collect::<String>()
    };
    let lines = table.lines.iter().map(|line| format!("<tr>{}</tr>\n", cells("td", line))).collect::<String>();
    format!("<table><thead><tr>{}</tr></thead><tbody>\n{lines}</tbody></table>", cells("th", &table.headings))
}

fn markdown_table(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|---|{}\n", "---:|".repeat(table.headings.len().saturating_sub(1)));
    let lines: String = table.lines.iter().map(|cells| line(cells)).collect();
    format!("{}{rule}{lines}", line(&table.headings))
}

/// Cells with a comma, a quote or a line break are quoted (RFC 4180).
fn table_csv(table: &Table) -> String {
    let cell = |text: &String| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.clone(),
    };
    let line = |cells: &Vec<String>| cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    [&table.headings].into_iter().chain(&table.lines).map(line).collect()
}

/// The text as a link that needs no network (RFC 2397).
fn data_url(text: &str) -> String {
    let mut url = "data:text/csv;charset=utf-8,".to_owned();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            other => {
                let _ = write!(url, "%{other:02X}");
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::figures::figures;

    #[test]
    fn a_report_of_nothing_shows_the_published_values_and_says_so() {
        let records = Records::default();
        let figures = figures(&records);
        let html = to_html(&figures, &records);
        assert_eq!(html.matches("<section").count(), figures.len() + 1);
        assert_eq!(html.matches("<table>").count(), figures.len());
        assert!(html.contains("There are no records") && html.contains("Not recorded: "));
        for forbidden in ["<script", "src=", "@import", "url(http"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        let (markdown, files) = to_markdown(&figures, &records);
        for figure in &figures {
            assert!(markdown.contains(figure.title));
        }
        for (name, content) in &files {
            assert!(markdown.contains(&format!("({name})")) && content.starts_with("<svg"), "{name}");
        }
        assert!(files.len() >= 5);
    }

    #[test]
    fn cells_and_links_are_escaped() {
        let table = Table { headings: vec!["a,b".to_owned()], lines: vec![vec!["1 \"x\"".to_owned()]] };
        assert_eq!(table_csv(&table), "\"a,b\"\n\"1 \"\"x\"\"\"\n");
        assert_eq!(data_url("a,µ"), "data:text/csv;charset=utf-8,a%2C%C2%B5");
        assert!(markdown_table(&Table { headings: vec!["a|b".to_owned()], lines: vec![] }).starts_with("| a\\|b |"));
    }
}
