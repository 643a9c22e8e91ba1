//! `residue asm` and `residue disasm`, and the files they write.

use std::fs;

use crate::support::{directory, file, residue, residue_reading};

#[test]
fn text_becomes_code_and_comes_back() {
    for (revision, text, code) in [
        ("eip6690-2024", "MULMODX 2:1 0:3 1:2 x4", "0xc502010003010204"),
        ("evm384-v7", "MULMODMONT384 0x90 0 0x30 0x60", "0x6f00000090000000000000003000000060c2"),
        ("eip6690-2024", "PUSH @end JUMP INVALID end: STOP", "0x600456fe5b00"),
    ] {
        let assembled = residue_reading(text, &["asm", "-", "--revision", revision]);
        assert_eq!(assembled.text(), format!("{code}\n"));
        let disassembled = residue_reading(code, &["disasm", "-", "--revision", revision]);
        let again = residue_reading(disassembled.text(), &["asm", "-", "--revision", revision]);
        assert_eq!(again.text(), assembled.text());
    }
}

#[test]
fn objects() {
    let object = residue_reading("PUSH 1", &["asm", "-", "--json"]).json(0);
    let expected = r#"{"revision":"eip6690-2024","code":"0x6001","code_bytes":2,"path":null}"#;
    assert_eq!(object.to_string(), expected);
    let object = residue_reading("0x6001", &["disasm", "-", "--json", "--revision", "evm384-v7"]).json(0);
    assert_eq!(object["revision"], "evm384-v7");
    assert_eq!(object["code_bytes"], 2);
    assert!(object["assembly"].as_str().unwrap().starts_with("PUSH1 0x01"), "{object}");
}

#[test]
fn files_are_written_whole_and_nothing_else() {
    let directory = directory("text_files");
    let source = file(&directory, "source.asm", "PUSH 1 PUSH 2 ADD");
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    residue(&["asm", &source, "-o", &path("code.hex")]).text();
    residue(&["asm", &source, "-o", &path("code.bin")]).text();
    residue(&["disasm", &path("code.bin"), "-o", &path("back.asm")]).text();
    assert_eq!(fs::read_to_string(path("code.hex")).unwrap(), "0x6001600201\n");
    assert_eq!(fs::read(path("code.bin")).unwrap(), [0x60, 1, 0x60, 2, 1]);
    assert!(fs::read_to_string(path("back.asm")).unwrap().contains("ADD"));
    // A second time over what is there.
    residue(&["asm", &source, "--output", &path("code.bin")]).text();
    let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["back.asm", "code.bin", "code.hex", "source.asm"]);
}

#[test]
fn messages_name_the_nearest_mnemonic_and_repeat_no_long_word() {
    let directory = directory("text_messages");
    let source = file(&directory, "near.asm", "\u{feff}PUSH 1\nMSTOR");
    residue(&["asm", &source]).refused(&["near.asm:2:1", "\"MSTOR\" is no mnemonic", "did you mean MSTORE"]);
    let marked = file(&directory, "marked.asm", "\u{feff}PUSH 1");
    assert_eq!(residue(&["asm", &marked]).text(), "0x6001\n");
    let long = file(&directory, "long.asm", "x".repeat(44_000));
    residue(&["asm", &long]).refused(&["long.asm:1:1", "(44000 characters)"]);
}

#[test]
fn a_failure_leaves_the_old_file() {
    let directory = directory("text_failure");
    let source = file(&directory, "source.asm", "PUSH 1\nPUSH 2 FOO");
    let old = file(&directory, "code.hex", "old");
    residue(&["asm", &source, "-o", &old]).refused(&["source.asm:2:8: \"FOO\"", "eip6690-2024"]);
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    let nowhere = directory.join("no/such/code.hex");
    let good = file(&directory, "good.asm", "STOP");
    residue(&["asm", &good, "-o", nowhere.to_str().unwrap()]).refused(&["no/such/code.hex"]);
    residue(&["asm", &good, "-o", directory.to_str().unwrap()]).refused(&["directory"]);
}

#[test]
#[cfg(unix)]
fn links_are_followed_and_devices_written() {
    let directory = directory("text_links");
    let source = file(&directory, "source.asm", "STOP");
    let target = file(&directory, "target.hex", "old");
    let link = directory.join("link.hex");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    residue(&["asm", &source, "-o", link.to_str().unwrap()]).text();
    assert_eq!(fs::read_to_string(&target).unwrap(), "0x00\n");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    residue(&["asm", &source, "-o", "/dev/null"]).text();
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let directory = directory("text_pipe");
    let code = file(&directory, "code.bin", vec![0x5b; 1 << 20]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_residue"));
    let mut child = child.args(["disasm", &code]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}
