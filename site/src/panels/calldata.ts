/** Calldata: as it is, field by field as the program parses it, and the evaluator's answer beside the engine's. */
import type { Column, Evaluated } from '../asked';
import { hexed, unhexed } from '../bytes';
import { agrees } from '../compare';
import { h } from '../dom';

/** A number that the program reads at a place that does not depend on its input. */
export interface Field {
  at: number;
  bytes: number;
}

/** What the start of a program parses at constant places, in order, and its modulus. */
export function fieldsOf(text: string): { fields: Field[]; modulus: bigint | undefined } {
  const plain = text.replace(/#.*$/gm, '');
  const modulus = /^\s*program\s+"(?:[^"\\]|\\.)*"\s+modulus\s+(0x[0-9a-fA-F_]+)/.exec(plain)?.[1];
  const start = plain.slice(Math.max(0, plain.lastIndexOf('function ')));
  const words = new Map([...start.matchAll(/\bword\s+(w\d+)\s*=\s*(0x[0-9a-fA-F_]+)/g)].map((found) => [found[1], found[2] ?? '']));
  const fields = [...start.matchAll(/\bparse\s+(w\d+)\s+bytes\s+(\d+)/g)].flatMap((found) => {
    const at = words.get(found[1]);
    return at === undefined ? [] : [{ at: Number(at.replaceAll('_', '')), bytes: Number(found[2]) }];
  });
  const known = new Map(fields.filter(({ at, bytes }) => at + bytes <= 1 << 16).map((field) => [field.at, field]));
  const sorted = [...known.values()].sort((a, b) => a.at - b.at);
  return { fields: sorted, modulus: modulus === undefined ? undefined : BigInt(modulus.replaceAll('_', '')) };
}

/** A number below another one, by the browser's source of random numbers. */
function below(modulus: bigint): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(modulus.toString(16).length / 2 + 9));
  return BigInt(hexed(bytes)) % modulus;
}

/** Calldata with a number in place of a field. */
export function withField(input: string, { at, bytes }: Field, number: bigint): string {
  const old = unhexed(input);
  const data = new Uint8Array(Math.max(old.length, at + bytes));
  data.set(old);
  const digits = number.toString(16).padStart(2 * bytes, '0').slice(-2 * bytes);
  data.set(unhexed(digits), at);
  return hexed(data);
}

export interface Calldata {
  text: string;
  input: string;
  column: Column | undefined;
  expected: Evaluated | undefined;
  /** Why the evaluator has no answer. */
  without: string | undefined;
}

/** Draws the panel; `changed` is told new calldata. */
export function drawCalldata(parent: HTMLElement, { text, input, column, expected, without }: Calldata, changed: (input: string) => void): void {
  const area = h('textarea', { rows: 6, spellcheck: 'false', 'aria-label': 'Calldata in hexadecimal', 'data-focus': 'calldata' });
  area.value = input;
  const wrong = h('p', { class: 'bad', role: 'alert' });
  const take = (next: string) => {
    try {
      unhexed(next);
      changed(next.trim() || '0x');
    } catch (error) {
      wrong.textContent = String(error);
    }
  };
  area.addEventListener('input', () => take(area.value));
  const { fields, modulus } = fieldsOf(text);
  const fill = (label: string, number: () => bigint) =>
    h('button', { type: 'button', click: () => take(fields.reduce((data, field) => withField(data, field, number()), input)) }, label);
  const rows = fields.map((field) => fieldRow(field, input, take));
  const builder = [
    h('h3', {}, 'What the program parses'),
    h('div', { class: 'bar-of-buttons' }, fill('Random numbers', () => below(modulus ?? 1n)), fill('Zeros', () => 0n), fill('The largest', () => (modulus ?? 1n) - 1n), fill('The modulus itself, not valid', () => modulus ?? 0n)),
    h('table', { class: 'values' }, h('tbody', {}, ...rows)),
  ];
  parent.replaceChildren(area, wrong, ...(fields.length && modulus !== undefined ? builder : []), ...answers(column, expected, without));
}

function fieldRow(field: Field, input: string, take: (input: string) => void): HTMLElement {
  let value = '';
  try {
    const bytes = unhexed(input).slice(field.at, field.at + field.bytes);
    value = '0x' + (hexed(bytes).slice(2).replace(/^0+(?=.)/, '') || '0');
  } catch {
    // What is wrong with the calldata is told beside it.
  }
  const label = `bytes ${field.at} to ${field.at + field.bytes - 1}`;
  const number = h('input', {
    type: 'text',
    value,
    spellcheck: 'false',
    'aria-label': `Number in ${label}`,
    change: (event) => {
      const target = event.target as HTMLInputElement;
      target.setCustomValidity('');
      try {
        const number = BigInt(target.value.replaceAll('_', '').trim());
        if (number < 0n || number >> BigInt(8 * field.bytes)) throw new RangeError();
        take(withField(input, field, number));
      } catch {
        target.setCustomValidity(`a number below 2^${8 * field.bytes}, decimal or after 0x`);
        target.reportValidity();
      }
    },
  });
  return h('tr', {}, h('th', { scope: 'row' }, label), h('td', {}, number));
}

/** Both answers, and whether they are one. */
function answers(column: Column | undefined, expected: Evaluated | undefined, without: string | undefined): HTMLElement[] {
  const evaluated = expected ? `${expected.outcome} ${expected.output ?? ''}` : (without ?? '…');
  const run = column?.run;
  const engine = run ? `${run.halt} ${run.output}` : '…';
  const both = run && expected ? [verdict(agrees(run, expected))] : [];
  return [
    h('h3', {}, 'Answers'),
    h(
      'table',
      { class: 'values' },
      h('tbody', {}, h('tr', {}, h('th', { scope: 'row' }, 'evaluator'), h('td', { class: 'value' }, evaluated)), h('tr', {}, h('th', { scope: 'row' }, 'engine'), h('td', { class: 'value' }, engine))),
    ),
    ...both,
  ];
}

function verdict(isSame: boolean): HTMLElement {
  return isSame ? h('p', { class: 'good' }, '✓ They are the same.') : h('p', { class: 'bad' }, '✗ They differ.');
}
