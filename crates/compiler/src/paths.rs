//! Paths through a program: the subprograms that one run can enter, the ends of the program, and the variables that it
//! sets first.

use foldhash::{HashSet, HashSetExt};
use residue_ir::Effect;
use residue_ir::program::{ControlKind, Program, Region, Statement, SubprogramId, VariableId};

/// True if a region, or a subprogram that it enters last, always ends the program. `programs` are the program and its
/// subprograms.
pub(crate) fn ends(programs: &[&Program], region: &Region) -> bool {
    match region.statements.last() {
        Some(Statement::Effect(Effect::Enter { subprogram: SubprogramId(number), .. })) => {
            ends(programs, &programs[number + 1].entry().body)
        }
        Some(Statement::Effect(effect)) => effect.ends(),
        Some(Statement::Control(control)) if matches!(control.kind, ControlKind::Branch { .. }) => {
            control.arms.iter().all(|arm| ends(programs, &arm.body))
        }
        _ => false,
    }
}

/// The most that the subprograms on one way through the program, the first of `programs`, count together. Those of loops and of functions
/// other than the start count as on every way.
pub(crate) fn most(programs: &[&Program], counted: &dyn Fn(SubprogramId) -> usize) -> usize {
    let [others @ .., start] = &programs[0].functions[..] else { return 0 };
    let called: usize = others.iter().map(|function| most_of(programs, &function.body, counted, 0)).sum();
    called + most_of(programs, &start.body, counted, 0)
}

/// The same for a region; `after` is the count after its end, on paths that reach it.
fn most_of(programs: &[&Program], region: &Region, counted: &dyn Fn(SubprogramId) -> usize, after: usize) -> usize {
    region.statements.iter().rev().fold(after, |after, statement| match statement {
        Statement::Effect(Effect::Enter { subprogram, .. }) => {
            let is_last = ends(programs, &programs[subprogram.0 + 1].entry().body);
            counted(*subprogram) + if is_last { 0 } else { after }
        }
        Statement::Effect(effect) if effect.ends() => 0,
        Statement::Control(control) if matches!(control.kind, ControlKind::Branch { .. }) => {
            let arms = control.arms.iter().map(|arm| most_of(programs, &arm.body, counted, after));
            arms.max().unwrap_or(after)
        }
        Statement::Control(control) => {
            control.arms.iter().map(|arm| most_of(programs, &arm.body, counted, 0)).sum::<usize>() + after
        }
        _ => after,
    })
}

/// The variables that every run sets before it reads them: set by the starts of the program, the first of `programs`,
/// and of its subprograms, outside of control, before any other use.
pub(crate) fn set_first(programs: &[&Program]) -> HashSet<VariableId> {
    let mut found = SetFirst { programs, named: HashSet::new(), set: HashSet::new() };
    found.start(0);
    found.set
}

struct SetFirst<'a> {
    programs: &'a [&'a Program],
    named: HashSet<VariableId>,
    set: HashSet<VariableId>,
}

impl SetFirst<'_> {
    fn start(&mut self, unit: usize) {
        let programs = self.programs;
        for statement in &programs[unit].entry().body.statements {
            match statement {
                Statement::Effect(Effect::Set { variable, .. } | Effect::SetIndices { variable, .. }) => {
                    if self.named.insert(*variable) {
                        self.set.insert(*variable);
                    }
                }
                Statement::Effect(Effect::Enter { subprogram, .. }) => self.start(subprogram.0 + 1),
                statement => self.name(unit, statement),
            }
        }
    }

    /// Notes the variables that a statement of this unit may use.
    fn name(&mut self, unit: usize, statement: &Statement) {
        match statement {
            Statement::Block(_) => {}
            Statement::Call { .. } => self.name_all(unit),
            Statement::Control(control) => {
                control.arms.iter().flat_map(|arm| &arm.body.statements).for_each(|inner| self.name(unit, inner));
            }
            Statement::Effect(Effect::Enter { subprogram, .. }) => {
                let (programs, inner) = (self.programs, subprogram.0 + 1);
                self.name_all(inner);
                programs[inner].entry().body.statements.iter().for_each(|statement| self.name(inner, statement));
            }
            Statement::Effect(effect) => self.named.extend(effect.variables()),
        }
    }

    /// The functions of a unit but its start.
    fn name_all(&mut self, unit: usize) {
        let programs = self.programs;
        let [functions @ .., _] = &programs[unit].functions[..] else { return };
        for function in functions {
            function.body.walk(&mut |statement| {
                if let Statement::Effect(_) = statement {
                    self.name(unit, statement);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::text;

    /// The most of a start with this body, whose subprograms count 1, 10 and 100; the last one ends the program.
    fn check(body: &str, expected: usize) {
        let empty = "function f0 \"start\" () -> () values 0 { }";
        let last = "function f0 \"start\" () -> () values 0 { word w0 = 0x1 return_word w0 }";
        let text = format!(
            "program \"p\" modulus 0x61
             subprogram p0 \"a\" modulus 0x65 {{ {empty} }}
             subprogram p1 \"b\" modulus 0x67 {{ {empty} }}
             subprogram p2 \"c\" modulus 0x6b {{ {last} }}
             function f0 \"start\" () -> () values 0 {{ word w0 = calldata_size word w1 = defined {body} return_word w0 }}"
        );
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let programs: Vec<&Program> = program.units().collect();
        assert_eq!(most(&programs, &|SubprogramId(number)| [1, 10, 100][number]), expected, "{body}");
    }

    /// Checks whether a start with this body sets the first of two variables before reading it.
    fn check_set(body: &str, expected: bool) {
        let text = format!(
            "program \"p\" modulus 0x61 variable x0 \"a\" variable x1 \"b\"
             subprogram p0 \"s\" modulus 0x65 {{ function f0 \"start\" () -> () values 0 {{ word w0 = 0x1 set x0 w0 }} }}
             function f0 \"g\" () -> () values 0 {{ word w0 = defined get x0 -> w0 }}
             function f1 \"start\" () -> () values 0 {{
               word w0 = calldata_size word w1 = defined word w2 = 0x1 {body} return_word w0 }}"
        );
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let programs: Vec<&Program> = program.units().collect();
        assert_eq!(set_first(&programs).contains(&VariableId(0)), expected, "{body}");
    }

    #[test]
    fn what_is_set_first_is_not_read_before() {
        check_set("set x0 w0 get x0 -> w1", true);
        check_set("get x0 -> w1 set x0 w0", false);
        check_set("call f0 () -> () set x0 w0", false);
        check_set("enter p0 () get x0 -> w1", true);
        check_set("get x1 -> w1 enter p0 ()", true);
        check_set("branch w0 { set x0 w0 give () } else { give () } -> () set x0 w0", false);
        check_set("branch w0 { enter p0 () give () } else { give () } -> () set x0 w0", false);
        check_set("get_across x1 from 4 -> w1 set x0 w0", true);
        check_set("", false);
    }

    #[test]
    fn ways_that_end_take_nothing_of_what_is_after_them() {
        check("enter p0 () enter p1 ()", 11);
        check("branch w0 { enter p0 () give () } else { enter p1 () give () } -> ()", 10);
        check("branch w0 { enter p0 () give () } else { give () } -> () enter p1 ()", 11);
        check("branch w0 { enter p2 () give () } else { give () } -> () enter p1 () enter p0 ()", 100);
        check("branch w0 { enter p0 () return_word w0 give () } else { give () } -> () enter p1 ()", 10);
        let inner = "branch w0 { enter p2 () give () } else { give () } -> ()";
        check(&format!("branch w0 {{ {inner} give () }} else {{ enter p0 () give () }} -> () enter p1 ()"), 100);
        check("repeat w0 index w1 () = () { enter p0 () give () } -> () enter p1 ()", 11);
    }
}
