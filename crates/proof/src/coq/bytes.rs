//! Programs of words and scratch memory as terms of Coq's.

use super::{Stated, list};
use crate::bytes::{Bytes, Expression, Head, Kind, Operator, Step, Walked};
use crate::certificate::Certificate;
use residue_ir::{ModOp, WordOp};

const fn operator(of: Operator) -> &'static str {
    match of {
        Operator::Word(WordOp::Add) => "FAdd",
        Operator::Word(WordOp::Sub) => "FSub",
        Operator::Word(WordOp::Mul) => "FMul",
        Operator::Word(WordOp::Div) => "FDiv",
        Operator::Word(WordOp::Mod) => "FMod",
        Operator::Word(WordOp::Lt) => "FLt",
        Operator::Word(WordOp::Eq) => "FEq",
        Operator::Word(WordOp::And) => "FAnd",
        Operator::Word(WordOp::Or) => "FOr",
        Operator::Word(WordOp::Xor) => "FXor",
        Operator::Word(WordOp::Shl) => "FShl",
        Operator::Word(WordOp::Shr) => "FShr",
        Operator::Word(WordOp::Byte) => "FByte",
        Operator::Modular(ModOp::Add) => "FAddMod",
        Operator::Modular(ModOp::Mul) => "FMulMod",
    }
}

/// Coq's name of a word.
fn word(word: u32) -> u64 {
    u64::from(word) + 1
}

fn expression(of: &Expression) -> String {
    match of {
        Expression::Number(number) => format!("(ENum {number:#x})"),
        Expression::Size => "ESize".to_owned(),
        Expression::Calldata(offset) => format!("(ECalldata {})", expression(offset)),
        Expression::Scratch(offset) => format!("(EScratch {})", expression(offset)),
        Expression::Word(number) => format!("(EWord {})", word(*number)),
        Expression::Op(of, operands) => {
            let [a, b, c] = operands.each_ref().map(expression);
            format!("(EOp {} {a} {b} {c})", operator(*of))
        }
    }
}

/// Steps, one a line, each in the bracket of the one before it.
fn steps(all: &[Step]) -> String {
    let mut text = String::new();
    for step in all {
        text += &match step {
            Step::Bind(bound, of) => format!("(Bind {} {}\n", word(*bound), expression(of)),
            Step::Scratch(size) => format!("(Scratch {size}\n"),
            Step::Set(offset, of) => format!("(SetScratch {} {}\n", expression(offset), expression(of)),
            Step::SetByte(offset, of) => format!("(SetByte {} {}\n", expression(offset), expression(of)),
            Step::Copy(to, from, size) => {
                format!("(Copy {} {} {}\n", expression(to), expression(from), expression(size))
            }
            Step::Hash(hash, offset, size) => {
                format!("(Hash {} {} {}\n", word(*hash), expression(offset), expression(size))
            }
            Step::Require(condition) => format!("(Need {}\n", expression(condition)),
            Step::Branch(condition, first, second) => {
                format!("(Branch {}\n{}\n{}\n", expression(condition), steps(first), steps(second))
            }
            Step::Countdown(count, turns) => {
                let numbered = turns.iter().zip((1..=turns.len()).rev());
                let each = numbered.map(|(turn, number)| format!("(Turn {} {number}\n{}\n", word(*count), steps(turn)));
                let (each, ends) = (each.collect::<String>(), ")".repeat(turns.len()));
                format!("(Countdown {} {}\n{each}Done{ends}\n", word(*count), turns.len())
            }
            Step::Repeat(index, count, turn) => {
                format!("(Repeat {} {}\n{}\n", word(*index), expression(count), steps(turn))
            }
            Step::ReturnWords(all) => {
                format!("(ReturnWords [{}]", all.iter().map(expression).collect::<Vec<_>>().join("; "))
            }
            Step::ReturnScratch(offset, size) => {
                format!("(ReturnScratch {} {}", expression(offset), expression(size))
            }
        };
    }
    if !matches!(all.last(), Some(Step::ReturnWords(_) | Step::ReturnScratch(..))) {
        text += "Done";
    }
    text + &")".repeat(all.len())
}

/// A program of words as a term of Coq's.
pub fn program(program: &Bytes) -> String {
    steps(&program.steps)
}

fn kind(of: Kind) -> String {
    match of {
        Kind::Same => "Same".to_owned(),
        Kind::New(number) => format!("New {number}"),
        Kind::Index => "Index".to_owned(),
        Kind::Left => "Left".to_owned(),
    }
}

fn head((index, head): (&u32, &Head)) -> String {
    let Head { spot, paid, to_zero, stack, cells, known, news } = head;
    let [stack, cells] = [stack, cells].map(|kinds| list(kinds.iter().map(|&of| kind(of)), 16));
    let known = list(known.iter().map(|&(known, of)| format!("({}%positive, {})", word(known), kind(of))), 8);
    format!("({}%positive, Head {spot} {paid} {to_zero} {stack}\n   {cells}\n   {known} {news})", word(*index))
}

/// Hints of loops, each as a term of Coq's: their heads, words of memory and words of the program that are zero.
fn told(of: &Bytes, walked: &Walked) -> [String; 3] {
    let unset = of.unset.iter().map(|&unset| format!("{}%positive", word(unset)));
    [list(walked.heads.iter().map(head), 1), list(&walked.zeros, 16), list(unset, 16)]
}

/// The verdict of the checker in Coq on code for a program of that name; with the hints of other code where this one is refused, and so many more
/// instructions in a row.
pub fn verdict(of: &Bytes, [code, other]: [&[u8]; 2], program: &str, more: usize) -> Option<String> {
    let walked = [code, other].into_iter().find_map(|code| crate::bytes::walk(of, code).ok())?;
    let ([heads, zeros, unset], steps) = (told(of, &walked), walked.steps + more);
    let check = match walked.turn {
        Some(turn) => format!("check_bytes_in {turn}"),
        None => "check_bytes".to_owned(),
    };
    Some(format!("{check} {heads} {zeros} {unset} {program} {steps} ({})", super::bytes(code)))
}

/// The parts of a theorem.
pub(super) fn stated(of: &Bytes, certificate: &Certificate) -> Stated {
    let gas = certificate.gas;
    let walked = crate::bytes::walk(of, &certificate.code).unwrap_or_default();
    let [heads, zeros, unset] = told(of, &walked);
    let told = format!(
        "Definition heads : list (positive * head) := {heads}.\nDefinition zeros : list Z := {zeros}.\nDefinition unset : list positive := {unset}.",
    );
    let stated = Stated {
        program: format!("Definition the_program : body :=\n{}.\n\n{told}", program(of)),
        meaning: "bytes_meaning keccak calldata the_program".to_owned(),
        kind: "nat",
        hints: (walked.steps + 1).to_string(),
        check: "check_bytes heads zeros unset".to_owned(),
        sound: "check_bytes_sound heads zeros unset".to_owned(),
        eval: "HEval keccak code calldata (start g)".to_owned(),
        said: format!("{gas} gas or more"),
        gas: gas.to_string(),
        assumed: "forall keccak, (forall bytes, 0 <= keccak bytes < W) -> ",
        ends: "",
    };
    match certificate.turn_gas {
        None => stated,
        Some(turn) => Stated {
            meaning: "outcome".to_owned(),
            check: format!("check_bytes_in {turn} heads zeros unset"),
            sound: format!("check_bytes_in_sound {turn} heads zeros unset"),
            said: format!("{gas} gas or more, and {turn} for each turn in which the program ends"),
            gas: format!("{gas} + {turn} * turns"),
            ends: "forall turns outcome, 0 <= turns -> bytes_meaning_in keccak calldata turns the_program = Some outcome ->\n  ",
            ..stated
        },
    }
}
