/** The forms of the program: the text that is edited, and the same as a function of the Python package, to be read. */
import { Cancelled, type Client } from './client';
import { byId, h } from './dom';

export class Forms {
  private isPython = false;
  private turn = 0;

  /** `group` names the questions that a change takes back, `text` gives the program. */
  constructor(
    private client: Client,
    private group: string,
    private text: () => string,
  ) {
    const tabs = ['ir', 'python'].map((name) => byId(`form-${name}`));
    tabs.forEach((tab, at) => {
      tab.addEventListener('click', () => this.choose(at === 1));
      tab.addEventListener('keydown', ({ key }) => {
        if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
        this.choose(at === 0);
        tabs[1 - at]?.focus();
      });
    });
  }

  private choose(isPython: boolean): void {
    this.isPython = isPython;
    for (const [name, isShown] of [['ir', !isPython], ['python', isPython]] as const) {
      const tab = byId(`form-${name}`);
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
    }
    byId('editor').hidden = isPython;
    byId('python').hidden = !isPython;
    void this.draw();
  }

  /** Draws the Python form anew, where it is shown. */
  async draw(): Promise<void> {
    if (!this.isPython) return;
    const turn = ++this.turn;
    let content: HTMLElement;
    try {
      content = h('pre', {}, await this.client.ask('python', { text: this.text() }, this.group));
    } catch (error) {
      if (error instanceof Cancelled) return;
      content = h('p', { class: 'quiet' }, error instanceof Error ? error.message : String(error));
    }
    if (turn === this.turn) byId('python').replaceChildren(content);
  }
}
