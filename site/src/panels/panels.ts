/** The panels below the columns, of which one is shown: each looks into the chosen column. */
import type { Checked, Column, Evaluated, Run } from '../asked';
import { Cancelled, type Client } from '../client';
import { grouped, h, percent } from '../dom';
import type { State } from '../state';
import { drawCalldata } from './calldata';
import { drawChecks } from './checks';
import { Listing } from './code';
import { drawFiles } from './files';
import { drawLanes } from './lanes';
import { drawPrices } from './prices';
import { keptModulo, Steps, STEPS_AT_ONCE } from './steps';

const TABS = [
  ['code', 'Code'],
  ['lanes', 'Lanes'],
  ['profile', 'Profile'],
  ['steps', 'Steps'],
  ['prices', 'Prices'],
  ['calldata', 'Calldata'],
  ['checks', 'Checks'],
  ['files', 'Files'],
] as const;

type Tab = (typeof TABS)[number][0];

/** What panels ask the page. */
export interface Asks {
  client: Client;
  /** The group of questions that a change takes back. */
  group: string;
  state(): State;
  run(at: number): Run;
  /** The numbers of a column, once they are there. */
  column(at: number): Column | undefined;
  checked(): Checked | undefined;
  expected(): { expected: Evaluated | undefined; without: string | undefined };
  light(lines: ReadonlySet<number>): void;
  changed(change: Partial<State>): void;
  repriced(toml: string | undefined): void;
}

export class Panels {
  private tab: Tab = 'code';
  private listing: Listing | undefined;
  private turn = 0;

  constructor(
    private tabs: HTMLElement,
    private panel: HTMLElement,
    private asks: Asks,
  ) {
    this.drawTabs();
  }

  /** Shows a panel by its name; an unknown one changes nothing. */
  choose(name: string): void {
    const found = TABS.find(([tab]) => tab === name);
    if (!found) return;
    this.tab = found[0];
    this.drawTabs();
    this.draw();
  }

  /** Tells the line of the cursor. */
  line(number: number): void {
    this.listing?.line(number);
  }

  /** Tells that the evaluator's answer is there, which two panels show. */
  evaluated(): void {
    if (this.tab === 'calldata' || this.tab === 'checks') this.draw();
  }

  private drawTabs(): void {
    const choose = (tab: Tab) => {
      this.choose(tab);
      this.asks.changed({ tab });
    };
    const arrows = (at: number) => (event: Event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[(event as KeyboardEvent).key];
      const next = by && TABS[(at + by + TABS.length) % TABS.length];
      if (!next) return;
      choose(next[0]);
      document.getElementById(`tab-${next[0]}`)?.focus();
    };
    this.tabs.replaceChildren(
      ...TABS.map(([tab, label], at) => {
        const isShown = tab === this.tab;
        const attributes = { type: 'button', role: 'tab', id: `tab-${tab}`, 'aria-controls': 'panel', 'aria-selected': isShown ? 'true' : 'false' };
        return h('button', { ...attributes, tabindex: isShown ? 0 : -1, click: () => choose(tab), keydown: arrows(at) }, label);
      }),
    );
    this.panel.setAttribute('aria-labelledby', `tab-${this.tab}`);
  }

  /** Draws the panel anew, of the column that is chosen now. */
  draw(): void {
    const turn = ++this.turn;
    this.listing = undefined;
    // What draws a panel later draws into an element of its own, which nobody sees any more if another panel was chosen meanwhile.
    const into = h('div', { class: `panel-${this.tab}` });
    const shown = async () => {
      try {
        await this.drawn(into);
        if (turn === this.turn) this.replace(into);
      } catch (error) {
        if (error instanceof Cancelled || turn !== this.turn) return;
        this.replace(h('p', { class: 'bad' }, error instanceof Error ? error.message : String(error)));
      }
    };
    void shown();
  }

  /** Shows an element; what had the focus gets it back where it is still there. */
  private replace(element: HTMLElement): void {
    const active = document.activeElement;
    const focused = active instanceof HTMLElement && this.panel.contains(active) ? active.dataset['focus'] : undefined;
    const [from, to] = active instanceof HTMLTextAreaElement ? [active.selectionStart, active.selectionEnd] : [0, 0];
    this.panel.replaceChildren(element);
    const again = focused ? this.panel.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`) : null;
    again?.focus();
    if (again instanceof HTMLTextAreaElement) again.setSelectionRange(from, to);
  }

  private async drawn(into: HTMLElement): Promise<void> {
    const { client, group, state, expected } = this.asks;
    const at = state().chosen;
    const run = this.asks.run(at);
    const column = this.asks.column(at);
    if (this.tab === 'prices') {
      const limbs = Math.max(1, Math.ceil((this.asks.checked()?.bits ?? 1) / 64));
      const toml = run.toml ?? (await client.ask('scheduleText', run, group));
      const drawn = { toml, limbs, isEdited: run.toml !== undefined, beside: state() };
      return drawPrices(into, drawn, (toml) => this.asks.repriced(toml), (change) => this.asks.changed(change));
    }
    if (this.tab === 'calldata') {
      const { text, input } = state();
      return drawCalldata(into, { text, input, column, ...expected() }, (input) => this.asks.changed({ input }));
    }
    if (!column) {
      into.replaceChildren(h('p', { class: 'quiet' }, 'No code of this program yet.'));
      return;
    }
    switch (this.tab) {
      case 'code':
        this.listing = new Listing(into, await client.ask('listing', run, group), column, this.asks.light);
        return;
      case 'lanes': {
        const [blocks, listing] = await Promise.all([client.ask('blocks', run, group), client.ask('listing', run, group)]);
        return drawLanes(into, blocks, listing, column, this.asks.light);
      }
      case 'profile':
        return this.profile(into, run);
      case 'steps':
        new Steps(into, await client.ask('trace', { ...run, skipped: 0, limit: STEPS_AT_ONCE }, group), this.asks.light, (step) => client.ask('frame', { ...run, step }, group), keptModulo(run.text, run.revision));
        return;
      case 'checks': {
        const refused = (error: Error) => {
          if (error instanceof Cancelled) throw error;
          return { refused: error.message };
        };
        const [specified, certificate, listing] = await Promise.all([
          client.ask('specification', run, group).catch(refused),
          client.ask('certificate', run, group).catch(refused),
          client.ask('listing', run, group),
        ]);
        return drawChecks(into, column, listing, { ...expected(), specified, certificate }, this.asks.light);
      }
      case 'files': {
        const name = this.asks.checked()?.name ?? 'program';
        return drawFiles(into, {
          name,
          text: state().text,
          column,
          listing: () => client.ask('listing', run),
          format: (format) => client.ask('format', { ...run, name, format }),
          certificate: () => client.ask('certificate', run),
          stateTest: (traced) => client.ask('stateTest', { ...run, traced }),
        });
      }
    }
  }

  /** Gas by function and named stretch, as a flame graph and a table. */
  private async profile(into: HTMLElement, run: Run): Promise<void> {
    const { client, group } = this.asks;
    const [svg, profile] = await Promise.all([client.ask('flame', run, group), client.ask('profile', run, group)]);
    const image = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    image.setAttribute('role', 'img');
    image.setAttribute('aria-label', 'Gas by function and what it calls; the table below has the numbers');
    const rows = profile.by_name.map(({ name, calls, gas, gas_with_callees }) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, name),
        h('td', {}, grouped(calls)),
        h('td', {}, grouped(gas)),
        h('td', {}, grouped(gas_with_callees)),
        h('td', {}, percent(gas_with_callees, profile.gas_used)),
      ),
    );
    const head = ['Function, stretch or line', 'times', 'gas', 'with what it calls', 'share'];
    const table = h('table', { class: 'numbers' }, h('thead', {}, h('tr', {}, ...head.map((text) => h('th', { scope: 'col' }, text)))), h('tbody', {}, ...rows));
    into.replaceChildren(image, table);
  }
}
