/** Prices to edit: every line of the column's gas schedule, a slider each, and the schedule's text. */
import { h } from '../dom';
import type { State } from '../state';

/** The EVM's opcodes with their prices by time, of the draft in `docs/eip/repricing.md`, by `vite.config.ts`. */
declare const BY_TIME: [opcode: string, gas: number][];

/** A price in the text of a schedule: where it stands, and in a list of prices by width the one of the program's modulus. */
interface Price {
  section: string;
  key: string;
  value: number;
  from: number;
  to: number;
}

/** The prices of a schedule's text; of lists that of so many limbs, or the last. */
export function prices(toml: string, limbs: number): Price[] {
  const found: Price[] = [];
  let section = '';
  let at = 0;
  for (const line of toml.split('\n')) {
    const name = /^\[(\w+)\]/.exec(line);
    const entry = /^(\w+) = (.*)$/.exec(line);
    if (name) section = name[1] ?? '';
    if (entry && section) {
      const [, key = '', written = ''] = entry;
      const start = at + line.length - written.length;
      const numbers = [...written.matchAll(/\d+(?:\.\d+)?/g)];
      const one = numbers[written.startsWith('[') ? Math.min(limbs, numbers.length) - 1 : 0];
      if (one) found.push({ section, key, value: Number(one[0]), from: start + one.index, to: start + one.index + one[0].length });
    }
    at += line.length + 1;
  }
  return found;
}

/** The largest price of a slider that begins at a value. */
function most(value: number): number {
  return Math.max(10, 2 ** Math.ceil(Math.log2(value * 4 + 1)));
}

/** What sets a price of the EVM itself, which schedules name only where they differ from it. */
const OF_THE_EVM: [key: string, gas: number][] = [
  ['PUSH1', 3],
  ['PUSH2', 3],
  ['DUP1', 3],
  ['MLOAD', 3],
  ['MSTORE', 3],
  ['JUMPDEST', 1],
];

/** Prices beside those of a schedule: of a byte of code that is created, and of calldata. */
export type Beside = Pick<State, 'byte' | 'zero' | 'nonzero'>;
const BESIDE: [key: keyof Beside, label: string][] = [
  ['byte', 'a byte of code (200 now, 1530 as proposed)'],
  ['zero', 'a zero byte of calldata'],
  ['nonzero', 'another byte of calldata'],
];

/** Draws the sliders; `changed` is told the text of the schedule with a price changed, `changedBeside` another price. */
export function drawPrices(
  parent: HTMLElement,
  { toml, limbs, isEdited, beside }: { toml: string; limbs: number; isEdited: boolean; beside: Beside },
  changed: (toml: string | undefined) => void,
  changedBeside: (change: Partial<Beside>) => void,
): void {
  const text = h('textarea', { rows: 14, spellcheck: 'false', 'aria-label': 'Text of the gas schedule' });
  text.value = toml;
  text.addEventListener('change', () => changed(text.value));
  const list = prices(toml, limbs);
  const sliders = list.map((price) =>
    slider(`${price.key}${price.section === 'base' ? '' : ` (${price.section.replace('_', ' ')})`}`, price.value, (value) =>
      changed(toml.slice(0, price.from) + value + toml.slice(price.to)),
    ),
  );
  const stated = new Set(list.filter((price) => price.section === 'evm').map((price) => price.key));
  const others = OF_THE_EVM.filter(([key]) => !stated.has(key)).map(([key, gas]) => slider(`${key} (evm)`, gas, (value) => changed(withEvm(toml, key, value))));
  const numbers = BESIDE.map(([key, label]) =>
    h(
      'label',
      {},
      h('span', {}, label),
      h('input', { type: 'number', min: 0, value: beside[key], 'data-focus': `beside-${key}`, change: (event) => changedBeside({ [key]: Math.max(0, Number((event.target as HTMLInputElement).value) || 0) }) }),
    ),
  );
  const byTime = h('button', { type: 'button', click: () => changed(BY_TIME.reduce((text, [key, gas]) => withEvm(text, key, String(gas)), toml)) }, 'Prices by time');
  const reset = h('button', { type: 'button', disabled: !isEdited, click: () => changed(undefined) }, 'As published');
  parent.replaceChildren(
    h('p', { class: 'quiet' }, `Prices by width are those of ${limbs} limb${limbs === 1 ? '' : 's'} of 64 bits, as the modulus has. Each change compiles and runs anew.`),
    h('div', { class: 'sliders' }, ...sliders, ...others, ...numbers),
    h('div', { class: 'bar-of-buttons' }, reset, byTime, h('span', { class: 'quiet' }, 'Stack and word instructions at the gas that their time asks for, as the draft of this project has it.')),
    text,
  );
}

/** A schedule with a price of an opcode of the EVM. */
function withEvm(toml: string, key: string, value: string): string {
  const line = `${key} = ${value}\n`;
  const stated = new RegExp(`^(\\[evm\\]\\n(?:\\w+ = .*\\n)*?)${key} = .*\\n`, 'm');
  if (stated.test(toml)) return toml.replace(stated, (_, head: string) => head + line);
  return /^\[evm\]$/m.test(toml) ? toml.replace(/^\[evm\]\n/m, (head) => head + line) : `${toml}\n[evm]\n${line}`;
}

function slider(label: string, value: number, changed: (value: string) => void): HTMLElement {
  const number = h('output', {}, String(value));
  const range = h('input', {
    type: 'range',
    min: 0,
    max: most(value),
    step: Number.isInteger(value) ? 1 : 0.001,
    value,
    'aria-label': label,
    'data-focus': `price-${label}`,
    input: (event) => (number.value = (event.target as HTMLInputElement).value),
    change: (event) => changed((event.target as HTMLInputElement).value),
  });
  return h('label', {}, h('span', {}, label), range, number);
}
