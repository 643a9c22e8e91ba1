/** What was checked of the chosen column's code, by whom. */
import type { Column, Evaluated, Execution } from '../asked';
import { agrees } from '../compare';
import { grouped, h } from '../dom';

/** Draws the panel. `specified` is how the executable specification ends, or why it does not say. */
export function drawChecks(parent: HTMLElement, column: Column, expected: Evaluated | undefined, without: string | undefined, specified: Execution | string): void {
  const { code, run } = column;
  const checker = `Each block of the code was read back and compared with the program, by numbering of values: ${grouped(code.operations)} operations, ${grouped(code.field_instructions)} field instructions. Code that differs is not returned.`;
  const evaluator = expected ? agrees(run, expected) : undefined;
  const isSame = typeof specified !== 'string' && specified.halt === run.halt && specified.output === run.output && specified.gas_used === run.gas_used;
  const specification = typeof specified === 'string' ? undefined : isSame && specified.disagreement === null;
  parent.replaceChildren(
    h(
      'dl',
      { class: 'checks' },
      ...entry('Checker', true, checker),
      ...entry('Evaluator', evaluator, expected ? `It ends as the engine does on this calldata: ${expected.outcome}.` : (without ?? 'It has no answer yet.')),
      ...entry('Executable specification', specification, typeof specified === 'string' ? specified : `It runs the same code on this calldata: ${specified.halt}, ${grouped(specified.gas_used)} gas.`),
      ...entry('Second run', run.disagreement === null, run.disagreement ?? 'The engine ran the code twice, the second time counting each instruction, and ended alike.'),
    ),
    h('p', { class: 'quiet' }, column.code.revision === 'evm' ? 'A proof for all calldata, where the code is straight-line: the certificate among the files.' : 'Certificates, proofs for all calldata, are of code for evm.'),
  );
}

function entry(name: string, verdict: boolean | undefined, text: string): HTMLElement[] {
  const mark = verdict === undefined ? '–' : verdict ? '✓' : '✗';
  const kind = verdict === undefined ? 'quiet' : verdict ? 'good' : 'bad';
  return [h('dt', {}, h('span', { class: kind }, mark), ` ${name}`), h('dd', {}, text)];
}
