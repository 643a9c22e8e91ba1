/** Elements, made in one expression. */

type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;
type Child = Node | string | undefined | false;

/** An element with attributes, listeners where the value is a function, and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

/** The element of this id, which `index.html` has. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no ${id}`);
  return found;
}

/** A number with thin spaces between thousands. */
export function grouped(number: number): string {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** A part of a whole in percent. */
export function percent(part: number, whole: number): string {
  return whole ? `${((100 * part) / whole).toFixed(1)} %` : '';
}

/** Gives a text to be kept as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Options of a choice, by value. */
export function options(values: Iterable<[value: string, label: string]>, chosen: string): HTMLOptionElement[] {
  return Array.from(values, ([value, label]) => h('option', { value, selected: value === chosen }, label));
}
