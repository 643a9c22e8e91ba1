//! Work in a thread of its own, while Python goes on; and errors as exceptions of the package.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::import_exception;
use pyo3::prelude::*;
use residue_compiler::CompileError as Uncompiled;
use residue_workbench::VariantError;

import_exception!(residue.errors, CompileError);
import_exception!(residue.errors, Inexpressible);
import_exception!(residue.errors, InternalError);
import_exception!(residue.errors, NoOutcome);
import_exception!(residue.errors, ProgramError);
import_exception!(residue.errors, RulesError);
import_exception!(residue.errors, UnknownName);

/// Interval at which a waiting call checks for Ctrl-C.
const HEARD_EVERY: Duration = Duration::from_millis(50);

/// Programs may be a thousand calls and regions deep ([`residue_ir::verify()`]), and what goes through them calls itself.
const STACK_BYTES: usize = 256 << 20;

/// Result of `work`. The interpreter is free meanwhile; a Ctrl-C ends the waiting, and the work, whose gas or rounds
/// are bounded, ends by itself. A panic is an `InternalError`.
pub fn work<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send + 'static) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let worker = move || {
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            Err(InternalError::new_err(format!("a mistake in Residue: {}", said(panic.as_ref()))))
        });
        // Nobody listens after a Ctrl-C.
        let _ = sender.send(result);
    };
    thread::Builder::new().name("residue".to_owned()).stack_size(STACK_BYTES).spawn(worker)?;
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(HEARD_EVERY);
            (receiver, received)
        });
        receiver = back;
        match received {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(InternalError::new_err("a mistake in Residue: work ended without a result"));
            }
        }
    }
}

/// Message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

/// The exception for a program that cannot be compiled.
pub fn uncompiled(error: &Uncompiled) -> PyErr {
    let text = error.to_string();
    if error.is_inexpressible() { Inexpressible::new_err(text) } else { CompileError::new_err(text) }
}

/// The exception for a contract of which no variant was chosen.
pub fn unchosen(error: &VariantError) -> PyErr {
    match error {
        VariantError::Compile(error) => uncompiled(error),
        VariantError::Engine(error) => RulesError::new_err(error.to_string()),
        VariantError::Example { .. } => InternalError::new_err(error.to_string()),
    }
}
