//! Programs whose stack is high, near its end of 1,024 words: long blocks, sequences in sequences, calls in calls, expressions in expressions.

use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_ir::{Program, text};
use std::fmt::Write;

/// Kinds of programs.
const SHAPES: u64 = 4;

/// The program of `seed`, of four kinds one after the other: `seed` mod 4 says which.
///
/// # Panics
/// If the text that it writes is none of a program, which is a mistake here.
pub fn high_program(modulus: &BigUint, seed: u64) -> Program {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let body = match seed % SHAPES {
        0 => long_block(&mut random),
        1 => nested_sequences(&mut random),
        2 => deep_calls(&mut random),
        _ => deep_expression(&mut random),
    };
    let text = format!(
        "program \"high {seed}\" modulus {modulus:#x} variable x0 \"x\" constant c0 = 0x1 constant c1 = 0x2 {body}"
    );
    text::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// One block of many operations, most of them products, each of the one before and an old value.
fn long_block(random: &mut ChaCha8Rng) -> String {
    let count = random.random_range(200..1_300);
    // The same operand everywhere, another one now and then, or squares.
    let style = random.random_range(0..3);
    let mut ops = String::new();
    for value in 1..=count {
        let operation = ["mul", "mul", "mul", "mul", "add", "sub"][random.random_range(0..6)];
        let other = match style {
            0 => format!("v{}", value - 1),
            1 => "c1".to_owned(),
            _ => format!("v{}", random.random_range(0..value.min(8))),
        };
        let _ = write!(ops, " v{value} = {operation} v{} {other}", value - 1);
    }
    format!(
        "function f0 \"start\" () -> () values {} {{ word w0 = 0x0 word w1 = calldata_word w0 word w2 = defined
         reduce w1 -> v0 block {{ {ops} }} word_of v{count} from 0 -> w2 return_word w2 }}",
        count + 1
    )
}

/// Two sequences or three in each other, each of many steps, with a word in the innermost one.
fn nested_sequences(random: &mut ChaCha8Rng) -> String {
    let depth = random.random_range(2..=3);
    let mut text = String::new();
    for level in (0..depth).rev() {
        let steps = random.random_range(10..if level == 0 { 560 } else { 1_400 / depth });
        // The part with what is inside comes once, first, last or between: the others do nothing.
        let at = [0, steps - 1, random.random_range(0..steps)][random.random_range(0..3)];
        let list: Vec<&str> = (0..steps).map(|step| if step == at { "1" } else { "0" }).collect();
        let inside = if level + 1 == depth { "get x0 -> w0 set x0 w2".to_owned() } else { text };
        text = format!(
            "sequence ({}) () {{ part () {{ give () }} part () {{ {inside} give () }} }} -> ()",
            list.join(" ")
        );
    }
    format!(
        "function f0 \"start\" () -> () values 0 {{ word w0 = defined word w1 = calldata_size word w2 = add w0 w1 word w3 = defined
         set x0 w1 {text} get x0 -> w3 return_word w3 }}"
    )
}

/// Functions that keep words and call each other, deep.
fn deep_calls(random: &mut ChaCha8Rng) -> String {
    let (depth, words) = (random.random_range(100..700), random.random_range(0..=3));
    let mut text = String::new();
    let defined: String = (0..=words).map(|word| format!("word w{word} = defined ")).collect();
    for number in 0..depth {
        let _ = write!(text, "function f{number} \"f{number}\" () -> () values 0 {{ {defined}");
        // The sum of the words that are kept.
        let mut sum = 0;
        for word in 1..=words {
            let _ = write!(text, "word w{} = add w{sum} w{word} ", words + word);
            sum = words + word;
        }
        for word in 0..=words {
            let _ = write!(text, "get x0 -> w{word} ");
        }
        if number > 0 {
            let _ = write!(text, "call f{} () -> () ", number - 1);
        }
        let _ = write!(text, "set x0 w{sum} }} ");
    }
    format!(
        "{text} function f{depth} \"start\" () -> () values 0 {{ word w0 = calldata_size word w1 = defined set x0 w0
         call f{} () -> () get x0 -> w1 return_word w1 }}",
        depth - 1
    )
}

/// A word that is computed of as many as there may be, each on top of the others.
fn deep_expression(random: &mut ChaCha8Rng) -> String {
    let depth = random.random_range(100..499);
    let mut text = "function f0 \"start\" () -> () values 0 { word w0 = calldata_size ".to_owned();
    for word in 1..=depth {
        let operation = ["add", "sub", "xor"][random.random_range(0..3)];
        // What is computed first is the second operand.
        let _ = write!(
            text,
            "word w{} = 0x{:x} word w{} = {operation} w{} w{} ",
            2 * word - 1,
            word,
            2 * word,
            2 * word - 2,
            2 * word - 1
        );
    }
    format!("{text} return_word w{} }}", 2 * depth)
}
