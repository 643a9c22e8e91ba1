/** The steps of an execution: by instruction or by field operation, with values out of Montgomery form, and breakpoints. */
import type { Frame, Step, Trace } from '../asked';
import { download, grouped, h } from '../dom';
import { fieldsOf } from './calldata';
import { lineOf } from './code';

/** Steps that are asked for at once. */
export const STEPS_AT_ONCE = 5000;

/** The line that a step comes from, if it comes from one. */
function stepLine(step: Step): number | undefined {
  return lineOf(step.source?.split('/').at(-1) ?? null);
}

export class Steps {
  private at = 0;
  private isByField = false;
  private view = h('div', { class: 'step', 'aria-live': 'polite' });
  private frame = h('div', { class: 'frame' });
  private isKept = false;
  private hasFrame = false;
  private breakpoint = h('input', { type: 'text', inputmode: 'numeric', size: 6, 'aria-label': 'Stop at line or 0x offset' });

  constructor(
    parent: HTMLElement,
    private trace: Trace,
    private light: (lines: ReadonlySet<number>) => void,
    private frameAt: (step: number) => Promise<Frame>,
    /** The modulus, where values are kept in Montgomery form of 384 bits, which code sees. */
    private modulus: bigint | undefined,
  ) {
    const box = (label: string, changed: (isOn: boolean) => void) =>
      h('label', {}, h('input', { type: 'checkbox', change: (event) => changed((event.target as HTMLInputElement).checked) }), ` ${label}`);
    const kept = box('values as kept, in Montgomery form', (isOn) => {
      this.isKept = isOn;
      this.show(this.at);
    });
    const frame = box('stack, slots and memory', (isOn) => {
      this.hasFrame = isOn;
      this.show(this.at);
    });
    kept.hidden = modulus === undefined;
    const step = (by: number) => () => this.move(by);
    const byField = h('input', { type: 'checkbox', change: (event) => (this.isByField = (event.target as HTMLInputElement).checked) });
    const left = trace.steps_left_out;
    parent.replaceChildren(
      h(
        'div',
        { class: 'bar-of-buttons' },
        h('button', { type: 'button', click: () => this.show(0) }, 'First'),
        h('button', { type: 'button', click: step(-1) }, 'Back'),
        h('button', { type: 'button', click: step(1) }, 'Step'),
        h('button', { type: 'button', click: () => this.run() }, 'Run to'),
        this.breakpoint,
        h('label', {}, byField, ' field operations only'),
        frame,
        kept,
        h('button', { type: 'button', click: () => download('trace.json', JSON.stringify(trace, null, 1)) }, 'Trace as JSON'),
      ),
      h('p', { class: 'quiet', hidden: left === 0 }, `The first ${grouped(trace.steps.length)} steps; ${grouped(left)} more are left out.`),
      this.view,
      this.frame,
    );
    this.show(0);
  }

  private isShown(step: Step | undefined): boolean {
    return step !== undefined && (!this.isByField || step.lanes.length > 0);
  }

  private move(by: number): void {
    let at = this.at + by;
    while (this.trace.steps[at] && !this.isShown(this.trace.steps[at])) at += by;
    if (this.trace.steps[at]) this.show(at);
  }

  /** Goes on to the next step of the line or at the offset. */
  private run(): void {
    const wanted = this.breakpoint.value.trim();
    const pc = wanted.startsWith('0x') ? parseInt(wanted, 16) : undefined;
    const line = pc === undefined ? Number(wanted) : undefined;
    const { steps } = this.trace;
    const found = steps.findIndex((step, at) => at > this.at && (pc === undefined ? stepLine(step) === line : step.pc === pc));
    this.show(found < 0 ? steps.length - 1 : found);
  }

  private show(at: number): void {
    const step = this.trace.steps[at];
    if (!step) return;
    this.at = at;
    const before = this.trace.steps.slice(0, at).reduce((gas, each) => gas + each.gas_cost, 0);
    const shown = (value: string | null) => (this.isKept && value ? inMontgomery(value, this.modulus) : value);
    const place = (where: { at: string | null; value: string | null }) => [
      h('td', {}, where.at ?? ''),
      h('td', { class: 'value' }, shown(where.value) ?? ''),
    ];
    const lanes = step.lanes.flatMap((lane, number) =>
      (['out', 'x', 'y'] as const).map((name) =>
        h('tr', {}, h('th', { scope: 'row' }, `${name === 'out' ? `lane ${number}: ${lane.operation ?? ''} ` : ''}${name}`), ...place(lane[name])),
      ),
    );
    const words = step.words.map((word, number) => h('tr', {}, h('th', { scope: 'row' }, `word ${number}`), h('td', {}), h('td', { class: 'value' }, word)));
    this.view.replaceChildren(
      h(
        'p',
        {},
        h('b', {}, step.mnemonic ?? 'no opcode'),
        ` at 0x${step.pc.toString(16)}, step ${grouped(at + 1)} of ${grouped(this.trace.steps.length)}: ${grouped(step.gas_cost)} gas after ${grouped(before)}`,
        step.source ? `, ${step.source}` : '',
        step.halt ? `; ends: ${step.halt}` : '',
      ),
      h('table', { class: 'values' }, h('tbody', {}, ...lanes, ...words)),
    );
    const line = stepLine(step);
    this.light(new Set(line === undefined ? [] : [line]));
    this.frame.hidden = !this.hasFrame;
    if (this.hasFrame) void this.showFrame(at);
  }

  /** What the frame holds before the step. */
  private async showFrame(at: number): Promise<void> {
    const frame = await this.frameAt(at).catch(() => null);
    if (at !== this.at || !frame) return;
    const table = (heading: string, rows: [string, string][]) => [
      h('h3', {}, heading),
      h('table', { class: 'values' }, h('tbody', {}, ...rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', { class: 'value' }, value))))),
    ];
    const words = frame.memory.slice(2).match(/.{1,64}/g) ?? [];
    const memory = words.map((word, row): [string, string] => [`0x${(32 * row).toString(16).padStart(4, '0')}`, word]).filter(([, word]) => /[^0]/.test(word));
    const slots = frame.slots.map((value, slot): [string, string] => [`s${slot}`, value]).filter(([, value]) => value !== '0x0');
    this.frame.replaceChildren(
      ...table(`Stack: ${grouped(frame.stack.length)} words before the step, the top first; ${grouped(frame.gas)} gas left`, frame.stack.map((word, position) => [String(position), `0x${word.slice(2).replace(/^0+(?=.)/, '')}`])),
      ...(frame.slots.length ? table(`Slots: ${grouped(slots.length)} of ${grouped(frame.slots.length)} that are not 0`, slots) : []),
      ...table(`Memory: ${grouped(frame.memory_bytes)} bytes; words that are not 0`, memory),
    );
  }
}

/** The modulus of a program, if the interface keeps its values in Montgomery form of 384 bits, in memory. */
export function keptModulo(text: string, revision: string): bigint | undefined {
  const isOne = revision.startsWith('evm384-') && revision !== 'evm384-v12' && !/^\s*subprogram /m.test(text);
  return isOne ? fieldsOf(text).modulus : undefined;
}

/** A number in that form. */
function inMontgomery(value: string, modulus: bigint | undefined): string {
  return modulus === undefined ? value : `0x${((BigInt(value) << 384n) % modulus).toString(16)}`;
}
