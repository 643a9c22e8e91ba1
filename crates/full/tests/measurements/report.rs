//! `residue lab figures`, `report` and `attack`: files that are complete, and a page that reads well in a real browser.

use std::path::Path;
use std::process::Command;

use crate::measured::{MEASURED, Measured};
use crate::support::{directory, residue};
use serde_json::Value;

/// Browsers that the page is looked at in.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Looks at the page in a frame of a phone's width and of a desk's: what is broken, in words.
const LOOK: &str = r#"
async function look(width) {
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${width}px;height:800px;border:0`;
  frame.srcdoc = PAGE;
  document.body.appendChild(frame);
  await new Promise(done => frame.onload = done);
  const page = frame.contentDocument, wrong = [];
  const root = page.documentElement;
  if (root.scrollWidth > width) wrong.push(`the page is ${root.scrollWidth} wide`);
  for (const section of page.querySelectorAll('section')) {
    const box = section.getBoundingClientRect();
    if (box.height < 40) wrong.push(`${section.id} is empty`);
    if (section.id !== 'records' && !section.querySelector('table tbody tr td')) wrong.push(`${section.id} has no table`);
  }
  for (const svg of page.querySelectorAll('svg')) {
    const outer = svg.getBoundingClientRect(), id = svg.closest('section').id;
    if (outer.width < 200 || outer.height < 40) wrong.push(`the drawing of ${id} is ${outer.width} by ${outer.height}`);
    for (const text of svg.querySelectorAll('text')) {
      const inner = text.getBoundingClientRect();
      if (inner.right > outer.right + 1 || inner.left < outer.left - 1 || inner.bottom > outer.bottom + 1)
        wrong.push(`"${text.textContent}" leaves the drawing of ${id}`);
      if (inner.height < 9) wrong.push(`"${text.textContent}" of ${id} is ${inner.height} high`);
    }
  }
  for (const cell of page.querySelectorAll('td, p, li'))
    if (parseFloat(frame.contentWindow.getComputedStyle(cell).fontSize) < 11) wrong.push(`${cell.textContent} is small`);
  const style = frame.contentWindow.getComputedStyle(page.body);
  const light = colour => { const [r, g, b] = colour.match(/[\d.]+/g).map(Number); return .2126 * r + .7152 * g + .0722 * b; };
  if (Math.abs(light(style.color) - light(style.backgroundColor)) < 120) wrong.push('text and paper are alike');
  wrong.push(...[`${page.querySelectorAll('svg').length} drawings`, `dark ${light(style.backgroundColor) < 100}`]);
  return wrong;
}
(async () => {
  const found = { phone: await look(390), desk: await look(1200) };
  const said = document.createElement('pre');
  said.id = 'found';
  said.textContent = JSON.stringify(found);
  document.body.appendChild(said);
})();
"#;

/// A directory of records: of the programs, one revision's opcodes, a search and the pairing.
fn records() -> &'static Path {
    let records = &MEASURED.records;
    let to = records.to_str().unwrap();
    let figures = residue(&["lab", "figures", "--quick", "--record", to, "--json"]);
    assert_eq!(figures.json(0)["figures"].as_array().unwrap().len(), 13);
    assert_eq!(residue(&["bench", "pairing", "--quick", "--record", to]).code, 0);
    records
}

#[test]
fn a_report_is_made_of_records_alone_and_reads_well_in_a_browser() {
    let records = records();
    let out = records.with_file_name("out");
    let ran =
        residue(&["lab", "report", "--records", records.to_str().unwrap(), "--out", out.to_str().unwrap(), "--json"]);
    let report = ran.json(0);
    let figures = report["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 14);
    let page = std::fs::read_to_string(report["html"].as_str().unwrap()).unwrap();
    for part in ["<script", "http://", "https://", "src="] {
        // The name of a format is no address that anything is loaded from.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(part), "{part} in the page");
    }
    let markdown = std::fs::read_to_string(report["markdown"].as_str().unwrap()).unwrap();
    for link in markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(out.join(link).is_file(), "{link} is not there");
    }
    // Prices of these records come from the page's own table.
    let prices = figures.iter().find(|figure| figure["id"] == "prices").unwrap();
    assert!(prices["missing"].as_array().unwrap().is_empty(), "{prices}");
    assert_ne!(prices["lines"][0][9], "–");

    for scheme in ["light", "dark"] {
        let Some(found) = look_at(&page, &out, scheme) else {
            eprintln!("skipped: no browser; install one of {}", BROWSERS.join(", "));
            return;
        };
        for size in ["phone", "desk"] {
            let mut wrong: Vec<&str> = found[size].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let is_dark = wrong.pop().unwrap();
            let drawings = wrong.pop().unwrap();
            assert!(wrong.is_empty(), "{scheme} {size}: {wrong:#?}");
            assert_eq!(drawings, format!("{} drawings", page.matches("<svg").count()));
            assert_eq!(is_dark, format!("dark {}", scheme == "dark"), "{size}");
        }
    }
}

/// Values found in the page, or none without a browser.
fn look_at(page: &str, directory: &Path, scheme: &str) -> Option<Value> {
    let wrapper = directory.join("look.html");
    let quoted = serde_json::to_string(page).unwrap().replace("</", "<\\/").replace("<!--", "<\\!--");
    let text = format!("<!doctype html><meta charset=\"utf-8\"><body><script>const PAGE = {quoted};{LOOK}</script>");
    std::fs::write(&wrapper, text).unwrap();
    let address = format!("file://{}", wrapper.display());
    // 0 is dark, 1 is light.
    let preferred = format!("--blink-settings=preferredColorScheme={}", u8::from(scheme == "light"));
    let profile = format!("--user-data-dir={}", directory.join("profile").display());
    let arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--virtual-time-budget=10000",
        "--window-size=1400,1000",
        &preferred,
        &profile,
        "--dump-dom",
        &address,
    ];
    let output = BROWSERS.iter().find_map(|browser| Command::new(browser).args(arguments).output().ok())?;
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) = found.unwrap_or_else(|| panic!("the browser said {}", String::from_utf8_lossy(&output.stderr)));
    Some(serde_json::from_str(&found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap())
}

#[test]
fn a_search_names_what_it_found_and_its_code_runs() {
    let Measured { search: found, found: out, .. } = &*MEASURED;
    assert!(found["verdict"].as_str().unwrap().contains("the worst honest program"), "{found}");
    let programs = found["programs"].as_array().unwrap();
    assert!(programs.len() >= 5, "{programs:?}");
    // The second fitness is there where the system counts memory.
    let in_memory = programs.iter().find(|program| program["name"] == "evm384-v7:memory/found/1");
    if std::path::Path::new("/proc/self/clear_refs").exists() {
        assert!(in_memory.unwrap()["resident"]["grown_bytes"].as_u64().unwrap() > 0, "{in_memory:?}");
    }
    let file = |ending: &str| out.join(format!("evm384-v7-anywhere-found-1{ending}")).to_str().unwrap().to_owned();
    let (code, input) = (file(".hex"), format!("@{}", file(".input.hex")));
    let run = ["run", &code, "--revision", "evm384-v7", "--gas", "100000", "--no-time", "--json", "--input", &input];
    // Found code runs until its gas is used up.
    assert_eq!(residue(&run).json(1)["gas_used"], 100_000);
    let again = residue(&["lab", "attack", "--replay", &file(".json"), "--json"]).json(0);
    let found = programs.iter().find(|program| program["name"] == "evm384-v7:anywhere/found/1").unwrap();
    assert_eq!(again["codes"], found["codes"]);
    assert_eq!(again["gas_used"], found["gas_used"]);
}

#[test]
fn cycles_and_instructions_are_measured_without_a_search() {
    let directory = directory("attack_measured");
    let to = directory.to_str().unwrap();
    let search = ["lab", "attack", "--quick", "--revision", "eip6690-2024", "--record", to, "--json"];
    let cycles = residue(&[&search[..], &["--cycle"]].concat()).json(0)["cycles"].take();
    assert_eq!(cycles.as_array().unwrap().len(), 6);
    assert!(cycles[0]["first_ns_per_gas"]["plain"].as_f64().unwrap() > 0.0, "{cycles}");
    let alone = residue(&[&search[..], &["--instructions", "--gas", "20000"]].concat()).json(0)["instructions"].take();
    assert!(alone.as_array().unwrap().iter().any(|one| one["instruction"] == "mul of 255 lanes/384"), "{alone}");
    let records = std::fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let names: Vec<String> =
        std::fs::read_dir(records).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.ends_with("-cycle.csv")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("-extremes.csv")), "{names:?}");
}

#[test]
fn bad_input_is_named() {
    residue(&["lab", "report", "--records", "no/such"]).refused(&["no/such"]);
    let empty = directory("report_of_nothing");
    residue(&["lab", "report", "--records", empty.to_str().unwrap()]).refused(&["has no records"]);
    residue(&["lab", "figures", "gass", "--quick"]).refused(&["unknown figure \"gass\"", "gas"]);
    residue(&["lab", "attack", "--revision", "evm384-v7,v8"]).refused(&["\"v8\""]);
    residue(&["lab", "attack", "--revision", "eip6690-2024", "--schedule", "model-b"]).refused(&["model-b"]);
    residue(&["lab", "attack", "--gas", "5"]).refused(&["--gas 5"]);
    residue(&["lab", "attack", "--seed", "-1"]).refused(&["-1"]);
    residue(&["lab", "attack", "--minutes", "0"]).refused(&["--minutes 0"]);
    residue(&["lab", "attack", "--parts", "space"]).refused(&["space"]);
    residue(&["lab", "attack", "--replay", "no/such.json"]).refused(&["no/such.json"]);
}
