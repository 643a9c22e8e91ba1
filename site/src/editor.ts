/** The editor: the program's text, what is wrong in it, what its lines cost, and which of them is looked at. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  gutter,
  GutterMarker,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { grouped } from './dom';
import { ir } from './language';

/** Gas by line, from 1. */
export type Heat = ReadonlyMap<number, number>;

const setHeat = StateEffect.define<Heat>();
const setLit = StateEffect.define<ReadonlySet<number>>();

class GasMarker extends GutterMarker {
  constructor(
    private gas: number,
    private share: number,
  ) {
    super();
  }
  override eq(other: GasMarker): boolean {
    return this.gas === other.gas && this.share === other.share;
  }
  override toDOM(): Node {
    const span = document.createElement('span');
    span.textContent = grouped(this.gas);
    span.style.setProperty('--share', this.share.toFixed(3));
    span.className = 'heat';
    return span;
  }
}

const heat = StateField.define<Heat>({
  create: () => new Map(),
  update(heat, transaction) {
    for (const effect of transaction.effects) if (effect.is(setHeat)) heat = effect.value;
    // Numbers of an earlier text would stand at other lines.
    return transaction.docChanged && transaction.newDoc.lines !== transaction.startState.doc.lines ? new Map() : heat;
  },
});

const lit = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setLit)) continue;
      const builder = new RangeSetBuilder<Decoration>();
      const doc = transaction.newDoc;
      for (const number of [...effect.value].sort((a, b) => a - b)) {
        if (number < 1 || number > doc.lines) continue;
        const { from } = doc.line(number);
        builder.add(from, from, Decoration.line({ class: 'lit' }));
      }
      marks = builder.finish();
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const gasGutter = gutter({
  class: 'gas-gutter',
  lineMarker(view, line) {
    const costs = view.state.field(heat);
    const gas = costs.get(view.state.doc.lineAt(line.from).number);
    return gas === undefined ? null : new GasMarker(gas, gas / Math.max(...costs.values()));
  },
  lineMarkerChange: (update) => update.transactions.some((each) => each.effects.some((effect) => effect.is(setHeat))),
});

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--page)', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--active)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'var(--selection) !important',
  },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'inherit', marginLeft: '1em' },
});

export class Editor {
  readonly view: EditorView;

  /** In `parent`; `changed` is told every text, `line` the line of the cursor. */
  constructor(parent: HTMLElement, changed: (text: string) => void, line: (number: number) => void) {
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          gasGutter,
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap]),
          ir(),
          theme,
          heat,
          lit,
          EditorView.contentAttributes.of({ 'aria-label': 'Program, as text of the IR', spellcheck: 'false', tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed(update.state.doc.toString());
            if (update.selectionSet || update.docChanged) line(this.line());
          }),
        ],
      }),
    });
  }

  text(): string {
    return this.view.state.doc.toString();
  }

  setText(text: string): void {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
  }

  /** The line of the cursor, from 1. */
  line(): number {
    return this.view.state.doc.lineAt(this.view.state.selection.main.head).number;
  }

  /** Marks what is wrong, in units of the text; nothing where all is well. */
  setWrong(wrong: { from: number; to: number; message: string } | null): void {
    const { length } = this.view.state.doc;
    const within = (at: number) => Math.max(0, Math.min(at, length));
    const diagnostics = wrong
      ? [{ from: within(wrong.from), to: within(wrong.to), severity: 'error' as const, message: wrong.message }]
      : [];
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  setHeat(costs: Heat): void {
    this.view.dispatch({ effects: setHeat.of(costs) });
  }

  /** Lights lines, and scrolls to the first of them where `shown`. */
  setLit(lines: ReadonlySet<number>, shown = false): void {
    const { doc } = this.view.state;
    const first = Math.min(...lines);
    const isThere = shown && first >= 1 && first <= doc.lines;
    const scroll = isThere ? [EditorView.scrollIntoView(doc.line(first).from, { y: 'nearest' })] : [];
    this.view.dispatch({ effects: [setLit.of(lines), ...scroll] });
  }
}
