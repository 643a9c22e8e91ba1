/** The steps of an execution: by instruction or by field operation, with values out of Montgomery form, and breakpoints. */
import type { Step, Trace } from '../asked';
import { download, grouped, h } from '../dom';
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
  private breakpoint = h('input', { type: 'text', inputmode: 'numeric', size: 6, 'aria-label': 'Stop at line or 0x offset' });

  constructor(
    parent: HTMLElement,
    private trace: Trace,
    private light: (lines: ReadonlySet<number>) => void,
  ) {
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
        h('button', { type: 'button', click: () => download('trace.json', JSON.stringify(trace, null, 1)) }, 'Trace as JSON'),
      ),
      h('p', { class: 'quiet', hidden: left === 0 }, `The first ${grouped(trace.steps.length)} steps; ${grouped(left)} more are left out.`),
      this.view,
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
    const place = (where: { at: string | null; value: string | null }) => [
      h('td', {}, where.at ?? ''),
      h('td', { class: 'value' }, where.value ?? ''),
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
  }
}
