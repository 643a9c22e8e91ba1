//! Programs of words and scratch memory as terms of Coq's.

use super::Stated;
use crate::bytes::{Bytes, Expression, Operator, Step};
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

/// Instructions in a row of code of a program of words, with so many more.
pub fn hints(program: &Bytes, code: &[u8], more: usize) -> Option<String> {
    crate::bytes::walk(program, code).ok().map(|walked| (walked.steps + more).to_string())
}

/// The parts of a theorem.
pub(super) fn stated(of: &Bytes, certificate: &Certificate) -> Stated {
    let gas = certificate.gas.to_string();
    Stated {
        program: format!("Definition the_program : body :=\n{}.", program(of)),
        meaning: "bytes_meaning keccak calldata the_program".to_owned(),
        kind: "nat",
        hints: hints(of, &certificate.code, 1).unwrap_or_default(),
        check: "check_bytes".to_owned(),
        sound: "check_bytes_sound".to_owned(),
        eval: "HEval keccak code calldata (start g)".to_owned(),
        said: format!("{gas} gas or more"),
        gas,
        assumed: "forall keccak, (forall bytes, 0 <= keccak bytes < W) -> ",
    }
}
