/** The code of the chosen column: instructions, linked with the lines of the program that they come from. */
import type { Column, Instruction } from '../asked';
import { grouped, h } from '../dom';

/** Instructions that are drawn at once. */
const PAGE = 2000;

/** The line of a stretch's name. */
export function lineOf(stretch: string | null): number | undefined {
  const found = /^line (\d+)$/.exec(stretch ?? '');
  return found ? Number(found[1]) : undefined;
}

/** The lines that an instruction comes from. */
export function linesOf([, , , stretches]: Instruction): number[] {
  return [...new Set(stretches.map(lineOf).filter((line) => line !== undefined))];
}

export class Listing {
  private rows: { element: HTMLElement; lines: number[]; name: string | null }[] = [];
  private from = 0;

  /** `light` is told the lines of the instruction that is pointed at. */
  constructor(
    private parent: HTMLElement,
    private instructions: Instruction[],
    private column: Column,
    private light: (lines: ReadonlySet<number>) => void,
  ) {
    this.draw();
  }

  private draw(): void {
    const { instructions, column } = this;
    const shown = instructions.slice(this.from, this.from + PAGE);
    const code = column.code.code.slice(2);
    const list = h('ol', { class: 'listing', 'aria-label': 'Instructions' });
    this.rows = shown.map((instruction, at) => {
      const [pc, text, name] = instruction;
      const end = instructions[this.from + at + 1]?.[0] ?? column.code.instruction_bytes;
      const bytes = code.slice(2 * pc, 2 * Math.min(end, pc + 12)) + (end > pc + 12 ? '…' : '');
      const lines = linesOf(instruction);
      const place = lines.length ? `line ${lines.join(', ')}` : (name ?? '');
      const element = h(
        'li',
        {},
        h(
          'button',
          {
            type: 'button',
            focus: () => this.point(lines),
            // Rows that scroll below a pointer at rest are not pointed at.
            mousemove: (event) => ((event as MouseEvent).movementX || (event as MouseEvent).movementY) && this.point(lines),
            click: () => this.point(lines),
          },
          h('span', { class: 'pc' }, pc.toString(16).padStart(4, '0')),
          h('span', { class: 'bytes' }, bytes),
          h('span', { class: 'text' }, text.trim()),
          h('span', { class: 'place' }, place),
        ),
      );
      list.append(element);
      return { element, lines, name };
    });
    const turn = (by: number) => () => {
      this.from = Math.max(0, this.from + by);
      this.draw();
    };
    const isPaged = instructions.length > PAGE;
    const pages = h(
      'p',
      { hidden: !isPaged },
      h('button', { type: 'button', disabled: this.from === 0, click: turn(-PAGE) }, 'Before'),
      ` ${grouped(this.from + 1)} to ${grouped(this.from + shown.length)} of ${grouped(instructions.length)} `,
      h('button', { type: 'button', disabled: this.from + PAGE >= instructions.length, click: turn(PAGE) }, 'After'),
    );
    this.parent.replaceChildren(pages, list);
  }

  private point(lines: number[]): void {
    this.light(new Set(lines));
    this.mark(new Set(lines));
  }

  private mark(lines: ReadonlySet<number>): HTMLElement | undefined {
    let first: HTMLElement | undefined;
    for (const row of this.rows) {
      const isLit = row.lines.some((line) => lines.has(line));
      row.element.classList.toggle('lit', isLit);
      if (isLit) first ??= row.element;
    }
    return first;
  }

  /** Lights the instructions of a line, and shows the first. */
  line(number: number): void {
    const known = this.rows.some((row) => row.lines.includes(number));
    if (!known) {
      const at = this.instructions.findIndex((instruction) => linesOf(instruction).includes(number));
      if (at >= 0 && Math.floor(at / PAGE) * PAGE !== this.from) {
        this.from = Math.floor(at / PAGE) * PAGE;
        this.draw();
      }
    }
    const first = this.mark(new Set([number]));
    const list = first?.parentElement;
    if (first && list) list.scrollTop = first.offsetTop - list.offsetTop - list.clientHeight / 3;
  }
}
