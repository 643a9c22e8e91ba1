//! The text form reads back its own output and never panics; the verifier accepts well-formed programs and names the
//! errors of others.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{Plan, Seeded};
use num_bigint::BigUint;
use residue_ir::{Outcome, Place, Program, Value, evaluate, evaluate_within, record, text, verify};

fn recorded(seed: u64) -> Program {
    let plan = Plan::new(seed);
    record("a plan", &((BigUint::from(1u8) << 384) - 317u16), |machine| plan.run(machine))
}

#[test]
fn programs_are_read_back_as_printed() {
    for seed in 0..500 {
        let program = recorded(seed);
        assert_eq!(text::parse(&text::print(&program)), Ok(program), "seed {seed}");
    }
}

/// Description of the error in each text, and the part that it names.
#[test]
fn a_fault_is_found_where_it_stands() {
    let text = |body: &str| {
        format!(
            "program \"p\"\nmodulus 0x61\nconstant c0 = 0x5\nfunction f0 \"start\" () -> () values 2 {{\n  word w0 = 0x0\n{body}}}\n"
        )
    };
    let cases = [
        ("  block {\n    v0 = mul c0 v1\n  }\n", "v0 = mul c0 v1", "v1 is used where it is not defined"),
        ("  block {\n    v0 = mul c0 c1\n  }\n", "v0 = mul c0 c1", "constant c1 does not exist"),
        (
            "  branch w0 {\n    parse w0 bytes 9000 -> v0\n    give ()\n  } else {\n    give ()\n  } -> ()\n",
            "parse w0 bytes 9000 -> v0",
            "",
        ),
        ("  branch w0 {\n    give ()\n  } else {\n    give (c0)\n  } -> ()\n", "branch w0 {", ""),
        ("  block {\n    v0 = add c0 c0\n  }\n", "function f0 \"start\" () -> () values 2 {", "2 values are counted"),
    ];
    for (body, expected, what) in cases {
        let text = text(body);
        let (program, places) = text::parse_with_places(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let error = verify(&program).unwrap_err();
        assert_eq!(&text[places.of(&error).unwrap()], expected, "{error}");
        assert!(error.what.contains(what), "{error}");
    }
    let text = text("  block {\n    v0 = div c0 c0\n  }\n");
    let error = text::parse(&text).unwrap_err();
    assert_eq!((&text[error.span.clone()], error.line), ("div", 7));
    let end = text::parse("program \"p\" modulus").unwrap_err();
    assert_eq!(end.span, 19..19);
}

/// Each operation is in a stretch of its line, within the one that the text names; all else is as read.
#[test]
fn operations_know_their_lines() {
    let text = "program \"p\"\nmodulus 0x61\nconstant c0 = 0x5\nfunction f0 \"start\" () -> () values 4 {\n  stretch s0 \"squares\"
  block {\n    v0 = mul c0 c0 v1 = mul v0 v0\n    of s0\n    v2 = mul v1\n      v1\n    of none v3 = add v2 v0\n  }\n  return_elements (v3) bytes 1\n}\n";
    let by_line = text::read_by_line(text).unwrap();
    assert_eq!(text::read(text).as_ref(), Ok(&by_line));
    let names = |value| {
        let path = by_line.functions[0].origins.of(Value(value));
        path.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join("/")
    };
    assert_eq!([0, 1, 2, 3].map(names), ["line 7", "line 7", "squares/line 9", "line 11"]);
    // Stretches that lines add are none that a text may name.
    let wrong = text.replace("of none", "of s1");
    let place = wrong.find("s1").unwrap();
    assert_eq!(text::read_by_line(&wrong).unwrap_err().span, place..place + 2);
}

/// Functions that call each other, the start outermost.
fn nested(count: usize) -> Program {
    let function = |number: usize| {
        let call = number.checked_sub(1).map_or(String::new(), |callee| format!("call f{callee} () -> ()"));
        format!("function f{number} \"f{number}\" () -> () values 0 {{ {call} }}\n")
    };
    let functions: String = (0..count).map(function).collect();
    text::parse(&format!("program \"nested\" modulus 0x61\n{functions}")).unwrap()
}

#[test]
fn calls_may_be_nested_so_deep_and_no_deeper() {
    assert_eq!(verify(&nested(1001)), Ok(()));
    assert_eq!(evaluate(&nested(1001), &[]), Outcome::Ended);
    let error = verify(&nested(1002)).unwrap_err();
    assert_eq!(
        (error.place, error.what.as_str()),
        (Place::Function(1001), "`f1001` is the outermost of 1001 calls and regions")
    );
}

/// Well-formed programs without outcome: the kind, the body of a function, and the fault. `16 PARTS` are so many that do nothing.
const WITHOUT_OUTCOME: [(&str, &str, &str); 22] = [
    ("capacity", "store a0 w1 (c0)", "element 4 of array `table`, which has 4"),
    ("capacity", "load a0 w1 -> (v0)", "element 4 of array `table`, which has 4"),
    ("room", "reserve a1 w0 store a1 w0 (c0)", "element 2 of array `open`, of which there is room for 2"),
    ("room", "store a1 w1 (c0)", "element 4 of array `open`, of which there is room for 0"),
    ("unstored", "load a0 w0 -> (v0)", "element 2 of array `table` is loaded before it is stored"),
    ("row", "lookup t0 w1 -> (v0)", "element 4 of table `rows`, which has 1"),
    ("cells", "set_indices x0 a0 cells 8 indices 2 w1", "indices of 2 bits in cells of 8: 0x4 has others"),
    ("indices", "index x0 a0 cells 8 indices 2 from 0 -> w3", "variable `x` is read as what it was not set to"),
    (
        "indices",
        "set_indices x0 a0 cells 8 indices 2 w0 index x0 a0 cells 16 indices 2 from 0 -> w3",
        "variable `x` is read as what it was not set to",
    ),
    ("choice", "sequence (w4 from 0) () { 16 PARTS } -> ()", "one of 16 parts of a sequence is chosen by 17"),
    ("countdown", "countdown w1 () { turn () { give () } } -> ()", "a countdown of 1 turns is entered at 4"),
    (
        "steps",
        "sequence (0 0 0) first w0 times 3 () { part () { give () } } -> ()",
        "the first 2 times 3 steps of a sequence that has 3",
    ),
    (
        "modulus",
        "enter p0 (w1)",
        "subprogram `given` is entered over 0x4, which is not odd, above 1 and of at most 1 limbs",
    ),
    ("twice", "enter p0 (w5) enter p0 (w5)", "subprogram `given`, whose modulus is given, is entered twice"),
    ("element", "element_of (w6) -> v0", "an element is made of 0x61, which is not below the modulus 0x61"),
    ("element", "parse_mont_le w0 -> v0", "an element is made of 0xffff, which is not below the modulus 0x61"),
    ("hash", "keccak256 (word w0 bytes w6) -> w3", "97 bytes of a word are hashed, which has 32"),
    ("scratch", "scratch bytes 32 set_scratch w0 w0", "scratch memory is used after its end: at byte 2"),
    (
        "scratch",
        "scratch bytes 35 take_scratch from 4 bytes 32 -> (v0)",
        "scratch memory is used after its end: at byte 4",
    ),
    ("precompile", "return_precompile at 2", "the precompile at 0x2 is called"),
    ("account", "return_account at 0x10000", "the account at 0x0000000000000000000000000000000000010000 is called"),
    (
        "turns",
        "repeat w0 index w3 () = () { branch w0 { give () } else { give () } -> () give () } -> ()",
        "it takes more than 3 turns, parts and calls",
    ),
];

/// Each kind of the page's list, and no other.
#[test]
fn what_has_no_outcome_is_said_and_listed() {
    let parts = "part () { give () } ".repeat(16);
    for (kind, body, message) in WITHOUT_OUTCOME {
        let body = body.replace("16 PARTS", &parts);
        let text = format!(
            "program \"p\" modulus 0x61 variable x0 \"x\"
             subprogram p0 \"given\" modulus given limbs 1 {{ function f0 \"start\" () -> () values 0 {{ }} }}
             constant c0 = 0x1 array a0 \"table\" values 1 capacity 4 array a1 \"open\" values 1 capacity unbounded
             table t0 \"rows\" values 1 {{ (0x1) }}
             function f0 \"start\" () -> () values {} {{ word w0 = 0x2 word w1 = defined word w2 = calldata_size word w3 = defined
             word w4 = 0x11 word w5 = 0x7 word w6 = defined word w7 = 0x5d word w8 = add w2 w7 bind w2 -> w1 bind w8 -> w6 {body} }}",
            usize::from(body.contains("v0"))
        );
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        verify(&program).unwrap_or_else(|error| panic!("{error}: {text}"));
        let found = evaluate_within(&program, &[255; 4], 3).expect_err(&body);
        assert_eq!((found.kind(), found.to_string().as_str()), (kind, message), "{body}");
    }
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ir.md")).unwrap();
    let list = page.split("## What has no outcome").nth(1).unwrap().split("\n## ").next().unwrap();
    let listed: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let mut kinds: Vec<&str> = WITHOUT_OUTCOME.iter().map(|(kind, ..)| *kind).collect();
    kinds.dedup();
    assert_eq!(listed, kinds);
}

/// Indices that are constant are refused at their statement.
#[test]
fn constants_past_an_end_are_refused_at_their_statements() {
    for (statement, what) in [
        ("store a0 w0 (c0)", "element 4 of array `table`, which has 4"),
        ("load a0 w0 -> (v0)", "element 4 of array `table`, which has 4"),
        // 2²⁵⁶ − 1, 4 · 1 and 4 + 1 mod 2.
        ("load a0 w2 -> (v0)", &format!("element {} of array `table`, which has 4", ruint::aliases::U256::MAX)),
        ("store a0 w3 (c0)", "element 4 of array `table`, which has 4"),
        ("lookup t0 w5 -> (v0)", "row 1 of table t0, which has 1"),
    ] {
        let text = format!(
            "program \"p\" modulus 0x61 constant c0 = 0x1 array a0 \"table\" values 1 capacity 4 table t0 \"rows\" values 1 {{ (0x1) }}
             function f0 \"start\" () -> () values {} {{ word w0 = 0x4 word w1 = 0x1 word w2 = 0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
             word w3 = mul w0 w1 word w4 = 0x2 word w5 = addmod w0 w1 w4
             store a0 w1 (c0) {statement} }}",
            usize::from(statement.contains("v0"))
        );
        let error = verify(&text::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))).unwrap_err();
        assert_eq!((error.place, error.what.as_str()), (Place::Statement { function: 0, statement: 1 }, what));
    }
}

/// Sizes and places that an effect cannot have.
#[test]
fn arguments_out_of_their_range_are_refused() {
    for (statement, what) in [
        ("put_scratch at 0 bytes 33 (c0)", "elements of 33 bytes are not in scratch memory: 1 to 32 are"),
        ("put_scratch at 16777216 bytes 1 (c0)", "elements end at byte 16777216 of scratch memory or before"),
        ("take_scratch from 0 bytes 0 -> (v0)", "elements of 0 bytes are not in scratch memory: 1 to 32 are"),
        ("take_scratch from 16777216 bytes 1 -> (v0)", "elements end at byte 16777216 of scratch memory or before"),
        (
            "copy_scratch 1 from 0 bytes 16777216",
            "bytes are copied that end at byte 16777217 of scratch memory, not 16777216 or before",
        ),
        ("get_across x0 from 32 -> w1", "byte 32 is not one after the first of a word"),
        ("return_precompile at 65536", "no precompile has the address 0x10000"),
    ] {
        let text = format!(
            "program \"p\" modulus 0x61 constant c0 = 0x1 variable x0 \"x\" variable x1 \"y\"
             function f0 \"start\" () -> () values {} {{ word w0 = 0x4 word w1 = defined bind w0 -> w1 {statement} }}",
            usize::from(statement.contains("v0"))
        );
        let error = verify(&text::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))).unwrap_err();
        assert_eq!((error.place, error.what.as_str()), (Place::Statement { function: 0, statement: 1 }, what));
    }
}

/// Words that a sequence hides are named as such, with the way out.
#[test]
fn a_word_from_around_a_sequence_is_refused_in_its_parts_with_the_way_out() {
    let check = |body: &str| {
        let text = format!(
            "program \"p\" modulus 0x61 variable x0 \"x\" function f0 \"start\" () -> () values 0 {{
             word w0 = calldata_size word w1 = defined word w2 = defined {body} }}"
        );
        verify(&text::parse(&text).unwrap()).map_err(|error| error.what)
    };
    let in_part = |inside: &str| {
        format!("bind w0 -> w1 set x0 w1 sequence (0) () {{ part () {{ {inside} give () }} }} -> () set x0 w1")
    };
    let refused = check(&in_part("set x0 w1")).unwrap_err();
    assert_eq!(
        refused,
        "w1 is defined around a sequence, whose parts see no words from there: a variable takes it there, by `set` and `get`"
    );
    assert_eq!(check(&in_part("get x0 -> w2 set x0 w2")), Ok(()));
    assert_eq!(check(&in_part("countdown w1 () { turn () { give () } } -> ()")), Ok(()));
}

#[test]
fn names_may_have_any_characters() {
    for name in ["", "\"", "\\", "a \"quoted\" name", "# no comment", "line\nend\r\t\0", "ξ\u{301}\u{202e}", "'", "{ }"]
    {
        let mut program = recorded(1);
        program.name = name.to_owned();
        program.functions[0].name = format!("{name}\"");
        program.variables[0] = name.to_owned();
        assert_eq!(text::parse(&text::print(&program)), Ok(program), "{name:?}");
    }
}

#[test]
fn damaged_text_is_refused_or_another_program() {
    let mut seeded = Seeded(3);
    let (mut refused, mut read, mut verified) = (0, 0, 0);
    for seed in 0..3000 {
        let printed = text::print(&recorded(seed % 40));
        let tokens: Vec<&str> = printed.split_inclusive([' ', '\n', '(', ')']).collect();
        let mut damaged: Vec<&str> = tokens.clone();
        for _ in 0..1 + seeded.below(3) {
            let (at, from) = (seeded.below(damaged.len()), seeded.below(tokens.len()));
            match seeded.below(4) {
                0 if damaged.len() > 1 => drop(damaged.remove(at)),
                1 => damaged[at] = tokens[from],
                2 => damaged.insert(at, tokens[from]),
                _ => damaged.truncate(at.max(1)),
            }
        }
        match text::parse(&damaged.concat()) {
            Ok(program) => {
                read += 1;
                verified += u32::from(verify(&program).is_ok());
            }
            Err(error) => {
                refused += 1;
                assert!(error.line >= 1 && error.line <= printed.lines().count() + 1, "{error}");
            }
        }
    }
    assert!(refused > 100 && read > 100 && verified > 10, "{refused} refused, {read} read, {verified} well formed");
}

#[test]
fn any_characters_are_refused_without_a_panic() {
    let mut seeded = Seeded(4);
    let pieces = [
        "program",
        "\"",
        "\\",
        "(",
        ")",
        "{",
        "}",
        "#",
        "\n",
        " ",
        "v0",
        "w0",
        "v",
        "c99999999999",
        "0x",
        "0xg",
        "é",
        "𝔽",
        "modulus",
        "function",
        "f0",
        "->",
        "values",
        "4294967296",
        "-1",
        "block",
        "repeat",
        "countdown",
        "sequence",
        "\u{0}",
        "\"\\u{110000}\"",
    ];
    for _ in 0..5000 {
        let text: String = (0..seeded.below(30)).map(|_| pieces[seeded.below(pieces.len())]).collect();
        assert!(text::parse(&text).is_err(), "{text:?}");
        let spaced: String =
            (0..seeded.below(30)).map(|_| pieces[seeded.below(pieces.len())].to_owned() + " ").collect();
        assert!(text::parse(&spaced).is_err(), "{spaced:?}");
    }
}

/// A program text with `body` as its start, which has the words w0 = 1, w1 = defined and three values.
fn start(body: &str) -> String {
    format!(
        "program \"p\" modulus 0x61 function f0 \"start\" () -> () values 3 {{ word w0 = 0x1 word w1 = defined {body} }}"
    )
}

/// Text of `depth` nested branches.
fn branches(depth: usize) -> String {
    let closed = "give () } else { give () } -> () ".repeat(depth);
    start(&format!("{}{closed}", "branch w0 { ".repeat(depth))).replace("values 3", "values 0")
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [65, 1000, 200_000] {
        assert!(text::parse(&branches(depth)).unwrap_err().expected.contains("regions at most 64 deep"));
    }
    let program = text::read(&branches(64)).unwrap();
    assert_eq!(text::read(&text::print(&program)), Ok(program));
    // What was not read from a text is held to the same, so that all that is printed is read back.
    let mut deeper = text::parse(&branches(64)).unwrap();
    let inner = std::mem::take(&mut deeper.functions[0].body);
    let mut outer = text::parse(&branches(1)).unwrap();
    let residue_ir::Statement::Control(control) = &mut outer.functions[0].body.statements[0] else { panic!() };
    control.arms[0].body = inner;
    let error = verify(&outer).unwrap_err();
    assert_eq!(error.to_string(), "`start` has regions 65 deep in each other: at most 64");
}

#[test]
fn a_function_has_so_many_values_and_no_more() {
    let text = |values: u32| {
        let all: String = (0..values).map(|value| format!("v{value} ")).collect();
        let table = format!("table t0 \"t\" values {values} {{ ({}) }}", "0x1 ".repeat(values as usize));
        let body = format!("{{ word w0 = 0x0 lookup t0 w0 -> ({all}) }}");
        format!("program \"p\" modulus 0x61 {table} function f0 \"f\" () -> () values {values} {body}")
    };
    assert!(text::read(&text(1 << 16)).is_ok());
    let error = text::read(&text((1 << 16) + 1)).unwrap_err();
    assert!(error.what.contains("`f` has 65537 values: at most 65536"), "{error}");
}

#[test]
fn numbers_have_digits_and_limits_and_long_tokens_are_cut() {
    let message = |body: &str| text::read(&start(body)).unwrap_err().what;
    for number in ["0x", "0x_", "0x_1", "0x1_", "0x+1", "+0x1", "0xg"] {
        for text in [start("").replace("0x1", number), start("").replace("0x61", number)] {
            let error = text::read(&text).unwrap_err();
            assert!(error.what.ends_with(&format!("found `{number}`")), "{number}: {error}");
        }
    }
    assert!(text::parse(&start("").replace("0x61", "0x6_1")).is_ok());
    for (body, expected) in [
        ("parse w0 bytes +1 -> v0", "expected a number, found `+1`"),
        ("parse w+0 bytes 1 -> v0", "expected a word such as w0, found `w+0`"),
        (
            "parse w0 bytes 99999999999999999999 -> v0",
            "expected a number, at most 4294967295, found `99999999999999999999`",
        ),
        (
            "return_word w99999999999999999999",
            "expected a word such as w0, at most 4294967295, found `w99999999999999999999`",
        ),
    ] {
        assert_eq!(message(body), expected);
    }
    let address = text::read(&start("").replace("0x1", "has precompile 65536")).unwrap_err();
    assert_eq!(address.what, "expected the address of a precompile, at most 65535, found `65536`");
    let wide = text::read(&start("").replace("0x1", &format!("0x1{}", "0".repeat(64)))).unwrap_err();
    assert!(wide.what.starts_with("expected a number below 2²⁵⁶, found `0x1000"), "{wide}");
    let long = "9".repeat(1 << 20);
    for text in [
        start(&long),
        start(&format!("parse w0 bytes {long} -> v0")),
        start("").replace("0x61", &format!("0x{long}")),
        start("").replace("modulus 0x61", &format!("modulus 0x61 constant c0 = 0x{long}")),
        start("").replace("0x1 ", &format!("0x{long} ")),
        start("").replace("start", &long),
    ] {
        let error = text::read(&text).unwrap_err();
        assert!(error.what.chars().count() < 1200 && error.what.contains('…'), "{error}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let (text, marked) = (branches(1), format!("\u{feff}{}", branches(1)));
    assert_eq!(text::read(&marked), text::read(&text));
    let error = text::read("\u{feff}prog").unwrap_err();
    assert_eq!((error.span, error.what.as_str()), (3..7, "expected `program`, found `prog`"));
}

#[test]
fn a_mistake_in_no_function_names_none() {
    let message = |text: &str| text::read(text).unwrap_err().to_string();
    assert_eq!(message("program \"p\" modulus 0x2"), "modulus 0x2 is below 3 or above 4096 bits");
    assert_eq!(message("program \"p\" modulus 0x61"), "no function");
}

#[test]
fn huge_numbers_are_refused() {
    for (what, body) in [
        ("value", "block { v99999999999 = add v0 v0 }"),
        ("word", "return_word w4294967296"),
        ("size", "parse w0 bytes 4294967296 -> v0"),
    ] {
        assert!(text::parse(&start(body)).is_err(), "{what}");
    }
    let long = format!("0x{}", "f".repeat(65));
    assert!(text::parse(&start("").replace("0x1", &long)).is_err());
    let long = format!("0x{}", "f".repeat(100_000));
    let program = text::parse(&start("").replace("0x61", &long)).unwrap();
    assert!(verify(&program).unwrap_err().what.contains("4096 bits"));
}

/// Every statement and declaration once.
const WELL_FORMED: &str = r#"
program "well formed" modulus 0x61
constant c0 = 0x5
array a0 "pairs" values 2 capacity 4
array a1 "singles" values 1 capacity unbounded
variable x0 "count"
variable x1 "places"
function f0 "double" (v0) -> (v1) values 2 {
  block { v1 = add v0 v0 }
}
function f1 "start" () -> () values 54 {
  word w0 = 0x3
  word w1 = calldata_size
  word w2 = calldata_word w0
  word w3 = add w1 w2
  word w4 = defined
  word w5 = defined
  word w6 = defined
  word w7 = defined
  word w8 = defined
  word w9 = defined
  word w10 = 0x2
  word w11 = sub w10 w7
  word w12 = 0x2
  parse w0 bytes 1 -> v0
  reserve a1 w0
  fill a0 count 4 (c0 v0)
  set_indices x1 a0 cells 16 indices 2 w0
  index x1 a0 cells 16 indices 2 from 0 -> w9
  store a0 w9 (v0 c0)
  load a0 w0 -> (v1 v2)
  call f0 (v1) -> (v3)
  repeat w0 index w4 (v4 v5) = (v3 c0) {
    block { v6 = mul v4 v5 v7 = sub v6 v0 }
    store a1 w4 (v7)
    give (v6 v7)
  } -> (v8 v9)
  is_zero v8 -> w5
  branch w5 {
    bind w3 -> w6
    set x0 w6
    block { v10 = add v8 v9 }
    give (v10)
  } else {
    give (c0)
  } -> (v11)
  equal v11 v0 -> w7
  get x0 -> w8
  require w0
  branch w7 { return_word w8 give () } else { give () } -> ()
  block { v12 = mul v11 v11 v13 = add v12 v0 v14 = add v13 v13 v15 = sub v14 c0 v16 = sub v15 v0 }
  countdown w10 (v16) {
    turn (v17) { block { v18 = mul v17 v0 } give (v18) }
    turn (v19) { block { v20 = add v19 v19 } give (v20) }
    turn (v21) { block { v22 = add v21 c0 } give (v22) }
  } -> (v23)
  sequence (0 1 0) (v23) {
    part (v24) { block { v25 = add v24 v24 } give (v25) }
    part (v26) {
      countdown w11 (v26) {
        turn (v27) { block { v28 = add v27 v9 } give (v28) }
        turn (v29) { block { v30 = add v29 v9 } give (v30) }
      } -> (v31)
      give (v31)
    }
  } -> (v32)
  sequence (1 w12 from 24 w12 from 96 plus 9 2 0 0) first w10 times 2 (v32) {
    part (v33) { block { v34 = add v33 v33 } give (v34) } then 16
    part (v35) { block { v36 = sub v35 c0 } give (v36) } then 15
    part (v41) { give (v41) }
    part (v42) { give (v42) }
    part (v43) { give (v43) }
    part (v44) { give (v44) }
    part (v45) { give (v45) }
    part (v46) { give (v46) }
    part (v47) { give (v47) }
    part (v48) { give (v48) }
    part (v49) { give (v49) }
    part (v50) { give (v50) }
    part (v51) { give (v51) }
    part (v52) { give (v52) }
    part (v53) { give (v53) }
    part (v37) { give (v37) } then 16
    part (v38) { block { v39 = mul v38 v38 } give (v39) }
  } -> (v40)
  return_elements (v40 v9) bytes 2
}
"#;

#[test]
fn a_program_with_every_statement_is_well_formed() {
    let program = text::parse(WELL_FORMED).unwrap();
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(text::parse(&text::print(&program)), Ok(program.clone()));
    // 7 is parsed; the loop goes (14, 5) → (70, 63) → (45, 38) → (61, 54); 61 ≠ 0, so v11 is 5, and v16 = 64 − 5 − 7. Two turns of three: 2·52 + 5 = 12; then 2·(2·12 + 54 + 54) is 70. Then (70 − 5)² is 54, and (2·54)² is 24; a part that changes nothing ends the first two pairs of steps.
    assert_eq!(evaluate(&program, &[0, 0, 0, 7]), Outcome::Returned(vec![0, 24, 0, 54]));
}

/// `from` replaced by `to` in the well formed text makes it badly formed, and the verifier says `what`.
#[track_caller]
fn check(from: &str, to: &str, what: &str) {
    assert_eq!(WELL_FORMED.matches(from).count(), 1, "`{from}` is there once");
    let program = text::parse(&WELL_FORMED.replace(from, to)).unwrap();
    let error = verify(&program).unwrap_err().to_string();
    assert!(error.contains(what), "`{to}`: {error}");
}

#[test]
fn moduli_and_constants_are_in_range() {
    check("0x61", "0x2", "modulus 0x2 is below 3");
    check("0x61", &format!("0x1{}", "0".repeat(1024)), "above 4096 bits");
    check("0x5", "0x61", "constant 0x61 is not below the modulus");
}

#[test]
fn functions_are_named_once_and_called_from_behind() {
    check("\"start\"", "\"double\"", "two functions are named `double`");
    check("\"start\" ()", "\"start\" (v0)", "the start `start` takes or gives values");
    check("\"start\" () -> ()", "\"start\" () -> (c0)", "the start `start` takes or gives values");
    check("call f0", "call f1", "call of function 1");
    check("call f0 (v1)", "call f0 ()", "the input of `double` has 1 values, here 0");
    check("-> (v3)", "-> ()", "the output of `double` has 1 values, here 0");
    let none = text::parse("program \"none\" modulus 0x61").unwrap();
    assert!(verify(&none).unwrap_err().what.contains("no function"));
}

#[test]
fn values_are_defined_once_and_before_their_use() {
    check("values 54", "values 53", "v53 is beyond the function's 53 values");
    check("values 54", "values 55", "55 values are counted, 54 defined");
    check("-> v0\n", "-> v1\n", "v0 is used where it is not defined");
    check("-> (v1 v2)", "-> (v1 v1)", "v1 is defined twice");
    check("-> (v8 v9)", "-> (v8 v6)", "v6 is defined twice");
    check("v6 = mul v4 v5", "v6 = mul v4 v6", "v6 is used where it is not defined");
    check("give (v6 v7)", "give (v6 v8)", "v8 is used where it is not defined");
    check("= (v3 c0)", "= (v3 v4)", "v4 is used where it is not defined");
    check("equal v11 v0", "equal v10 v0", "v10 is used where it is not defined");
    check("equal v11 v0", "equal v11 v5", "v5 is used where it is not defined");
    check("v12 = mul v11 v11", "v12 = mul v11 c1", "constant c1 does not exist");
    check("give (v20)", "give (v18)", "v18 is used where it is not defined");
    check("add v21 c0", "add v19 c0", "v19 is used where it is not defined");
    check("countdown w10 (v16)", "countdown w10 (v17)", "v17 is used where it is not defined");
    check("add v29 v9", "add v27 v9", "v27 is used where it is not defined");
    check("(v0) -> (v1)", "(v0) -> (v9)", "v9 is used where it is not defined");
}

#[test]
fn words_are_defined_once_and_before_their_use() {
    check("-> w7", "-> w5", "w5 is defined twice");
    check("-> w7", "-> w1", "w1 is an expression and cannot be a result");
    check("-> w7", "-> w99", "w99 does not exist");
    check("require w0", "require w99", "w99 does not exist");
    check("require w0", "require w4", "w4 is used where it is not defined");
    check("require w0", "require w6", "w6 is used where it is not defined");
    check("add w1 w2", "add w1 w4", "w3 is made of a later word");
    check("add w1 w2", "add w1 w3", "w3 is made of a later word");
    check("countdown w10", "countdown w4", "w4 is used where it is not defined");
    check("countdown w11", "countdown w4", "w4 is used where it is not defined");
    check(
        "block { v25",
        "require w7 block { v25",
        "w7 is defined around a sequence, whose parts see no words from there: a variable takes it there, by `set` and `get`",
    );
    check("branch w7", "branch w6", "w6 is used where it is not defined");
}

#[test]
fn arrays_and_variables_exist() {
    check("store a0 w9", "store a2 w9", "array a2 does not exist");
    check("load a0 w0", "load a9 w0", "array a9 does not exist");
    check("reserve a1", "reserve a2", "array a2 does not exist");
    check("(v0 c0)", "(v0)", "an element of array `pairs` has 2 values, here 1");
    check("load a0 w0", "load a1 w0", "an element of array `singles` has 1 values, here 2");
    check("fill a0", "fill a3", "array a3 does not exist");
    check("(c0 v0)", "(c0)", "an element of array `pairs` has 2 values, here 1");
    check("count 4 (", "count 5 (", "5 elements of array `pairs` are filled, which has 4");
    check("count 4 (", "count 0 (", "0 elements of array `pairs` are filled: not 1 to 65536");
    check("(c0 v0)", "(c0 v9)", "v9 is used where it is not defined");
    check("get x0", "get x2", "variable x2 does not exist");
    check("set_indices x1", "set_indices x2", "variable x2 does not exist");
    check("index x1 a0", "index x1 a2", "array a2 does not exist");
    check("from 0", "from 8", "bit 8 is not the first of a cell of 16 bits");
    check("from 0", "from 256", "bit 256 is not the first of a cell of 16 bits");
    let cells = "cells have 8, 16, 32 or 64, indices fewer";
    check("cells 16 indices 2 w0", "cells 24 indices 2 w0", &format!("indices of 2 bits in cells of 24: {cells}"));
    check("cells 16 indices 2 w0", "cells 16 indices 16 w0", &format!("indices of 16 bits in cells of 16: {cells}"));
    check("set x0", "set x7", "variable x7 does not exist");
}

/// Indices that a subprogram reads the first bytes of, across from the variable before them.
#[test]
fn indices_are_of_one_unit() {
    let text = r#"
program "outer" modulus 0x61
array a0 "table" values 1 capacity 4
variable x0 "word"
variable x1 "places"
subprogram p0 "inner" modulus 0x65 {
  function f0 "start" () -> () values 0 {
    word w0 = defined
    get_across x0 from 4 -> w0
  }
}
function f0 "start" () -> () values 0 {
  word w0 = 0x0
  set_indices x1 a0 cells 16 indices 2 w0
  enter p0 ()
}
"#;
    let refused = verify(&text::parse(text).unwrap()).unwrap_err();
    assert_eq!(refused.what, "variable x1 has indices of arrays, and two units use it");
    assert!(verify(&text::parse(&text.replace("    get_across x0 from 4 -> w0\n", "")).unwrap()).is_ok());
}

#[test]
fn loops_and_branches_carry_what_they_say() {
    check("= (v3 c0)", "= (v3)", "the initial state of a loop has 2 values, here 1");
    check("give (v6 v7)", "give (v6)", "the next state of a turn has 2 values, here 1");
    check("-> (v8 v9)", "-> (v8)", "the initial state of a loop has 1 values, here 2");
    check("(v16) {", "() {", "the initial state of a countdown has 1 values, here 0");
    check("turn (v19)", "turn ()", "the state of a turn has 1 values, here 0");
    check("give (v22)", "give (v22 v22)", "the next state of a turn has 1 values, here 2");
    check("-> (v23)", "-> (v23 v10)", "the initial state of a countdown has 2 values, here 1");
    check("countdown w10 (v16) {", "countdown w10 () { } -> () countdown w10 (v16) {", "a countdown of 0 turns");
    let turns = format!("countdown w10 () {{ {} }} -> () countdown w10", "turn () { give () } ".repeat(17));
    check("countdown w10", &turns, "a countdown of 17 turns: not 1 to 16");
    check("(0 1 0)", "(0 2 0)", "part 2 of a sequence that has 2");
    check("(0 1 0)", "()", "a sequence of 0 steps: not 1 to 800");
    check("(0 1 0)", "(row 0 0 1 0)", "1 rows come with a part that takes 0");
    check("(0 1 0)", "(0 1 0 row 3)", "a row comes with no part");
    check("(0 1 0) (v23)", "(0 1 0) ()", "the initial state of a sequence has 1 values, here 0");
    check("(0 1 0)", "(w12 from 0)", "one of 16 parts is chosen, of 2");
    check("w12 from 24", "w99 from 24", "w99");
    check("w12 from 24", "w12 from 20", "no cell of 16 bits begins at bit 20");
    check("w12 from 24", "w12 from 248", "no cell of 16 bits begins at bit 248");
    check("w12 from 24", "w12 from 88", "cells of a word begin 8 bits apart, which overlap");
    let apart = text::parse(&WELL_FORMED.replace("w12 from 24", "w12 from 8")).unwrap();
    verify(&apart).unwrap();
    check("plus 9", "plus 16", "part 16 is the first of 16 that can be chosen");
    check("times 2", "times 4", "a sequence of 6 steps, of which 4 are counted as one");
    check("times 2", "times 0", "a sequence of 6 steps, of which 0 are counted as one");
    check("first w10", "first w99", "w99");
    check("plus 9 2", "plus 9 row 2 2", "a sequence of which the first steps are done carries a row");
    check("then 15", "then 1", "part 1 of a sequence of 17 goes on with part 1");
    check("then 15", "then 17", "part 1 of a sequence of 17 goes on with part 17");
    check("part (v24)", "part ()", "the state of a part has 1 values, here 0");
    check("give (v31)", "give (v31 v31)", "the next state of a part has 1 values, here 2");
    check("give (v10)", "give ()", "what a branch gives has 1 values, here 0");
    check("give (c0)", "give (c0 c0)", "what a branch gives has 1 values, here 2");
}

#[test]
fn elements_fit_their_bytes() {
    check("bytes 2", "bytes 0", "output elements of 0 bytes cannot hold 1 bytes");
    check("bytes 2", "bytes 4097", "elements of 4097 bytes are longer than 4096");
    check("bytes 1 ->", "bytes 4294967295 ->", "elements of 4294967295 bytes are longer than 4096");
}

#[test]
fn hashed_words_have_no_more_bytes_than_a_word() {
    let text = |size: &str, word: &str| {
        format!(
            "program \"p\" modulus 0x61 function f0 \"start\" () -> () values 1 {{ word w0 = {size} word w1 = defined \
             sha256 (word {word} bytes w0 calldata w0 bytes w0) -> w1 reduce w1 -> v0 return_elements (v0) bytes 1 }}"
        )
    };
    let program = text::parse(&text("0x20", "w0")).unwrap();
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(text::parse(&text::print(&program)), Ok(program));
    for (size, word, what) in [
        ("0x21", "w0", "w0 asks for more than the 32 bytes of a word"),
        ("0x20", "w1", "w1 is used where it is not defined"),
        ("0x20", "w2", "w2 does not exist"),
    ] {
        let error = verify(&text::parse(&text(size, word)).unwrap()).unwrap_err();
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn an_expression_that_doubles_with_every_word_is_refused_at_once() {
    for words in [11, 60, 100_000] {
        let doubling: String = (1..words).map(|word| format!("word w{word} = add w{0} w{0} ", word - 1)).collect();
        let text = format!(
            "program \"p\" modulus 0x61 function f0 \"start\" () -> () values 0 {{ word w0 = 0x1 {doubling} return_word w{} }}",
            words - 1
        );
        let error = verify(&text::parse(&text).unwrap()).unwrap_err();
        assert!(error.what.contains("more than 1000 parts"), "{error}");
    }
}

#[test]
fn montgomery_form_needs_an_odd_modulus() {
    for statement in ["parse_mont_le w0 -> v0", "return_mont_le (c0)"] {
        let text = |modulus: &str| {
            format!(
                "program \"p\" modulus {modulus} constant c0 = 0x1
                 function f0 \"start\" () -> () values 1 {{ word w0 = 0x0 parse_mont_le w0 -> v0 {statement} }}"
            )
            .replace("parse_mont_le w0 -> v0 parse_mont_le", "parse_mont_le")
        };
        let odd = text::parse(&text("0x61")).unwrap();
        assert_eq!(verify(&odd), Ok(()));
        assert_eq!(text::parse(&text::print(&odd)), Ok(odd));
        let error = verify(&text::parse(&text("0x60")).unwrap()).unwrap_err();
        assert!(error.to_string().contains("0x60 is even"), "{error}");
    }
}
