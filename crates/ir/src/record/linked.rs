//! Linked form: each stage of a text is a program of its own, and its place a call of the account that has its code.

use super::{Calls, Form, Recorder, Recording, State};
use crate::account::Account;
use crate::effect::Effect;
use crate::program::Program;
use num_bigint::BigUint;
use std::cell::RefCell;

/// A program of several accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedProgram {
    /// The program that is called.
    pub program: Program,
    /// Its stages, with their names. One that calls another comes after it.
    pub stages: Vec<(&'static str, Program)>,
}

/// Accounts of stages, and the stages that have been recorded.
pub(super) struct Links {
    account: Box<dyn Fn(&str) -> Account>,
    stages: RefCell<Vec<(&'static str, Program)>>,
    /// Names of the stages that are being recorded.
    open: RefCell<Vec<&'static str>>,
}

/// Records the program of `text` in linked form, as [`super::record_as`] does in the usual one; `account` says where the code of each stage is.
pub fn record_linked(
    name: &str,
    modulus: &BigUint,
    form: Form,
    account: impl Fn(&str) -> Account + 'static,
    text: impl FnOnce(&Recording<'_>),
) -> LinkedProgram {
    let links = Links { account: Box::new(account), stages: RefCell::default(), open: RefCell::default() };
    let state = State::new(name, modulus.clone().into(), 0, Calls::Trusted);
    let recorder = Recorder { form, state: RefCell::new(state), links: Some(links) };
    text(&Recording { recorder: &recorder });
    let program = recorder.state.into_inner().close();
    let stages = recorder.links.expect("it was put there above").stages.into_inner();
    LinkedProgram { program, stages }
}

impl Recording<'_> {
    /// Records a stage in place, or in linked form as a program of its own, unless it has been, and the call of its account.
    ///
    /// Panics if a stage of a subprogram is another account, or if one ends as itself.
    pub(super) fn stage_of(&self, name: &'static str, text: fn(&Self)) {
        let Some(links) = &self.recorder.links else { return text(self) };
        assert!(!links.open.borrow().contains(&name), "stage `{name}` ends as itself");
        let is_known = links.stages.borrow().iter().any(|(known, _)| *known == name);
        if !is_known {
            links.open.borrow_mut().push(name);
            let outer = self.with(|state| {
                assert!(state.outer.is_none(), "stage `{name}` is one of a subprogram");
                let own = State::new(name, state.unit.modulus.clone(), state.opened, state.calls);
                std::mem::replace(state, own)
            });
            text(self);
            let program = self.with(|state| {
                let opened = state.opened;
                std::mem::replace(state, State { opened, ..outer }).close()
            });
            links.open.borrow_mut().pop();
            links.stages.borrow_mut().push((name, program));
        }
        let address = (links.account)(name);
        self.push(|_| Effect::ReturnAccount { address });
    }
}
