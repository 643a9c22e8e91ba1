//! Ways through a program: what one run can enter, and where it ends.

use residue_ir::Effect;
use residue_ir::program::{ControlKind, Program, Region, Statement, SubprogramId};

/// Whether a subprogram, or the region of `programs`, the program and its subprograms, always ends the program.
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

/// The same of a region, after which `after` is counted on the ways that come to its end.
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
