/** The page as a whole: what changes asks anew, and what comes back is drawn. */
import type { Checked, Column, Evaluated, Listed, Run } from './asked';
import { unitOfByte } from './bytes';
import { Cancelled, type Client } from './client';
import { type Actions, adding, type Comparison, draw, type Result } from './compare';
import { byId } from './dom';
import { Editor } from './editor';
import { chosen, fill, FIRST } from './examples';
import { Forms } from './forms';
import { lineOf } from './panels/code';
import { Panels } from './panels/panels';
import { type ColumnState, COLUMNS_MAX, FRESH, fromFragment, keep, keepLarge, kept, type State, toFragment } from './state';

/** Time after a keystroke until it is asked for, in milliseconds. */
const PAUSE_MS = 25;
/** Time until the link follows. */
const LINK_MS = 300;
/** Questions that a change takes back. */
const COMPUTED = 'computed';

export class Page {
  private state: State = structuredClone(FRESH);
  private listed: Listed | undefined;
  private lists: Promise<Listed>;
  private results: (Result | undefined)[] = [];
  private before: (Result | undefined)[] = [];
  private checked: Checked | undefined;
  private expected: Evaluated | undefined;
  private without: string | undefined;
  /** Gas of the precompile that the contract replaces, on this calldata. */
  private precompile: number | undefined;
  private generation = 0;
  /** Number of the text: each change makes another. */
  private texts = 0;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private linking: ReturnType<typeof setTimeout> | undefined;
  private editor: Editor;
  private panels: Panels;
  private forms: Forms;
  private isOurs = false;

  constructor(private client: Client) {
    this.lists = client.ask('lists', {});
    this.lists.catch(() => undefined); // `begin` says so.
    this.editor = new Editor(byId('editor'), (text) => this.typed(text), (line) => this.panels?.line(line));
    this.forms = new Forms(this.client, COMPUTED, () => this.state.text);
    this.panels = new Panels(byId('tabs'), byId('panel'), {
      client: this.client,
      group: COMPUTED,
      state: () => this.state,
      run: (at) => this.run(at),
      column: (at) => this.current(at),
      checked: () => this.checked,
      expected: () => ({ expected: this.expected, without: this.without }),
      light: (lines) => this.editor.setLit(lines, true),
      changed: (change) => this.change(change),
      repriced: (toml) => this.setColumn(this.state.chosen, ({ revision }) => (toml === undefined ? { revision } : { revision, toml })),
    });
  }

  /** Takes the program of the link, else the one of the last visit, else an example. */
  async begin(): Promise<void> {
    this.buttons();
    window.addEventListener('hashchange', () => this.isFollowed());
    window.addEventListener('pagehide', () => this.link());
    const begins = this.followed() ?? (await this.remembered());
    if (begins) this.take(begins);
    else await this.example(FIRST);
    try {
      this.listed = await this.lists;
    } catch (error) {
      return this.say(String(error));
    }
    this.dropUnknown();
    const examples = byId('examples') as HTMLSelectElement;
    fill(examples, this.listed);
    examples.addEventListener('change', () => void this.example(examples.value));
    this.drawColumns();
  }

  private buttons(): void {
    const copied = async (text: string, what: string) => {
      await navigator.clipboard.writeText(text).then(
        () => this.say(`${what} copied`),
        () => this.say(`the browser does not allow copying; the address of this page is the link`),
      );
    };
    const link = () => {
      this.link();
      return location.href;
    };
    byId('share').addEventListener('click', () => void copied(link(), 'Link'));
    byId('frame').addEventListener('click', () => {
      const address = link().replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      void copied(`<iframe src="${address}" width="100%" height="600" title="Residue"></iframe>`, 'Frame');
    });
    document.body.classList.toggle('framed', window.self !== window.top);
  }

  private followed(): State | undefined {
    if (location.hash.length < 2) return undefined;
    try {
      return fromFragment(location.hash.slice(1));
    } catch (error) {
      this.say(String(error));
      return undefined;
    }
  }

  private isFollowed(): void {
    const state = this.followed();
    if (!state) return;
    this.take(state);
  }

  private async remembered(): Promise<State | undefined> {
    try {
      return await kept();
    } catch {
      return undefined;
    }
  }

  private take(state: State): void {
    this.state = state;
    this.texts++;
    [this.results, this.before] = [[], []];
    this.isOurs = true;
    this.editor.setText(state.text);
    this.isOurs = false;
    this.dropUnknown();
    this.panels.choose(state.tab);
    this.ask();
  }

  /** Columns of interfaces that are not known here go. */
  private dropUnknown(): void {
    if (!this.listed) return;
    const known = new Set(this.listed.revisions.map(({ name }) => name));
    const columns = this.state.columns.filter(({ revision }) => known.has(revision));
    if (columns.length < this.state.columns.length) this.say('an interface of the link is not known here and was left out');
    this.state.columns = columns.length ? columns : structuredClone(FRESH.columns);
    this.state.chosen = Math.min(this.state.chosen, this.state.columns.length - 1);
  }

  private async example(value: string): Promise<void> {
    if (!value) return;
    try {
      this.say('');
      const found = await chosen(this.client, value);
      if (!found) return;
      const { contract: _, ...state } = this.state;
      this.take({ ...state, ...found });
    } catch (error) {
      if (!(error instanceof Cancelled)) this.say(error instanceof Error ? error.message : String(error));
    }
  }

  private typed(text: string): void {
    if (this.isOurs) return;
    this.state.text = text;
    this.texts++;
    this.ask();
  }

  private change(change: Partial<State>): void {
    Object.assign(this.state, change);
    if (Object.keys(change).every((key) => key === 'tab')) return this.link();
    if ('input' in change || 'gas' in change) this.ask();
    else this.drawColumns();
    this.linkSoon();
  }

  private say(what: string): void {
    byId('status').textContent = what;
  }

  private run(at: number): Run {
    const { text, input, gas, columns } = this.state;
    return { text, input, gas, ...(columns[at] as ColumnState) };
  }

  /** What numbers of a column are of: the text by its number, as it may be long. */
  private of(at: number): string {
    const { input, gas, columns } = this.state;
    return JSON.stringify([this.texts, input, gas, columns[at]]);
  }

  private current(at: number): Column | undefined {
    const result = this.results[at];
    return result?.of === this.of(at) ? result.column : undefined;
  }

  /** Asks for everything anew, after a pause. */
  private ask(): void {
    this.generation++;
    this.client.cancel(COMPUTED);
    clearTimeout(this.asking);
    this.asking = setTimeout(() => void this.compute(this.generation), PAUSE_MS);
    // What is shown is of another program now.
    this.drawColumns();
    this.linkSoon();
  }

  private async compute(generation: number): Promise<void> {
    const { text, input } = this.state;
    try {
      const checked = await this.client.ask('check', { text }, COMPUTED);
      if (generation !== this.generation) return;
      this.checked = checked;
      this.wrong(checked);
      this.drawColumns();
      await this.lists;
      if (generation !== this.generation || checked.error) return;
      const column = this.column(this.state.chosen);
      await Promise.all([column, this.evaluate(text, input, generation), this.heat(), this.native(generation), this.forms.draw(), ...this.others()]);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.say(error instanceof Error ? error.message : String(error));
    }
  }

  private others(): Promise<void>[] {
    return this.state.columns.flatMap((_, at) => (at === this.state.chosen ? [] : [this.column(at)]));
  }

  private wrong({ error }: Checked): void {
    const shown = byId('wrong');
    if (!error) {
      shown.textContent = '';
      return this.editor.setWrong(null);
    }
    const { text } = this.state;
    const [from, to] = [unitOfByte(text, error.from), unitOfByte(text, error.to)];
    this.editor.setWrong({ from, to, message: error.what });
    shown.textContent = `line ${text.slice(0, from).split('\n').length}: ${error.what}`;
  }

  private async evaluate(text: string, input: string, generation: number): Promise<void> {
    [this.expected, this.without] = [undefined, undefined];
    try {
      const expected = await this.client.ask('evaluate', { text, input }, COMPUTED);
      if (generation === this.generation) this.expected = expected;
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      if (generation === this.generation) this.without = (error as Error).message;
    }
    if (generation !== this.generation) return;
    this.drawColumns();
    this.panels.evaluated();
  }

  /** Gas of the precompile beside the contract that the program began as. */
  private async native(generation: number): Promise<void> {
    const { contract, input } = this.state;
    let gas: number | undefined;
    try {
      if (contract !== undefined) gas = await this.client.ask('precompileGas', { name: contract, input }, COMPUTED);
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      // A contract that is not known here replaces nothing.
    }
    if (generation !== this.generation || gas === this.precompile) return;
    this.precompile = gas;
    this.drawColumns();
  }

  /** Numbers of a column; those that were there before are kept for the difference. */
  private async column(at: number): Promise<void> {
    const of = this.of(at);
    const old = this.results[at];
    if (old?.of === of) return;
    const next: Result = { of };
    try {
      next.column = await this.client.ask('column', this.run(at), COMPUTED);
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      next.refused = (error as Error).message;
    }
    if (of !== this.of(at)) return;
    if (old?.column) this.before[at] = old;
    this.results[at] = next;
    this.drawColumns();
    if (at === this.state.chosen) this.panels.draw();
  }

  /** Gas by line of the chosen column. */
  private async heat(): Promise<void> {
    const { chosen } = this.state;
    const of = this.of(chosen);
    const costs = new Map<number, number>();
    try {
      const { nodes } = await this.client.ask('profile', this.run(chosen), COMPUTED);
      for (const { name, gas } of nodes) {
        const line = lineOf(name);
        if (line !== undefined) costs.set(line, (costs.get(line) ?? 0) + gas);
      }
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      // The column says why there is no code.
    }
    if (chosen === this.state.chosen && of === this.of(chosen)) this.editor.setHeat(costs);
  }

  private drawColumns(): void {
    const { listed, state, results, before, expected, precompile } = this;
    if (!listed) return;
    const comparison: Comparison = { state, listed, results, before, expected, precompile, isCurrent: (at) => results[at]?.of === this.of(at) };
    draw(byId('compare'), comparison, this.actions);
    adding(byId('adding'), comparison, this.actions);
  }

  private setColumn(at: number, change: (column: ColumnState) => ColumnState): void {
    const column = this.state.columns[at];
    if (!column) return;
    this.state.columns[at] = change(column);
    this.ask();
  }

  private readonly actions: Actions = {
    choose: (at) => {
      this.state.chosen = at;
      this.ask();
      this.panels.draw();
    },
    remove: (at) => {
      if (this.state.columns.length === 1) return;
      for (const list of [this.state.columns, this.results, this.before]) list.splice(at, 1);
      const { chosen } = this.state;
      this.state.chosen = Math.max(0, chosen > at || chosen === this.state.columns.length ? chosen - 1 : chosen);
      this.ask();
      this.panels.draw();
    },
    reprice: (at, schedule) => this.setColumn(at, ({ revision }) => ({ revision, schedule })),
    add: (revision) => {
      const names = this.listed?.revisions.map(({ name }) => name) ?? [];
      const known = new Set(this.state.columns.map((column) => column.revision));
      const wanted = revision === 'every' ? names.filter((name) => !known.has(name)) : [revision];
      this.state.columns.push(...wanted.slice(0, COLUMNS_MAX - this.state.columns.length).map((name) => ({ revision: name })));
      this.ask();
    },
  };

  private linkSoon(): void {
    clearTimeout(this.linking);
    this.linking = setTimeout(() => this.link(), LINK_MS);
  }

  /** Puts the state into the address, and keeps it. */
  private link(): void {
    clearTimeout(this.linking);
    const fragment = toFragment(this.state);
    if (fragment === undefined) {
      // The address is that of another program.
      history.replaceState(null, '', location.pathname + location.search);
      void keepLarge(this.state);
      return this.say('the program is too long for a link; it is kept in this browser');
    }
    if (location.hash.slice(1) !== fragment) history.replaceState(null, '', `#${fragment}`);
    keep(fragment);
  }
}
