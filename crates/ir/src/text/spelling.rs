//! Spelling of the parts of a statement: each prints and parses itself. The spelling of effects follows from their
//! table ([`crate::effect`]).

use super::tokens::{Parsed, Tokens, hexadecimal_digits};
use crate::account::Account;
use crate::effect::{Effect, with_effects};
use crate::hash::Piece;
use crate::lanes::{LaneStep, Lanes};
use crate::machine::Cells;
use crate::program::{ArrayId, ConstantId, Operand, SubprogramId, TableId, Value, VariableId, Word};
use ruint::aliases::U256;

/// A part of a statement in the text form.
pub(super) trait Spelt: Sized {
    /// Text of the value, as accepted by [`Spelt::read`].
    fn spell(&self) -> String;

    /// Takes the part from the text.
    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self>;
}

macro_rules! spell {
    ($(
        $(#[$doc:meta])*
        $effect:ident = $name:literal { $($($keyword:literal)? $field:ident : $type:ty),* }
            -> { $($result:ident : $defined:ty)? }
    )*) => {
        /// The line of an effect: its name, its arguments, and its definitions after an arrow.
        pub(super) fn spell_effect(effect: &Effect) -> String {
            let mut words = vec![effect.name().to_owned()];
            match effect {
                $(Effect::$effect { $($field,)* $($result)? } => {
                    $($(words.push($keyword.to_owned());)? words.push($field.spell());)*
                    $(words.extend(["->".to_owned(), $result.spell()]);)?
                })*
            }
            words.join(" ")
        }

        /// The effect that is named `name`, whose name has been read; `None` if none is.
        pub(super) fn parse_effect(tokens: &mut Tokens<'_>, name: &str) -> Option<Parsed<Effect>> {
            match name {
                $($name => {
                    let read = |tokens: &mut Tokens<'_>| -> Parsed<Effect> {
                        $($(tokens.expect($keyword)?;)? let $field = Spelt::read(tokens)?;)*
                        $(tokens.expect("->")?; let $result = Spelt::read(tokens)?;)?
                        Ok(Effect::$effect { $($field,)* $($result)? })
                    };
                    Some(read(tokens))
                })*
                _ => None,
            }
        }
    };
}

with_effects!(spell);

impl<T: Spelt> Spelt for Vec<T> {
    fn spell(&self) -> String {
        format!("({})", self.iter().map(Spelt::spell).collect::<Vec<_>>().join(" "))
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.expect("(")?;
        let mut items = Vec::new();
        while !tokens.word_is(")") {
            items.push(T::read(tokens)?);
        }
        Ok(items)
    }
}

impl Spelt for Value {
    fn spell(&self) -> String {
        format!("v{}", self.0)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.numbered('v', "a value such as v0").map(Self)
    }
}

impl Spelt for Operand {
    fn spell(&self) -> String {
        match self {
            Self::Value(value) => value.spell(),
            Self::Constant(id) => format!("c{}", id.0),
        }
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        let what = "a value or constant such as v0 or c0";
        match tokens.peek().is_some_and(|text| text.starts_with('c')) {
            true => tokens.numbered('c', what).map(|number| Self::Constant(ConstantId(number))),
            false => tokens.numbered('v', what).map(|number| Self::Value(Value(number))),
        }
    }
}

impl Spelt for Word {
    fn spell(&self) -> String {
        format!("w{}", self.0)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.numbered('w', "a word such as w0").map(Self)
    }
}

impl Spelt for ArrayId {
    fn spell(&self) -> String {
        format!("a{}", self.0)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.numbered('a', "an array such as a0").map(|number| Self(number as usize)) // widens
    }
}

impl Spelt for VariableId {
    fn spell(&self) -> String {
        format!("x{}", self.0)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.numbered('x', "a variable such as x0").map(|number| Self(number as usize)) // widens
    }
}

impl Spelt for TableId {
    fn spell(&self) -> String {
        format!("t{}", self.0)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.numbered('t', "a table such as t0").map(|number| Self(number as usize)) // widens
    }
}

impl Spelt for SubprogramId {
    fn spell(&self) -> String {
        format!("p{}", self.0)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.numbered('p', "a subprogram such as p0").map(|number| Self(number as usize)) // widens
    }
}

impl Spelt for u32 {
    fn spell(&self) -> String {
        self.to_string()
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.decimal("a number")
    }
}

impl Spelt for Account {
    fn spell(&self) -> String {
        self.to_string()
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        let what = "the address of an account, from 0x10000 to 20 bytes in hexadecimal";
        tokens.take(what, |text| Self::new(U256::from_str_radix(hexadecimal_digits(text)?, 16).ok()?))
    }
}

impl Spelt for Cells {
    fn spell(&self) -> String {
        format!("cells {} indices {}", self.bits, self.index_bits)
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.expect("cells")?;
        let bits = tokens.decimal("the bits of a cell")?;
        tokens.expect("indices")?;
        Ok(Self { bits, index_bits: tokens.decimal("the bits of an index")? })
    }
}

impl Spelt for Lanes {
    fn spell(&self) -> String {
        let Self { bits, modulus, words, home, steps } = self;
        format!("bits {bits} modulo {modulus} words {words} at {home} {}", steps.spell())
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        tokens.expect("bits")?;
        let bits = tokens.decimal("the bits of a lane")?;
        tokens.expect("modulo")?;
        let modulus = tokens.decimal("the modulus of lanes")?;
        tokens.expect("words")?;
        let words = tokens.decimal("a number of words")?;
        tokens.expect("at")?;
        let home = tokens.decimal("a byte of scratch memory")?;
        Ok(Self { bits, modulus, words, home, steps: Spelt::read(tokens)? })
    }
}

impl Spelt for LaneStep {
    fn spell(&self) -> String {
        match self {
            Self::Take { word, from } => format!("take {word} from {}", from.spell()),
            Self::Butterfly { low, high, by } => format!("butterfly {low} {high} by {by}"),
            Self::Read { word, from, bits } => format!("read {word} from {from} bits {bits}"),
            Self::Back { low, high, by } => format!("back {low} {high} by {by}"),
            Self::Multiply { word, by, root } => format!("multiply {word} {by} root {root}"),
            Self::Leave { word, times } => format!("leave {word} times {times}"),
            Self::Put { word, to, rows } => format!("put {word} to {to} {}", rows.spell()),
        }
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        let names = ["take", "read", "butterfly", "back", "multiply", "leave", "put"];
        let expected = "`take`, `read`, `butterfly`, `back`, `multiply`, `leave` or `put`";
        let name = tokens.take(expected, |text| names.contains(&text).then_some(text))?;
        let first = tokens.decimal("a word of lanes")?;
        let mut pair = |before: &str| {
            let second = tokens.decimal("a word of lanes")?;
            tokens.expect(before)?;
            Ok((second, tokens.decimal("a number below the modulus of lanes")?))
        };
        match name {
            "butterfly" => pair("by").map(|(high, by)| Self::Butterfly { low: first, high, by }),
            "back" => pair("by").map(|(high, by)| Self::Back { low: first, high, by }),
            "multiply" => pair("root").map(|(by, root)| Self::Multiply { word: first, by, root }),
            "leave" => {
                tokens.expect("times")?;
                Ok(Self::Leave { word: first, times: tokens.decimal("a multiple of the modulus of lanes")? })
            }
            "take" => {
                tokens.expect("from")?;
                Ok(Self::Take { word: first, from: Spelt::read(tokens)? })
            }
            "read" => {
                tokens.expect("from")?;
                let from = tokens.decimal("a byte of scratch memory")?;
                tokens.expect("bits")?;
                Ok(Self::Read { word: first, from, bits: tokens.decimal("the bits of a number")? })
            }
            _ => {
                tokens.expect("to")?;
                let to = tokens.decimal("a byte of scratch memory")?;
                Ok(Self::Put { word: first, to, rows: Spelt::read(tokens)? })
            }
        }
    }
}

impl Spelt for Piece<Word> {
    fn spell(&self) -> String {
        match self {
            Self::Word { word, size_bytes } => format!("word {} bytes {}", word.spell(), size_bytes.spell()),
            Self::Calldata { offset, size_bytes } => {
                format!("calldata {} bytes {}", offset.spell(), size_bytes.spell())
            }
        }
    }

    fn read(tokens: &mut Tokens<'_>) -> Parsed<Self> {
        let is_word = tokens.take("`word` or `calldata`", |text| match text {
            "word" => Some(true),
            "calldata" => Some(false),
            _ => None,
        })?;
        let first = Word::read(tokens)?;
        tokens.expect("bytes")?;
        let size_bytes = Word::read(tokens)?;
        Ok(match is_word {
            true => Self::Word { word: first, size_bytes },
            false => Self::Calldata { offset: first, size_bytes },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MOD_OPS, WORD_OPS};
    use super::*;

    /// An argument or a result in the grammar of the page, by its type in the table of effects.
    fn spelt(of: &str) -> String {
        let name = |of: &str| match of {
            "ArrayId" => "a",
            "SubprogramId" => "p",
            "TableId" => "t",
            "Value" => "v",
            "VariableId" => "x",
            "Word" => "w",
            "Operand" => "operand",
            "Cells" => "cells",
            "Lanes" => "lanes",
            "Piece<Word>" => "piece",
            "u32" => "COUNT",
            "Account" => "HEX",
            other => panic!("{other} is not in the grammar"),
        };
        let of = of.replace(' ', "");
        match of.strip_prefix("Vec<").and_then(|inner| inner.strip_suffix('>')) {
            Some(inner) => format!("\"(\" {{ {} }} \")\"", name(inner)),
            None => name(&of).to_owned(),
        }
    }

    macro_rules! grammar {
        ($(
            $(#[$doc:meta])*
            $effect:ident = $name:literal { $($($keyword:literal)? $field:ident : $type:ty),* }
                -> { $($result:ident : $defined:ty)? }
        )*) => {
            vec![$({
                let mut parts = vec![format!("{:?}", $name)];
                $($(parts.push(format!("{:?}", $keyword));)? parts.push(spelt(stringify!($type)));)*
                $(parts.push(format!("\"->\" {}", spelt(stringify!($defined))));)?
                parts.join(" ")
            }),*]
        };
    }

    #[test]
    fn the_page_has_the_grammar_of_every_effect() {
        let effects: Vec<String> = with_effects!(grammar);
        let names = |table: &[&str]| table.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" | ");
        let operations = names(&WORD_OPS.map(|(_, name)| name));
        let mod_operations = names(&MOD_OPS.map(|(_, name)| name));
        let text = format!(
            "```\neffect    = {}\ncells     = \"cells\" COUNT \"indices\" COUNT\nlanes     = \"bits\" COUNT \"modulo\" COUNT \"words\" COUNT \"at\" COUNT \"(\" {{ step }} \")\"\nstep      = \"take\" COUNT \"from\" \"(\" {{ COUNT }} \")\" | \"read\" COUNT \"from\" COUNT \"bits\" COUNT | ( \"butterfly\" | \"back\" ) COUNT COUNT \"by\" COUNT | \"multiply\" COUNT COUNT \"root\" COUNT | \"leave\" COUNT \"times\" COUNT | \"put\" COUNT \"to\" COUNT \"(\" {{ \"(\" {{ COUNT }} \")\" }} \")\"\npiece     = \"word\" w \"bytes\" w | \"calldata\" w \"bytes\" w\nOPERATION = {operations}\nMODULAR   = {mod_operations}\n```",
            effects.join("\n          | ")
        );
        residue_pages::hold("docs/ir.md", "grammar of effects", &text);
    }
}
