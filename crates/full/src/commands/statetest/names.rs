//! Names of files on standard input, one a line, as other clients' statetest takes them: each is run when its line is there, and answered by one
//! line of JSON before the next is read.

use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};

use residue_command::output;
use residue_command::verdict::Verdict;

/// Bytes of a line at most.
const LINE_BYTES_MAX: u64 = 1 << 16;

/// True if standard input has names: a text that does not begin with a brace or a bracket is no JSON of tests. Waits for the first character.
pub fn are_there() -> Result<bool> {
    let mut input = io::stdin().lock();
    loop {
        let buffer = input.fill_buf()?;
        let text = buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(buffer);
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(first) => {
                return Ok(!matches!(first, b'{' | b'[')
                    && !text.starts_with(b"\xff\xfe")
                    && !text.starts_with(b"\xfe\xff"));
            }
            None if buffer.is_empty() => return Ok(false),
            None => {
                let length = buffer.len();
                input.consume(length);
            }
        }
    }
}

/// The run of some files: whether all is good, and the answer where none has been written.
type Run<'a> = dyn Fn(&[PathBuf]) -> Result<(Verdict, Option<Value>)> + 'a;

/// Answers every line by what `run` makes of the file; `None` where it has written by itself. A file that cannot be run is answered by an
/// `error`, the next ones are run all the same, and the exit code is that of bad input.
pub fn answer(run: &Run<'_>) -> Result<Verdict> {
    let (mut all_good, mut first_error, mut errors) = (true, None, 0);
    while let Some(name) = next_name()? {
        let (name, ran) = match name {
            // It would take the names that follow.
            Ok(name) if name == "-" => (name.into(), Err(anyhow!("-: standard input is not the name of a file here"))),
            Ok(name) => (Value::from(name.as_str()), run(&[PathBuf::from(&name)])),
            Err(error) => (Value::Null, Err(error)),
        };
        let answer = match ran {
            Ok((verdict, answer)) => {
                all_good &= matches!(verdict, Verdict::Good);
                answer
            }
            Err(error) => {
                let message = format!("{error:#}");
                errors += 1;
                first_error.get_or_insert_with(|| message.clone());
                Some(json!({ "success": false, "error": message }))
            }
        };
        if let Some(mut answer) = answer {
            answer["file"] = name;
            output::result(&answer.to_string())?;
        }
    }
    match first_error {
        Some(first) if errors > 1 => bail!("{first}\nand {} more files that cannot be run", errors - 1),
        Some(first) => bail!("{first}"),
        None => Ok(Verdict::of(all_good)),
    }
}

/// The next line that is not empty, or why it is no name.
fn next_name() -> Result<Option<Result<String>>> {
    loop {
        let mut line = Vec::new();
        let count = io::stdin().lock().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        if count as u64 == LINE_BYTES_MAX {
            bail!("standard input: a line of more than {LINE_BYTES_MAX} bytes is no name of a file"); // The comparison widens.
        }
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        match std::str::from_utf8(line).map(str::trim) {
            Ok("") => {}
            Ok(name) => return Ok(Some(Ok(name.to_owned()))),
            Err(error) => return Ok(Some(Err(anyhow!("standard input: a name is not UTF-8: {error}")))),
        }
    }
}
