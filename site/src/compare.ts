/** The columns: what the program costs under each interface, and what the last change of it changed. */
import type { Column, Evaluated, Listed } from './asked';
import { grouped, h, options, percent } from './dom';
import { COLUMNS_MAX, type ColumnState, type State } from './state';

/** Bytes of code that an account may have by EIP-170, and that proposals after it allow. */
const CODE_LIMITS = [24_576, 65_536];
/** Gas that a frame may validate a transaction with by EIP-8141. */
const VALIDATION_GAS = 100_000;

/** As far as a column has come. */
export interface Result {
  /** What the numbers are of: text, calldata and prices. */
  of: string;
  column?: Column;
  /** Why there is no code. */
  refused?: string;
}

export interface Comparison {
  state: State;
  listed: Listed;
  /** By column: the last numbers, and those before them. */
  results: (Result | undefined)[];
  before: (Result | undefined)[];
  /** Whether a column's numbers are of the program as it stands. */
  isCurrent(column: number): boolean;
  expected: Evaluated | undefined;
  /** Gas of the precompile that the contract replaces, if it replaces one. */
  precompile: number | undefined;
}

export interface Actions {
  choose(column: number): void;
  remove(column: number): void;
  reprice(column: number, schedule: string): void;
  add(revision: string): void;
}

type Row = [label: string, cell: (column: Column, before: Column | undefined) => (Node | string)[]];

/** Draws the table into `parent`. */
export function draw(parent: HTMLElement, comparison: Comparison, actions: Actions): void {
  const { state } = comparison;
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['focus'] : undefined;
  const head = h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'Number')));
  state.columns.forEach((column, at) => head.append(heading(comparison, column, at, actions)));
  const body = rows(comparison).map(([label, cell]) => {
    const row = h('tr', {}, h('th', { scope: 'row' }, label));
    state.columns.forEach((_, at) => row.append(cellOf(comparison, at, cell)));
    return row;
  });
  const table = h('table', { class: 'columns' }, h('thead', {}, head), h('tbody', {}, ...body, refusals(comparison)));
  parent.replaceChildren(table);
  if (focused) parent.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
}

function heading({ state, listed }: Comparison, column: ColumnState, at: number, actions: Actions): HTMLElement {
  const { revision, schedule, toml } = column;
  const known = listed.schedules.filter((each) => each.revisions.includes(revision)).map((each) => each.name);
  const own = listed.revisions.find((each) => each.name === revision)?.schedule ?? '';
  const names: [string, string][] = known.map((name) => [name, name]);
  if (toml !== undefined) names.push(['', 'as edited']);
  const choice = h(
    'select',
    {
      'aria-label': `Gas schedule of ${revision}`,
      'data-focus': `schedule-${at}`,
      change: (event) => actions.reprice(at, (event.target as HTMLSelectElement).value),
    },
    ...options(names, toml === undefined ? (schedule ?? own) : ''),
  );
  const isChosen = at === state.chosen;
  const choose = h(
    'button',
    {
      type: 'button',
      class: 'choose',
      'aria-pressed': isChosen ? 'true' : 'false',
      'data-focus': `choose-${at}`,
      title: listed.revisions.find((each) => each.name === revision)?.summary,
      click: () => actions.choose(at),
    },
    revision,
  );
  const remove = h(
    'button',
    {
      type: 'button',
      class: 'remove',
      'aria-label': `Remove the column of ${revision}`,
      'data-focus': `remove-${at}`,
      click: () => actions.remove(at),
    },
    '×',
  );
  return h('th', { scope: 'col', class: isChosen ? 'chosen' : '' }, h('div', {}, choose, remove), choice);
}

/** What each row says of a column. */
function rows({ state, expected, precompile }: Comparison): Row[] {
  const split = (key: 'arithmetic' | 'transfer' | 'memory' | 'control'): Row => [
    `· ${key}`,
    ({ run }) =>
      run.gas_split ? [grouped(run.gas_split[key]), ' ', quiet(percent(run.gas_split[key], run.gas_used))] : ['?'],
  ];
  const sent = calldataGas(state);
  return [
    ['gas', ({ run }, before) => [h('b', {}, grouped(run.gas_used)), ' ', change(run.gas_used, before?.run.gas_used)]],
    ...beside(precompile),
    split('arithmetic'),
    split('transfer'),
    split('memory'),
    split('control'),
    [`share of ${grouped(VALIDATION_GAS)}`, ({ run }) => [bar(run.gas_used, VALIDATION_GAS)]],
    ['bytes', ({ code }, before) => [h('b', {}, grouped(code.code_bytes)), ' ', change(code.code_bytes, before?.code.code_bytes)]],
    ...CODE_LIMITS.map((limit): Row => [`share of ${grouped(limit)}`, ({ code }) => [bar(code.code_bytes, limit)]]),
    ['gas of the code', ({ code }) => [grouped(code.code_bytes * state.byte)]],
    ['gas of calldata', () => [sent === undefined ? '?' : grouped(sent)]],
    ['field instructions', ({ code }) => [grouped(code.field_instructions)]],
    ['slots', ({ code }) => [grouped(code.slots)]],
    ['answer', ({ run }) => [answer(run, expected)]],
  ];
}

/** The precompile's gas beside the code's. */
function beside(precompile: number | undefined): Row[] {
  if (precompile === undefined) return [];
  return [['precompile', ({ run }) => [h('b', {}, grouped(precompile)), ' ', quiet(`code: ${(run.gas_used / precompile).toFixed(2)} ×`)]]];
}

function cellOf(comparison: Comparison, at: number, cell: Row[1]): HTMLElement {
  const result = comparison.results[at];
  const isStale = !comparison.isCurrent(at);
  const content = result?.column ? cell(result.column, comparison.before[at]?.column) : result?.refused ? ['–'] : ['…'];
  const classes = [isStale && 'stale', at === comparison.state.chosen && 'chosen'].filter(Boolean).join(' ');
  return h('td', { class: classes }, ...content);
}

/** A row with the reasons why interfaces have no code. */
function refusals({ state, results }: Comparison): HTMLElement {
  const reasons = state.columns.flatMap(({ revision }, at) => {
    const refused = results[at]?.refused;
    return refused ? [h('li', {}, h('b', {}, revision), ': ', refused)] : [];
  });
  const cell = h('td', { colspan: state.columns.length + 1, class: 'reasons' }, h('ul', {}, ...reasons));
  return h('tr', { hidden: reasons.length === 0 }, cell);
}

/** Whether an execution answers what the evaluator does. */
export function agrees(run: Column['run'], expected: Evaluated): boolean {
  const isSame = expected.outcome === 'failed' ? !run.success : run.success && run.output === expected.output;
  return isSame && run.disagreement === null;
}

function answer(run: Column['run'], expected: Evaluated | undefined): Node {
  if (!expected) return quiet(run.halt);
  return agrees(run, expected) ? h('span', { class: 'good' }, '✓ ', run.halt) : h('span', { class: 'bad' }, '✗ ', run.halt);
}

/** What a number has become less or more by. */
function change(now: number, before: number | undefined): Node | string {
  if (before === undefined || now === before) return '';
  const text = `${now < before ? '−' : '+'}${grouped(Math.abs(now - before))}`;
  return h('span', { class: now < before ? 'less' : 'more' }, text);
}

function bar(part: number, whole: number): Node {
  const share = part / whole;
  const text = share < 10 ? percent(part, whole) : `${grouped(share)} ×`;
  const full = h('span', { class: share <= 1 ? 'fill' : 'fill over', style: `--share:${Math.min(1, share).toFixed(3)}` });
  return h('span', { class: 'bar' }, full, h('span', {}, text));
}

function quiet(text: string): Node {
  return h('span', { class: 'quiet' }, text);
}

/** Gas of the calldata that was typed; nothing where it is none. */
function calldataGas({ input, zero, nonzero }: State): number | undefined {
  const digits = input.replace(/[\s_]/g, '').replace(/^0x/i, '');
  if (digits.length % 2 || /[^0-9a-f]/i.test(digits)) return undefined;
  const bytes = digits.match(/../g) ?? [];
  return bytes.reduce((gas, byte) => gas + (byte === '00' ? zero : nonzero), 0);
}

/** The choice of interfaces to add. */
export function adding(parent: HTMLElement, { state, listed }: Comparison, actions: Actions): void {
  const add = (event: Event) => {
    const select = event.target as HTMLSelectElement;
    const chosen = select.value;
    select.value = '';
    if (chosen) actions.add(chosen);
  };
  const others = listed.revisions.filter(({ name }) => !state.columns.some(({ revision }) => revision === name));
  const values: [string, string][] = others.map(({ name, summary }) => [name, `${name}: ${summary}`]);
  const every: [string, string][] = others.length ? [['every', 'every other interface']] : [];
  const isFull = state.columns.length >= COLUMNS_MAX;
  const select = h('select', { 'aria-label': 'Add an interface', disabled: isFull, change: add }, ...options([['', 'Add an interface…'], ...every, ...values], ''));
  parent.replaceChildren(select);
}
