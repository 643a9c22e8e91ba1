//! Names in statements: the values, constants and words of a function, and the functions, arrays and variables of a
//! program.

/// The result of an operation, defined once in its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// An entry of the program's pool of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstantId(pub u32);

/// A function of the program, by its place in [`crate::Program::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// An array of the program, by its place in [`crate::Program::arrays`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub usize);

/// A variable of the program, by its place in [`crate::Program::variables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub usize);

/// A table of the program, by its place in [`crate::Program::tables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub usize);

/// A subprogram of the program, by its place in [`crate::Program::subprograms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubprogramId(pub usize);

/// A 256-bit word of a function, by its place in [`crate::Function::words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(pub u32);

/// Operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// The result of an earlier operation or statement.
    Value(Value),
    /// A constant; it costs nothing to read.
    Constant(ConstantId),
}

impl Operand {
    /// The value, if it is one.
    pub fn value(self) -> Option<Value> {
        match self {
            Operand::Value(value) => Some(value),
            Operand::Constant(_) => None,
        }
    }
}
