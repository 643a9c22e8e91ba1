//! Records as files: writing and reading are inverse, and a file is never half written.

use residue_isa::text::read_file;
use residue_workbench::output;
use residue_workbench::statistics::Spread;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Record, RecordFault, RecordRow};
use crate::error::LabError;
use crate::record::environment::Environment;

/// The columns. The unit follows from the quantity; it is there for readers.
pub(super) const COLUMNS: [&str; 10] =
    ["name", "quantity", "unit", "baseline", "median", "quartile_1", "quartile_3", "rounds", "low", "high"];
/// Older records end before the confidence interval.
const COLUMNS_WITHOUT_INTERVAL: usize = 8;

impl Record {
    /// The text of the file. Names of rows have no comma and no line break, as they are layer, operation and width.
    pub fn to_csv(&self) -> String {
        let mut text = format!("# group: {}\n# date: {}\n", self.group, self.date);
        for (name, value) in self.environment.entries() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# {name}: {value}");
        }
        text.push_str(&COLUMNS.join(","));
        text.push('\n');
        for row in &self.rows {
            let RecordRow { name, quantity, baseline, spread, rounds, interval } = row;
            let Spread { median, quartile_1, quartile_3 } = spread;
            let (unit, baseline) = (row.unit(), baseline.as_deref().unwrap_or_default());
            assert!(!format!("{name}{baseline}").contains([',', '\n', '\r']), "{name:?} is the name of a row");
            let [low, high] = interval.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
            let spread = format!("{median},{quartile_1},{quartile_3}");
            let _ = writeln!(text, "{name},{quantity},{unit},{baseline},{spread},{rounds},{low},{high}");
        }
        text
    }

    /// Reads the text of a file; `file` is its name in errors.
    pub fn from_csv(text: &str, file: &str) -> Result<Self, LabError> {
        let at = |line: usize| move |fault| LabError::Record { file: file.to_owned(), line: line + 1, fault };
        let mut environment = Environment::default();
        let (mut group, mut date) = (None, None);
        let mut lines = text.lines().enumerate().peekable();
        while let Some((line, header)) = lines.next_if(|(_, text)| text.starts_with('#')) {
            let entry = header.trim_start_matches('#').split_once(':');
            let (name, value) = entry.ok_or_else(|| at(line)(RecordFault::Header(header.to_owned())))?;
            match (name.trim(), value.trim()) {
                // The name of files and of places in a page.
                ("group", value) if !value.is_empty() && value.bytes().all(is_of_a_name) => {
                    group = Some(value.to_owned())
                }
                ("group", value) => {
                    return Err(at(line)(RecordFault::Value { column: "name of a group", value: value.to_owned() }));
                }
                ("date", value) => {
                    date = Some(value.parse().map_err(|wrong| at(line)(RecordFault::Header(format!("{wrong}"))))?);
                }
                (name, value) => environment.set(name, value),
            }
        }
        let (line, columns) = lines.next().unwrap_or((text.lines().count(), ""));
        let known = [COLUMNS.len(), COLUMNS_WITHOUT_INTERVAL];
        let Some(fields) = known.into_iter().find(|&fields| columns == COLUMNS[..fields].join(",")) else {
            return Err(at(line)(RecordFault::Columns(columns.to_owned())));
        };
        let rows = lines.map(|(line, text)| row_of(text, fields).map_err(at(line))).collect::<Result<_, _>>()?;
        let group = group.ok_or_else(|| at(0)(RecordFault::Missing("group")))?;
        let date = date.ok_or_else(|| at(0)(RecordFault::Missing("date")))?;
        Ok(Self { group, date, environment, rows })
    }

    /// Writes the record under a directory of records and returns its path: `<machine>/<date>-<group>.csv` below it.
    /// A record of the same day, group and machine is replaced, as a whole or not at all.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, LabError> {
        let machine = directory.join(self.environment.get("machine").unwrap_or("unknown-machine"));
        let path = machine.join(format!("{}-{}.csv", self.date, self.group));
        match fs::create_dir_all(&machine).and_then(|()| output::file(&path, self.to_csv().as_bytes())) {
            Ok(()) => Ok(path),
            Err(error) => Err(LabError::Io { path, error }),
        }
    }

    /// Reads a record from a file.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let text = read_file(path).map_err(|error| LabError::Io { path: path.to_owned(), error })?;
        Self::from_csv(&text, &path.display().to_string())
    }
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

fn row_of(line: &str, expected: usize) -> Result<RecordRow, RecordFault> {
    let mut fields: Vec<&str> = line.split(',').collect();
    if fields.len() != expected {
        return Err(RecordFault::Fields { found: fields.len(), expected });
    }
    if let Some(value) = fields.iter().find(|field| field.contains(char::is_control)) {
        return Err(RecordFault::Value { column: "text of one line", value: (*value).to_owned() });
    }
    fields.resize(COLUMNS.len(), "");
    let &[name, quantity, unit, baseline, median, quartile_1, quartile_3, rounds, low, high] = fields.as_slice() else {
        return Err(RecordFault::Fields { found: fields.len(), expected });
    };
    let wrong = |column, value: &str| RecordFault::Value { column, value: value.to_owned() };
    let number = |column, value: &str| {
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| wrong(column, value))
    };
    let row = RecordRow {
        name: name.to_owned(),
        quantity: quantity.parse().map_err(|_| wrong("quantity", quantity))?,
        baseline: (!baseline.is_empty()).then(|| baseline.to_owned()),
        spread: Spread {
            median: number("median", median)?,
            quartile_1: number("quartile_1", quartile_1)?,
            quartile_3: number("quartile_3", quartile_3)?,
        },
        rounds: rounds.parse().map_err(|_| wrong("rounds", rounds))?,
        interval: match (low, high) {
            ("", "") => None,
            _ => Some([number("low", low)?, number("high", high)?]),
        },
    };
    if row.unit() != unit {
        return Err(wrong("unit", unit));
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Quantity;
    use residue_workbench::Machine;

    #[test]
    fn records_without_intervals_are_read() {
        let header =
            "# group: pairing\n# date: 2026-11-21\nname,quantity,unit,baseline,median,quartile_1,quartile_3,rounds\n";
        let record = Record::from_csv(&format!("{header}a/b/1,time,ns,,3,2,4,7\n"), "r.csv").unwrap();
        let spread = Spread { median: 3.0, quartile_1: 2.0, quartile_3: 4.0 };
        let expected = RecordRow {
            name: "a/b/1".to_owned(),
            quantity: Quantity::Time,
            baseline: None,
            spread,
            rounds: 7,
            interval: None,
        };
        assert_eq!(record.rows, [expected]);
    }

    fn record() -> Record {
        let mut environment = Environment::of(&Machine::this(), 3.417, Some(1));
        environment.set("machine", "test-machine-1c");
        Record {
            group: "instructions".to_owned(),
            date: "2026-11-21".parse().unwrap(),
            environment,
            rows: vec![
                RecordRow::new("eip6690-2024/mul/384", Quantity::Latency, &[30.1234, 31.0, 29.5]),
                RecordRow::ratio(
                    "eip6690-2024/mul/384",
                    Quantity::Latency,
                    &[30.0, 31.0],
                    ("blst/mul/384", &[25.0, 27.0]),
                ),
                RecordRow::exact("eip6690-2024/pairing/2", Quantity::Gas, 1_234_567.0),
                RecordRow::new("eip6690-2024/sub/384", Quantity::Throughput, &[-0.001, 1e9]),
            ],
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let directory = std::env::temp_dir().join(format!("residue-lab-{}", std::process::id()));
        let record = record();
        // The second time there is a file to replace.
        for _ in 0..2 {
            let path = record.write(&directory).unwrap();
            assert_eq!(path, directory.join("test-machine-1c/2026-11-21-instructions.csv"));
            assert_eq!(Record::read(&path).unwrap(), record);
        }
        assert_eq!(fs::read_dir(directory.join("test-machine-1c")).unwrap().count(), 1);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_record_is_a_table_under_a_header() {
        let text = record().to_csv();
        assert!(
            text.starts_with("# group: instructions\n# date: 2026-11-21\n# machine: test-machine-1c\n# cpu: "),
            "{text}"
        );
        let table = text.split_once("name,").unwrap().1;
        let begin = "quantity,unit,baseline,median,quartile_1,quartile_3,rounds,low,high\n\
                     eip6690-2024/mul/384,latency,ns,,30.123,29.812,30.562,3,29.5,31\n\
                     eip6690-2024/mul/384,latency,ratio,blst/mul/384,";
        assert!(table.starts_with(begin), "{table}");
    }

    #[test]
    fn errors_name_file_and_line() {
        let columns = COLUMNS.join(",");
        let header = "# group: pairing\n# date: 2026-11-21\n";
        for (text, message) in [
            (String::new(), r#"r.csv:1: the columns are """#.to_owned()),
            ("# date: yesterday\n".to_owned(), r#"r.csv:1: "yesterday" is not a date like 2026-11-21"#.to_owned()),
            (format!("{header}# nothing\n"), "r.csv:3: # nothing".to_owned()),
            ("# group: ../up\n".to_owned(), r#"r.csv:1: "../up" is no name of a group"#.to_owned()),
            (
                format!("{header}{columns}\na\rb,time,ns,,1,1,1,1,,\n"),
                r#"r.csv:4: "a\rb" is no text of one line"#.to_owned(),
            ),
            (format!("{header}name,time\n"), r#"r.csv:3: the columns are "name,time""#.to_owned()),
            (format!("{columns}\n"), "r.csv:1: the header does not name its group".to_owned()),
            (format!("{header}{columns}\na,time\n"), "r.csv:4: a row has 10 fields, not 2".to_owned()),
            (format!("{header}{columns}\na,speed,ns,,1,1,1,1,,\n"), r#"r.csv:4: "speed" is no quantity"#.to_owned()),
            (format!("{header}{columns}\na,time,gas,,1,1,1,1,,\n"), r#"r.csv:4: "gas" is no unit"#.to_owned()),
            (format!("{header}{columns}\na,time,ns,,nan,1,1,1,,\n"), r#"r.csv:4: "nan" is no median"#.to_owned()),
            (format!("{header}{columns}\na,time,ns,,1,1,1,-1,,\n"), r#"r.csv:4: "-1" is no rounds"#.to_owned()),
        ] {
            assert_eq!(Record::from_csv(&text, "r.csv").unwrap_err().to_string(), message, "{text}");
        }
    }
}
