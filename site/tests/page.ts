/** What tests of the page share. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test as base } from '@playwright/test';
import { fromFragment, type State } from '../src/state';

/** The command line that the page is held to. */
export const RESIDUE = process.env['RESIDUE'] ?? '../target/release/residue';

/** A page that asks nothing of any other origin, and reports no error. */
export const test = base.extend<{ page: Page }>({
  page: async ({ page, baseURL }, use) => {
    const foreign: string[] = [];
    const errors: string[] = [];
    await page.route('**', (route) => {
      const url = route.request().url();
      if (url.startsWith(baseURL ?? '') || url.startsWith('data:') || url.startsWith('blob:')) return route.continue();
      foreign.push(url);
      return route.abort();
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await use(page);
    expect(foreign, 'requests that leave the origin').toEqual([]);
    expect(errors, 'errors of the page').toEqual([]);
    expect(await page.context().cookies(), 'cookies').toEqual([]);
  },
});

export { expect } from '@playwright/test';

/** JSON of the command line. */
export function residue(...args: string[]): any {
  return JSON.parse(execFileSync(RESIDUE, ['--json', ...args], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));
}

/** A file with a text, for the command line. */
export function file(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'residue-page-')), name);
  writeFileSync(path, text);
  return path;
}

/** Examples of the project. */
export function example(name: string): string {
  return readFileSync(`../examples/ir/${name}`, 'utf8');
}

/** Opens the page, and waits for the numbers of all columns. */
export async function open(page: Page, address = './'): Promise<void> {
  await page.goto(address);
  await settled(page);
}

/** Waits until every column has its numbers, or a reason for having none. */
export async function settled(page: Page, timeout = 50_000): Promise<void> {
  await expect(page.locator('.columns tbody')).toBeVisible();
  // After a change the columns are stale at once, as their numbers are of another program.
  await expect(page.locator('.columns td.stale')).toHaveCount(0, { timeout });
}

/** What the page holds, from its link. */
export async function state(page: Page): Promise<State> {
  await page.getByRole('button', { name: 'Copy link' }).click();
  return fromFragment(new URL(page.url()).hash.slice(1));
}

/** Puts a program into the editor. */
export async function type(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Puts a long text in place of the program, as from the clipboard. */
export async function paste(page: Page, text: string, times = 1): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.evaluate(
    ([text, times]) => {
      const data = new DataTransfer();
      data.setData('text/plain', (text as string).repeat(times as number));
      const content = document.querySelector<HTMLElement>('.cm-content');
      content?.focus();
      content?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    },
    [text, times],
  );
}

/** What a row says of each column, by interface, digits alone. */
export async function row(page: Page, label: string): Promise<Record<string, string>> {
  return page.locator('.columns').evaluate((table, label) => {
    const text = (element: Element | undefined) => element?.textContent ?? '';
    const names = [...table.querySelectorAll('thead .choose')].map(text);
    const row = [...table.querySelectorAll('tbody tr')].find((row) => text(row.querySelector('th') ?? undefined) === label);
    const cells = [...(row?.querySelectorAll('td') ?? [])];
    const shown = (cell: Element | undefined) => (cell?.querySelector('b')?.textContent ?? text(cell)).replace(/\u202f/g, '');
    return Object.fromEntries(names.map((name, at) => [name, shown(cells[at])]));
  }, label);
}

/** Straight-line code over a field of one word: it has certificates, plans and lines. */
export const PROGRAM = example('fp2_square.ir');
/** The same with the requirement of calldata's size that certificates speak of. */
export const SIZED = PROGRAM.replace('v6 = mul v1 v0', 'v6 = add v5 v0').replace('  stretch s0', '  word w2 = 0x40\n  word w3 = calldata_size\n  word w4 = eq w3 w2\n  stretch s0').replace('  parse w0', '  require w4\n  parse w0');
