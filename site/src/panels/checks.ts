/** What was checked of the chosen column's code, by whom: of the whole, and of each block. */
import type { BlockCheck, Column, Evaluated, Execution, Instruction } from '../asked';
import { agrees } from '../compare';
import { grouped, h, percent } from '../dom';
import { linesOf } from './code';

/** Blocks that are drawn at most. */
const BLOCKS_MAX = 500;

/** What others say of the column's code. An answer that is not there is the reason. */
export interface Verdicts {
  expected: Evaluated | undefined;
  /** Reason for no answer of the evaluator. */
  without: string | undefined;
  /** End of the same code by the executable specification. */
  specified: Execution | { refused: string };
  /** Text of the certificate. */
  certificate: string | { refused: string };
}

/** Draws the panel. `light` is told the lines of the block that is pointed at. */
export function drawChecks(parent: HTMLElement, column: Column, listing: Instruction[], verdicts: Verdicts, light: (lines: ReadonlySet<number>) => void): void {
  const { code, run } = column;
  const { expected, without, specified, certificate } = verdicts;
  const blocks = code.checked_blocks;
  const bytes = blocks.reduce((sum, { from, to }) => sum + to - from, 0);
  const share = `${grouped(bytes)} of ${grouped(code.code_bytes)} bytes (${percent(bytes, code.code_bytes)})`;
  const checker = `${grouped(blocks.length)} ${blocks.length === 1 ? 'block' : 'blocks'}, ${share}, read back and compared with the program, by numbering of values: ${grouped(code.operations)} operations. Code that differs is not returned. The other bytes (calls, loops, parses, data) are judged by the runs below.`;
  const evaluator = expected ? agrees(run, expected) : undefined;
  const refused = 'refused' in specified ? specified.refused : undefined;
  const isSame = !('refused' in specified) && specified.halt === run.halt && specified.output === run.output && specified.gas_used === run.gas_used && specified.disagreement === null;
  const gas = typeof certificate === 'string' ? /^gas (\d+)$/m.exec(certificate)?.[1] : undefined;
  parent.replaceChildren(
    h(
      'dl',
      { class: 'checks' },
      ...entry('Checker', true, checker),
      ...entry('Certificate', gas === undefined ? undefined : true, typeof certificate === 'string' ? `Proved: for all calldata, with ${grouped(Number(gas))} gas, the code ends as the program does. It is among the files.` : `Not proved whole: ${certificate.refused}`),
      ...entry('Evaluator', evaluator, expected ? `It ends as the engine does on this calldata: ${expected.outcome}.` : (without ?? 'It has no answer yet.')),
      ...entry('Executable specification', refused === undefined ? isSame : undefined, 'refused' in specified ? specified.refused : `It runs the same code on this calldata: ${specified.halt}, ${grouped(specified.gas_used)} gas.`),
      ...entry('Second run', run.disagreement === null, run.disagreement ?? 'The engine ran the code twice, the second time counting each instruction, and ended alike.'),
    ),
    drawnBlocks(blocks, listing, light),
  );
}

function drawnBlocks(blocks: BlockCheck[], listing: Instruction[], light: (lines: ReadonlySet<number>) => void): HTMLElement {
  const heads = ['block', 'function', 'lines', 'bytes', 'operations', 'results compared'];
  const rows = blocks.slice(0, BLOCKS_MAX).map((block) => {
    const lines = new Set(listing.filter(([pc]) => pc >= block.from && pc < block.to).flatMap(linesOf));
    const place = lines.size ? `${Math.min(...lines)} to ${Math.max(...lines)}` : '–';
    const offset = block.from.toString(16).padStart(4, '0');
    const shown = () => light(lines);
    const numbers = [block.to - block.from, block.operations, block.results];
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('button', { type: 'button', class: 'pc', 'aria-label': `Lines of the block at ${offset}`, focus: shown, click: shown }, `✓ ${offset}`)),
      h('td', {}, block.function),
      h('td', {}, place),
      ...numbers.map((number) => h('td', {}, grouped(number))),
    );
  });
  const left = blocks.length - BLOCKS_MAX;
  return h(
    'div',
    { class: 'lanes', tabindex: 0, role: 'region', 'aria-label': 'Blocks that were read back' },
    h('table', { class: 'numbers' }, h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))), h('tbody', {}, ...rows)),
    left > 0 && h('p', { class: 'quiet' }, `${grouped(left)} blocks more: residue build --json has all of them.`),
  );
}

function entry(name: string, verdict: boolean | undefined, text: string): HTMLElement[] {
  const mark = verdict === undefined ? '–' : verdict ? '✓' : '✗';
  const kind = verdict === undefined ? 'quiet' : verdict ? 'good' : 'bad';
  return [h('dt', {}, h('span', { class: kind }, mark), ` ${name}`), h('dd', {}, text)];
}
