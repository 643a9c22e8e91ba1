/** Times of opening, typing and the largest contract, printed beside the targets of docs/page.md. No test fails for a time. */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { expect, open, paste, settled, test } from './page';

function told(what: string, milliseconds: number, limit: number): void {
  console.log(`${what}: ${Math.round(milliseconds)} ms of ${limit}`);
  const file = process.env['TIMES_FILE'];
  if (file) appendFileSync(file, `${what},${Math.round(milliseconds)},${limit}\n`);
}

/** A program of so many lines, all of which are done. */
function lines(count: number): string {
  const head = ['program "lines"', 'modulus 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47', `function f0 "start" () -> () values ${count - 8} {`, '  word w0 = 0x0', '  parse w0 bytes 32 -> v0', '  block {'];
  const operations = Array.from({ length: count - 9 }, (_, at) => `    v${at + 1} = ${['mul', 'add', 'sub'][at % 3]} v${at} v0`);
  return [...head, ...operations, '  }', `  return_elements (v${count - 9}) bytes 32`, '}'].join('\n');
}

test('a first result after opening, without a cache', async ({ page }) => {
  // What the browser itself starts with is not the page's.
  await page.goto('about:blank');
  const session = await page.context().newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await session.send('Performance.enable');
  // Marked where it happens, as the time until a test sees it is not the page's.
  await page.addInitScript(() => {
    const mark = (name: string, selector: string) => !performance.getEntriesByName(name).length && document.querySelector(selector) && performance.mark(name);
    const seen = () => {
      mark('editor', '.cm-content');
      if (mark('result', '.columns td b')) observer.disconnect();
    };
    const observer = new MutationObserver(seen);
    observer.observe(document, { childList: true, subtree: true });
  });
  await page.goto('./');
  await page.locator('.columns td b').first().waitFor();
  const times = await page.evaluate(() => {
    const marks = performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime]);
    const fetched = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('.wasm')) as PerformanceResourceTiming;
    return Object.fromEntries([...marks, ['module fetched', fetched.responseEnd]]) as Record<string, number>;
  });
  for (const [phase, time] of Object.entries(times)) if (phase !== 'result') console.log(`  ${phase}: ${Math.round(time)} ms`);
  const metrics = await session.send('Performance.getMetrics');
  const spent = metrics.metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  console.log(`  processor time of the page's own thread: ${Math.round(1000 * spent)} ms`);
  told('first result after opening', times['result'] ?? Infinity, 1000);
});

test('a keystroke in a program of 200 lines, until the gas of the chosen interface is there', async ({ page }) => {
  await open(page);
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(lines(200));
  await settled(page);
  const took: number[] = [];
  for (let time = 0; time < 5; time++) {
    // One operand of one line, and back.
    await page.keyboard.press('Control+Home');
    took.push(
      await page.evaluate(async (text) => {
        const cells = () => document.querySelector('.columns tbody tr')?.querySelector('td.chosen');
        const content = document.querySelector<HTMLElement>('.cm-content');
        content?.focus();
        const begin = performance.now();
        document.execCommand('insertText', false, text);
        await new Promise((resolve) => setTimeout(resolve, 0));
        while (!cells() || cells()?.classList.contains('stale')) await new Promise((resolve) => setTimeout(resolve, 2));
        return performance.now() - begin;
      }, '# x\n'),
    );
    await settled(page);
  }
  took.sort((a, b) => a - b);
  told('keystroke to gas, 200 lines, median of 5', took[2] ?? Infinity, 150);
});

test('the pairing under one interface', async ({ page }) => {
  test.setTimeout(120_000);
  await open(page);
  for (const name of ['evm', 'evm384-v7', 'evm384-v9', 'evmmax-next']) await page.getByRole('button', { name: `Remove the column of ${name}`, exact: true }).click();
  await settled(page);
  const text = execFileSync(process.env['RESIDUE'] ?? '../target/release/residue', ['print', 'bls12_381/pairing'], { encoding: 'utf8' });
  const { input } = JSON.parse(execFileSync(process.env['RESIDUE'] ?? '../target/release/residue', ['--json', 'example', 'bls12_381/pairing'], { encoding: 'utf8' }));
  await page.getByRole('tab', { name: 'Calldata' }).click();
  await page.getByLabel('Calldata in hexadecimal').fill(input);
  const begin = Date.now();
  await paste(page, text);
  await expect(page.locator('.columns td.stale')).toHaveCount(0, { timeout: 100_000 });
  await expect(page.locator('.columns td b').first()).toBeVisible();
  told('pairing under eip6690-2024', Date.now() - begin, 2000);
});
