//! Imports of a module and their definitions: host functions and memories, each import defined once, in either engine.

use super::{host_function, unknown_import};
use crate::error::RunError;

/// An import of a module in the words of its engine.
pub(super) struct Import<F, M> {
    /// The module that it is to come from.
    pub from: String,
    /// Its name.
    pub name: String,
    /// Kind of the import, with its definition.
    pub kind: Kind<F, M>,
}

/// Kinds of imports.
pub(super) enum Kind<F, M> {
    /// A function.
    Function {
        /// Its type.
        ty: F,
        /// Parameters and results, if all of them are i32.
        shape: Option<(usize, usize)>,
        /// Its type in words.
        text: String,
    },
    /// A memory.
    Memory(M),
    /// An import that nobody defines, as text for the error.
    Other(String),
}

/// An engine's linker.
pub(super) trait Linker {
    /// The engine's type of a function.
    type Function;
    /// The engine's type of a memory.
    type Memory;

    /// Gives the host function of a number under this name.
    fn function(&mut self, from: &str, name: &str, ty: Self::Function, number: usize) -> Result<(), String>;

    /// Makes a memory and gives it under this name.
    fn memory(&mut self, from: &str, name: &str, ty: Self::Memory) -> Result<(), String>;
}

/// Defines a module's imports. The same import may stand in it twice, and has to be the same both times.
pub(super) fn link<L: Linker>(
    linker: &mut L,
    imports: impl IntoIterator<Item = Import<L::Function, L::Memory>>,
) -> Result<(), RunError> {
    let mut given: Vec<(String, String)> = Vec::new();
    for Import { from, name, kind } in imports {
        let number = match &kind {
            Kind::Function { shape, text, .. } => Some(host_function(&from, &name, *shape, text)?),
            Kind::Memory(_) => None,
            Kind::Other(text) => return Err(unknown_import(&from, &name, text)),
        };
        if given.contains(&(from.clone(), name.clone())) {
            continue;
        }
        let defined = match (kind, number) {
            (Kind::Function { ty, .. }, Some(number)) => linker.function(&from, &name, ty, number),
            (Kind::Memory(ty), _) => linker.memory(&from, &name, ty),
            _ => Ok(()),
        };
        defined.map_err(|error| RunError::Engine(format!("importing {from}.{name}: {error}")))?;
        given.push((from, name));
    }
    Ok(())
}

/// The places that a host function is called with: its i32 parameters, 0 for those that it does not have.
pub(super) fn places(params: impl Iterator<Item = Option<i32>>) -> [u32; 4] {
    let mut places = [0; 4];
    for (place, param) in places.iter_mut().zip(params) {
        *place = param.unwrap_or(0).cast_unsigned();
    }
    places
}

/// Error of a host function that needs a memory in a module without one.
pub(super) const NO_MEMORY: &str = "a host function was called without a memory";

#[cfg(test)]
mod tests {
    use crate::{EngineKind, host::Outside};

    #[test]
    fn an_import_may_stand_in_a_module_twice() {
        let module = wat::parse_str(
            r#"(module
                (import "env" "memory" (memory 1))
                (import "env" "bignum_f1m_add" (func $a (param i32 i32 i32)))
                (import "env" "bignum_f1m_add" (func $b (param i32 i32 i32)))
                (func (export "main")
                    (call $a (i32.const 0) (i32.const 48) (i32.const 96))
                    (call $b (i32.const 0) (i32.const 48) (i32.const 96))))"#,
        );
        for engine in EngineKind::built_in() {
            let compiled = engine.compile(module.as_ref().unwrap(), None).unwrap();
            let mut instance = compiled.instantiate(Outside::default()).unwrap();
            instance.call("main", &[]).unwrap();
            assert_eq!(instance.outside().counts(), [("bignum_f1m_add", 2)], "{engine}");
        }
    }
}
