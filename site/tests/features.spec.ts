/** Every feature of the page, clicked through. */
import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { example, expect, file, open, paste, residue, row, settled, SIZED, state, test, type } from './page';

const SHORT = `program "short"
modulus 0x61
function f0 "start" () -> () values 3 {
  word w0 = 0x0
  word w1 = 0x1
  parse w0 bytes 1 -> v0
  parse w1 bytes 1 -> v1
  block {
    v2 = mul v0 v1
  }
  return_elements (v2) bytes 1
}
`;
const LONGER = SHORT.replace('values 3', 'values 4').replace('v2 = mul v0 v1', 'v2 = mul v0 v1\n    v3 = mul v2 v2').replace('(v2)', '(v3)');

async function tab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name, exact: true }).click();
}

async function calldata(page: Page, hex: string): Promise<void> {
  await tab(page, 'Calldata');
  await page.getByLabel('Calldata in hexadecimal').fill(hex);
  await settled(page);
}

test.beforeEach(async ({ page }) => open(page));

test('mistakes are shown at their range while one types', async ({ page }) => {
  await type(page, SHORT.replace('mul v0 v1', 'div v0 v1'));
  await expect(page.locator('#wrong')).toHaveText('line 9: expected `add`, `sub` or `mul`, found `div`');
  await expect(page.locator('.cm-lintRange-error')).toHaveText('div');
  await type(page, SHORT);
  await expect(page.locator('#wrong')).toBeEmpty();
  await expect(page.locator('.cm-lintRange-error')).toHaveCount(0);
  // After letters of more than a byte too.
  await type(page, `# ÄÖ€😀\n${SHORT.replace('mul v0 v1', 'mul v0 v7')}`);
  await expect(page.locator('.cm-lintRange-error')).toHaveText('v2 = mul v0 v7');
});

test('words of the grammar are completed', async ({ page }) => {
  await type(page, SHORT);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('return_el');
  const completion = page.locator('.cm-tooltip-autocomplete li[aria-selected]');
  await expect(completion).toContainText('return_elements ( { operand } ) bytes COUNT');
  await page.waitForTimeout(100); // What was just shown is not taken, so that nobody takes what they did not see.
  await page.keyboard.press('Enter');
  await expect(page.locator('.cm-content')).toContainText('return_elements');
});

test('a change shows its difference in each column', async ({ page }) => {
  await type(page, SHORT);
  await calldata(page, '0x0304');
  const before = await row(page, 'gas');
  await type(page, LONGER);
  await settled(page);
  const after = await row(page, 'gas');
  const cells = page.locator('.columns tbody tr').first().locator('td');
  for (const [at, name] of Object.keys(after).entries()) {
    if (after[name] === '–') continue;
    const more = Number(after[name]) - Number(before[name]);
    expect(more, name).toBeGreaterThan(0);
    await expect(cells.nth(at).locator('.more')).toHaveText(`+${more}`);
  }
});

test('lines, operations and bytes light up together, and lines have their gas', async ({ page }) => {
  await type(page, LONGER);
  await calldata(page, '0x0304');
  await tab(page, 'Code');
  const instruction = page.locator('.listing li').filter({ hasText: 'line 10' });
  await instruction.getByRole('button').first().focus();
  await expect(page.locator('.cm-line.lit')).toHaveText('    v3 = mul v2 v2');
  await page.locator('.cm-line').filter({ hasText: 'v2 = mul v0 v1' }).click();
  await expect(page.locator('.listing li.lit').first()).toContainText('line 9');
  // The gas of a line is that of the profile of the command line, where stretches name the lines.
  await expect(page.locator('.gas-gutter .heat')).toHaveCount(2);
  const stretched = LONGER.replace('  parse w0', '  stretch s0 "nine"\n  stretch s1 "ten"\n  parse w0').replace('v2 = mul', 'of s0 v2 = mul').replace('v3 = mul', 'of s1 v3 = mul');
  const { by_name } = residue('profile', file('lines.ir', stretched), '--input', '0x0304', '--no-time', '--revision', 'eip6690-2024');
  const gas = (name: string) => String(by_name.find((each: { name: string }) => each.name === name).gas);
  await expect(page.locator('.gas-gutter .heat')).toHaveText([gas('nine'), gas('ten')]);
});

test('lines and bytes light up together, both ways, under every interface', async ({ page }) => {
  const program = example('p256_double.ir');
  await type(page, program);
  await settled(page);
  await tab(page, 'Code');
  for (const { revision } of (await state(page)).columns) {
    await page.getByRole('button', { name: revision, exact: true }).click();
    const lines = program.split('\n').flatMap((line, at) => (/ = (add|sub|mul) /.test(line) ? [at + 1] : []));
    expect(lines.length).toBeGreaterThan(5);
    await expect(page.locator('.gas-gutter .heat'), revision).toHaveCount(lines.length);
    for (const line of lines) {
      const instruction = page.locator('.listing li').filter({ has: page.getByText(new RegExp(`^line .*\\b${line}\\b`)) });
      await instruction.getByRole('button').first().focus();
      await expect(page.locator('.cm-line.lit').filter({ hasText: program.split('\n')[line - 1] }), `${revision}, line ${line}`).toHaveCount(1);
    }
  }
});

test('the lanes of a block are those of the command line, and light its lines', async ({ page }) => {
  await page.getByLabel('Program to begin with').selectOption('text:poseidon');
  await settled(page);
  await tab(page, 'Lanes');
  const { text, input } = await state(page);
  const { blocks } = residue('run', file('poseidon.ir', text), '--revision', 'eip6690-2024', '--input', input, '--no-time', '--explain');
  const heads = page.locator('.block summary');
  await expect(heads).toHaveCount(blocks.length);
  const most = blocks.reduce((a: any, b: any) => ((b.plan?.products ?? 0) > (a.plan?.products ?? 0) ? b : a));
  expect(most.plan.batches).toBeGreaterThan(3);
  const open = page.locator('.block[open]');
  await expect(open.locator('summary')).toContainText(`${most.plan.products} products in ${most.plan.batches} batches`);
  const shown = await open.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td.lane')].map((cell) => cell.textContent)));
  const name = (row: number) => (row < most.plan.slots ? `s${row}` : `t${row - most.plan.slots}`);
  expect(shown).toEqual(most.plan.lanes.slice(0, 200).map((batch: number[][]) => batch.map(([out, x, y]) => `${name(out as number)} = ${name(x as number)}·${name(y as number)}`)));
  await open.locator('summary').focus();
  await expect(page.locator('.cm-line.lit').first()).toBeVisible();
});

test('a profile is a flame graph and a table', async ({ page }) => {
  await tab(page, 'Profile');
  await expect(page.locator('#panel svg')).toBeVisible();
  await expect(page.locator('#panel svg title').first()).toContainText('start');
  await expect(page.locator('#panel svg')).not.toContainText('line ');
  await expect(page.locator('.numbers tbody tr').first()).toContainText('start');
});

test('an execution is stepped through', async ({ page }) => {
  await type(page, LONGER);
  await calldata(page, '0x0304');
  await tab(page, 'Steps');
  await page.getByLabel('field operations only').check();
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  const step = page.locator('.step');
  await expect(step).toContainText('MULMODX');
  await expect(step.locator('.value')).toHaveText(['0xc', '0x3', '0x4']);
  await page.getByLabel('Stop at line').fill('10');
  await page.getByRole('button', { name: 'Run to' }).click();
  await expect(step.locator('.value')).toHaveText(['0x2f', '0xc', '0xc']);
  await expect(page.locator('.cm-line.lit')).toHaveText('    v3 = mul v2 v2');
  const [trace] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Trace as JSON' }).click()]);
  const { steps, gas_used } = JSON.parse(readFileSync(await trace.path(), 'utf8'));
  expect(steps.reduce((gas: number, each: { gas_cost: number }) => gas + each.gas_cost, 0)).toBe(gas_used);
});

test('prices are edited, and published again', async ({ page }) => {
  await type(page, LONGER);
  await calldata(page, '0x0304');
  const before = await row(page, 'gas');
  await tab(page, 'Prices');
  const slider = page.getByLabel('mul (per width)');
  await slider.fill('9');
  await settled(page);
  const after = await row(page, 'gas');
  expect(Number(after['eip6690-2024']) - Number(before['eip6690-2024'])).toBe(16);
  expect(after['evm384-v7']).toBe(before['evm384-v7']);
  await page.getByLabel('PUSH1 (evm)').fill('30');
  await settled(page);
  expect(Number((await row(page, 'gas'))['eip6690-2024'])).toBeGreaterThan(Number(after['eip6690-2024']));
  await page.getByRole('button', { name: 'As published' }).click();
  await settled(page);
  expect(await row(page, 'gas')).toEqual(before);
  const [bytes, code] = [await row(page, 'bytes'), await row(page, 'gas of the code')];
  expect(Number(code['eip6690-2024'])).toBe(200 * Number(bytes['eip6690-2024']));
  await page.getByLabel('a byte of code').fill('1530');
  await page.keyboard.press('Enter');
  await expect(page.locator('.columns')).toContainText('gas of the code');
  expect(Number((await row(page, 'gas of the code'))['eip6690-2024'])).toBe(1530 * Number(bytes['eip6690-2024']));
  await page.getByLabel('Gas schedule of eip6690-2024').selectOption('geth');
  await settled(page);
  const path = file('longer.ir', LONGER);
  const { gas_used } = residue('run', path, '--input', '0x0304', '--no-time', '--revision', 'eip6690-2024', '--schedule', 'geth');
  expect((await row(page, 'gas'))['eip6690-2024']).toBe(String(gas_used));
});

test('calldata is built by what the program parses, valid and not', async ({ page }) => {
  await type(page, SHORT);
  await calldata(page, '0x0000');
  await page.getByRole('button', { name: 'The largest' }).click();
  await settled(page);
  await expect(page.getByLabel('Calldata in hexadecimal')).toHaveValue('0x6060');
  await expect(page.locator('.panel-calldata')).toContainText('They are the same');
  await expect(page.locator('.panel-calldata')).toContainText('returned 0x01');
  await page.getByLabel('Number in bytes 1 to 1').fill('5');
  await page.keyboard.press('Enter');
  await settled(page);
  await expect(page.getByLabel('Calldata in hexadecimal')).toHaveValue('0x6005');
  await page.getByRole('button', { name: 'not valid' }).click();
  await settled(page);
  await expect(page.locator('.panel-calldata')).toContainText('failed');
  await expect(page.locator('.panel-calldata')).toContainText('They are the same');
  await page.getByLabel('Calldata in hexadecimal').fill('0x6');
  await expect(page.locator('.panel-calldata .bad')).toContainText('odd number');
});

test('what was checked is told', async ({ page }) => {
  await tab(page, 'Checks');
  await expect(page.locator('.checks')).toBeVisible();
  await expect(page.locator('.checks dt').filter({ hasNotText: 'Certificate' })).toHaveText(['✓ Checker', '✓ Evaluator', '✓ Executable specification', '✓ Second run']);
  // Each block by itself, as the command line tells it.
  const { text, columns } = await state(page);
  for (const { revision } of columns) {
    await page.getByRole('button', { name: revision, exact: true }).click();
    const { checked_blocks } = residue('build', file('checked.ir', text), '--revision', revision);
    expect(checked_blocks.length, revision).toBeGreaterThan(0);
    const expected = checked_blocks.map((block: any) => [block.function, block.to - block.from, block.operations, block.results].map(String));
    const shown = async () => (await page.locator('.panel-checks tbody tr').evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => (cell.textContent ?? '').replace(/\u202f/g, ''))))).map(([name, , ...numbers]) => [name, ...numbers]);
    await expect.poll(shown, revision).toEqual(expected);
    await page.locator('.panel-checks tbody button').first().focus();
    await expect(page.locator('.cm-line.lit').first()).toBeVisible();
  }
  // Straight-line code of today's EVM is proved for all calldata.
  await type(page, SIZED);
  await settled(page);
  await page.getByRole('button', { name: 'evm', exact: true }).click();
  await expect(page.locator('.checks')).toContainText('✓ Certificate');
});

test('links bring everything back, and damaged ones are refused', async ({ page, context }) => {
  await type(page, LONGER);
  await calldata(page, '0x0304');
  await page.getByLabel('Gas schedule of eip6690-2024').selectOption('geth');
  await page.getByRole('button', { name: 'Remove the column of evmmax-next' }).click();
  await settled(page);
  const [held, numbers] = [await state(page), await row(page, 'gas')];
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await open(other, link);
  expect(await state(other)).toEqual(held);
  expect(await row(other, 'gas')).toEqual(numbers);
  await expect(other.getByRole('tab', { name: 'Calldata' })).toHaveAttribute('aria-selected', 'true');
  for (const damaged of [link.slice(0, -7), link.replace('#1.', '#9.'), link.replace('#1.', '#1.AAAA'), `${link.split('#')[0]}#1.`]) {
    const page = await context.newPage();
    await open(page, damaged);
    await expect(page.getByRole('status')).toContainText('link');
    await page.close();
  }
});

test('the text survives a closed tab, in the midst of its work', async ({ page, context }) => {
  await page.getByLabel('Program to begin with').selectOption('text:poseidon');
  await settled(page);
  await type(page, LONGER);
  // At once: neither the columns nor the link are there yet.
  await page.close({ runBeforeUnload: true });
  const again = await context.newPage();
  await open(again);
  expect((await state(again)).text).toBe(LONGER);
  await again.close();
});

test('the text survives a reload', async ({ page }) => {
  await type(page, LONGER);
  await page.waitForTimeout(400);
  await page.goto('about:blank');
  await open(page);
  expect((await state(page)).text).toBe(LONGER);
  // One that is too long for a link too.
  const long = `${LONGER}${'# more\n'.repeat(400_000)}`;
  await paste(page, long);
  await expect(page.getByRole('status')).toContainText('kept in this browser');
  await page.waitForTimeout(1000);
  await page.goto('about:blank');
  await page.goto('./');
  await expect(page.locator('.cm-content')).toContainText('program "short"');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await expect(page.locator('.cm-content')).toContainText('# more');
});

test('files are those of the command line', async ({ page }) => {
  await type(page, LONGER);
  await calldata(page, '0x0304');
  await tab(page, 'Files');
  const path = file('longer.ir', LONGER);
  const taken = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).click()]);
    return readFileSync(await download.path(), 'utf8');
  };
  const built = (format: string) => residue('build', path, '--revision', 'eip6690-2024', '--format', format);
  expect(await taken('Code, hexadecimal')).toBe(`${built('hex').code}\n`);
  expect(await taken('Creation code, hexadecimal')).toBe(`${built('creation').artifact}\n`);
  expect(await taken('Assembly')).toContain('MULMODX');
  expect(await taken('Program, text of the IR')).toBe(LONGER);
  const { code, run } = JSON.parse(await taken('Report of the code and its execution, JSON'));
  // What `residue build --json` says beside it is of files and options.
  for (const [key, value] of Object.entries(code)) expect(built('hex')[key], key).toEqual(value);
  const ran = residue('run', path, '--input', '0x0304', '--no-time', '--revision', 'eip6690-2024');
  for (const key of ['success', 'halt', 'output', 'gas_used', 'gas_split', 'ops']) expect(run[key], key).toEqual(ran[key]);
});

test('a verifier is made of a key that is pasted', async ({ page }) => {
  await page.getByLabel('Program to begin with').selectOption('verifier:groth16');
  await page.getByRole('textbox', { name: 'Verifying key of groth16' }).fill(readFileSync('../examples/groth16/key.json', 'utf8'));
  await page.getByRole('button', { name: 'Make the verifier' }).click();
  await expect(page.locator('.cm-content')).toContainText('program "groth16"', { timeout: 30_000 });
  await page.getByLabel('Program to begin with').selectOption('');
  await page.getByLabel('Program to begin with').selectOption('verifier:groth16');
  await page.getByRole('textbox', { name: 'Verifying key of groth16' }).fill('{}');
  await page.getByRole('button', { name: 'Make the verifier' }).click();
  await expect(page.getByRole('status')).not.toBeEmpty({ timeout: 30_000 });
});

test('it is used by keyboard alone', async ({ page }) => {
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'To the program' })).toBeFocused();
  await page.getByRole('tab', { name: 'Code' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Lanes' })).toBeFocused();
  await page.getByRole('button', { name: 'evm384-v7', exact: true }).press('Enter');
  await expect(page.getByRole('button', { name: 'evm384-v7', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('button', { name: 'evm384-v7', exact: true })).toBeFocused();
});

for (const [name, colorScheme, width, height] of [
  ['light', 'light', 1440, 900],
  ['dark', 'dark', 1440, 900],
  ['phone', 'light', 390, 844],
] as const) {
  test(`nobody is shut out: ${name}`, async ({ page }) => {
    test.setTimeout(180_000);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await open(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), 'nothing is wider than the screen').toBeLessThanOrEqual(width);
    for (const shown of ['Code', 'Lanes', 'Profile', 'Steps', 'Prices', 'Calldata', 'Checks', 'Files']) {
      await tab(page, shown);
      await expect(page.locator(`.panel-${shown.toLowerCase()}`)).toBeVisible();
      await page.screenshot({ path: `test-results/${name}-${shown.toLowerCase()}.png`, fullPage: true });
      const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)]), shown).toEqual([]);
    }
  });
}

test('a long program leaves its numbers near on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByLabel('Program to begin with').selectOption('text:poseidon');
  await settled(page);
  expect((await page.locator('#editor').boundingBox())?.height).toBeLessThan(844 / 2 + 1);
});

test('an example in a frame is there without the head of the page', async ({ page }) => {
  const link = page.url();
  // A page of the same origin without rules of its own; others ask whether they may reach this machine.
  const sheet = await page.locator('link[rel=stylesheet]').getAttribute('href');
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  await page.goto(sheet ?? '');
  await page.evaluate((link) => {
    const frame = document.createElement('iframe');
    [frame.src, frame.width, frame.height] = [link, '900', '600'];
    document.body.append(frame);
  }, link);
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('.columns')).toBeVisible();
  await expect(frame.locator('header')).toBeHidden();
});

test('the examples that come with it are read', async ({ page }) => {
  await page.getByLabel('Program to begin with').selectOption('text:poseidon');
  await settled(page);
  expect((await state(page)).text).toBe(example('poseidon.ir'));
});
