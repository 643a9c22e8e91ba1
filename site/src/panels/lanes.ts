/** The blocks of the chosen column's code that the batch engine runs as one, and the lanes of their plans. */
import type { BlockReport, Column, Instruction } from '../asked';
import { grouped, h, percent } from '../dom';
import { linesOf } from './code';

/** Products of a batch at most. */
const LANES = 8;
/** Batches of a block that are drawn at once. */
const BATCHES_MAX = 200;

/** Draws the panel. `light` is told the lines of the block that is pointed at. */
export function drawLanes(parent: HTMLElement, blocks: BlockReport[], listing: Instruction[], column: Column, light: (lines: ReadonlySet<number>) => void): void {
  if (!blocks.length) {
    parent.replaceChildren(h('p', { class: 'quiet' }, 'The batch engine finds no blocks here: it joins field instructions whose places stand in the code, and it joins those that are executed.'));
    return;
  }
  const largest = blocks.reduce((a, b) => ((b.plan?.products ?? 0) > (a.plan?.products ?? 0) ? b : a));
  const said = `Field instructions that follow each other run as one: products in batches of ${LANES} lanes, one row of the table each. ${column.code.slots ? 's is a slot' : 'm is a place in memory'}, t a row that the plan adds. Cycles are estimates for machines with AVX-512 IFMA.`;
  parent.replaceChildren(h('p', { class: 'quiet' }, said), ...blocks.map((block) => drawn(block, block === largest, listing, column, light)));
}

function drawn(block: BlockReport, isOpen: boolean, listing: Instruction[], column: Column, light: (lines: ReadonlySet<number>) => void): HTMLElement {
  const lines = new Set(listing.filter(([pc]) => pc >= block.from && pc < block.to).flatMap(linesOf));
  const { plan } = block;
  const offset = block.from.toString(16).padStart(4, '0');
  const place = lines.size ? `, lines ${Math.min(...lines)} to ${Math.max(...lines)}` : '';
  const way = plan ? `${grouped(plan.products)} products in ${grouped(plan.batches)} batches, ${percent(plan.products, LANES * plan.batches)} of lanes filled, ${grouped(plan.predicted_cycles)} cycles` : block.trace_steps === null ? 'no plan' : 'a scalar trace, as a plan would gain nothing';
  const head = h('summary', { focus: () => light(lines), click: () => light(lines) }, h('span', { class: 'pc' }, offset), `${place}: ${way}; ${grouped(block.scalar_cycles)} cycles one by one`);
  const details = h('details', { class: 'block' }, head);
  const filled = () => plan && details.children.length === 1 && details.append(table(block, plan.lanes, column));
  details.addEventListener('toggle', filled);
  if (isOpen) {
    details.open = true;
    filled();
  }
  return details;
}

function table({ from, plan }: BlockReport, batches: number[][][], column: Column): HTMLElement {
  const [slots, letter] = [plan?.slots ?? 0, column.code.slots ? 's' : 'm'];
  const name = (row: number | undefined) => (row === undefined ? '' : row < slots ? `${letter}${row}` : `t${row - slots}`);
  const lane = (product: number[] | undefined) => h('td', product ? { class: 'lane' } : {}, product ? `${name(product[0])} = ${name(product[1])}·${name(product[2])}` : '');
  const rows = batches.slice(0, BATCHES_MAX).map((batch, at) => h('tr', {}, h('th', { scope: 'row' }, grouped(at + 1)), ...Array.from({ length: LANES }, (_, number) => lane(batch[number]))));
  const head = h('tr', {}, h('th', { scope: 'col' }, 'batch'), ...Array.from({ length: LANES }, (_, number) => h('th', { scope: 'col' }, `lane ${number + 1}`)));
  const left = batches.length - BATCHES_MAX;
  return h(
    'div',
    { class: 'lanes', tabindex: 0, role: 'region', 'aria-label': `Lanes of the block at ${from.toString(16)}` },
    h('table', { class: 'numbers' }, h('thead', {}, head), h('tbody', {}, ...rows)),
    left > 0 && h('p', { class: 'quiet' }, `${grouped(left)} batches more: residue run --explain --json has all of them.`),
  );
}
