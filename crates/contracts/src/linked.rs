//! Contracts in linked form: code in several accounts, for what one account does not hold. The contract's own code does the short calls, and ends all others
//! as one of its stages does, with the same calldata.

use crate::{Contract, Function, Source, find};
use residue_ir::{Account, Form, LinkedProgram, Program, Recording, record_linked};
use residue_isa::UnknownName;

/// A contract that has a linked form.
#[derive(Debug)]
pub struct LinkedContract {
    /// Name of the contract.
    pub name: &'static str,
    /// Its text, with stages.
    pub text: fn(&Recording<'_>),
    /// The stages of the text. One that ends as another does comes after it.
    pub stages: &'static [Stage],
}

/// A stage of a contract.
#[derive(Debug)]
pub struct Stage {
    /// Its name in the text.
    pub name: &'static str,
    /// One line: the calls that it is for.
    pub summary: &'static str,
    /// Calldata of such a call.
    pub example: fn() -> Vec<u8>,
}

/// One of the codes of a contract in linked form.
#[derive(Debug, Clone)]
pub struct Part {
    contract: &'static LinkedContract,
    /// None for the contract's own code.
    stage: Option<&'static Stage>,
    /// Accounts of the stages that it may call.
    accounts: Vec<(&'static str, Account)>,
    name: String,
}

/// Every contract that has a linked form.
pub static LINKED: &[LinkedContract] = &[crate::modexp::in_words::LINKED];

/// The linked form of the contract named `name`, in letters of any case; the error names those that there are.
pub fn named(name: &str) -> Result<&'static LinkedContract, UnknownName> {
    let found = LINKED.iter().find(|linked| linked.name.eq_ignore_ascii_case(name));
    let known = LINKED.iter().map(|linked| linked.name);
    found.ok_or_else(|| UnknownName::new("contract in linked form", name, known))
}

impl LinkedContract {
    /// The contract.
    pub fn contract(&self) -> &'static Contract {
        find(self.name).expect("contracts in linked form are on the list")
    }

    /// The code of a stage, given the accounts of all stages before it.
    pub fn stage(&'static self, stage: &'static Stage, accounts: Vec<(&'static str, Account)>) -> Part {
        Part { contract: self, stage: Some(stage), accounts, name: format!("{}/{}", self.name, stage.name) }
    }

    /// The contract's own code, given the accounts of all stages.
    pub fn main(&'static self, accounts: Vec<(&'static str, Account)>) -> Part {
        Part { contract: self, stage: None, accounts, name: self.name.to_owned() }
    }
}

impl Part {
    /// Its stage; none for the contract's own code.
    pub fn stage(&self) -> Option<&'static Stage> {
        self.stage
    }

    /// Everything that is recorded for it. Stages whose accounts are not known are somewhere in other parts.
    fn recorded(&self, form: Form) -> LinkedProgram {
        let unknown = Account::at([0xff; Account::BYTES]).expect("it is a number of 20 bytes");
        let accounts = self.accounts.clone();
        let account = move |stage: &str| {
            let known = accounts.iter().find(|(name, _)| *name == stage);
            known.map_or(unknown, |&(_, account)| account)
        };
        record_linked(&self.name, &(self.contract.contract().field)(), form, account, self.contract.text)
    }
}

impl Source for Part {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        self.stage.map_or(self.contract.contract().summary, |stage| stage.summary)
    }

    fn interface(&self) -> &str {
        match self.stage {
            None => self.contract.contract().interface,
            Some(_) => "that of the contract, whose code alone is to call it",
        }
    }

    fn functions(&self) -> Vec<Function> {
        self.stage.map_or_else(|| self.contract.contract().functions(), |_| Vec::new())
    }

    fn program_as(&self, form: Form) -> Program {
        let LinkedProgram { program, stages } = self.recorded(form);
        match self.stage {
            None => program,
            Some(stage) => {
                let mut stages = stages.into_iter();
                let (_, program) = stages.find(|(name, _)| *name == stage.name).expect("the text has every stage");
                Program { name: self.name.clone(), ..program }
            }
        }
    }

    fn example(&self) -> Vec<u8> {
        self.stage.map_or(self.contract.contract().example, |stage| stage.example)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::Effect;

    /// Stages of the text are those of the table, in an order in which their addresses can be computed.
    #[test]
    fn tables_of_stages_are_those_of_the_texts() {
        for linked in LINKED {
            let LinkedProgram { program, stages } = linked.main(Vec::new()).recorded(Form::default());
            let names: Vec<&str> = stages.iter().map(|(name, _)| *name).collect();
            let listed: Vec<&str> = linked.stages.iter().map(|stage| stage.name).collect();
            let mut sorted = [names.clone(), listed.clone()];
            sorted.iter_mut().for_each(|names| names.sort_unstable());
            assert_eq!(sorted[0], sorted[1], "{}", linked.name);
            // One account of each stage, by its number: what a code calls comes before it.
            let account = |number: usize| Account::at([number as u8 + 1; Account::BYTES]).unwrap();
            let accounts: Vec<_> = listed.iter().enumerate().map(|(number, &name)| (name, account(number))).collect();
            let calls = |program: &Program| {
                let mut calls = Vec::new();
                program.for_each_effect(&mut |effect| {
                    if let Effect::ReturnAccount { address } = effect {
                        calls.push(*address);
                    }
                });
                calls
            };
            assert!(!calls(&program).is_empty(), "{}", linked.name);
            for (number, stage) in linked.stages.iter().enumerate() {
                let part = linked.stage(stage, accounts[..number].to_vec());
                for address in calls(&part.program()) {
                    assert!(accounts[..number].iter().any(|&(_, known)| known == address), "{}", part.name());
                }
            }
            for address in calls(&linked.main(accounts.clone()).program()) {
                assert!(accounts.iter().any(|&(_, known)| known == address), "{}", linked.name);
            }
        }
    }
}
