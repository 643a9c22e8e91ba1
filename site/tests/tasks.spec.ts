/** Three tasks of a first visitor, done from the page alone. */
import { readFileSync } from 'node:fs';
import { expect, file, open, residue, row, settled, state, test } from './page';

test('Poseidon is compared on three interfaces', async ({ page }) => {
  await open(page);
  await page.getByLabel('Program to begin with').selectOption({ label: 'Poseidon' });
  for (const name of ['evm384-v9', 'evmmax-next']) await page.getByRole('button', { name: `Remove the column of ${name}`, exact: true }).click();
  await settled(page);
  const [gas, answers] = [await row(page, 'gas'), await row(page, 'answer')];
  expect(Object.keys(gas)).toEqual(['evm', 'evm384-v7', 'eip6690-2024']);
  expect(Object.values(answers)).toEqual(['✓ return', '✓ return', '✓ return']);
  const [evm, evm384, eip6690] = Object.values(gas).map(Number) as [number, number, number];
  expect(eip6690).toBeGreaterThan(0);
  expect(eip6690).toBeLessThan(evm);
  expect(eip6690).toBeLessThan(evm384);
});

test('the costliest line of a program is found and made cheaper', async ({ page }) => {
  await open(page);
  // Two products by small numbers, where a sum of one does.
  const slow = [
    'program "slow"', 'modulus 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47', 'constant c0 = 0x2', 'function f0 "start" () -> () values 4 {',
    '  word w0 = 0x0', '  word w1 = 0x20', '  parse w0 bytes 32 -> v0', '  parse w1 bytes 32 -> v1', '  block {', '    v2 = add v0 v1', '    v3 = mul v2 c0', '  }', '  return_elements (v3) bytes 32', '}', '',
  ].join('\n');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(slow);
  await page.getByRole('button', { name: 'evm384-v7', exact: true }).click();
  await settled(page);
  const heat = page.locator('.gas-gutter .heat');
  await expect(heat).toHaveCount(2);
  const costs = (await heat.allTextContents()).map(Number);
  const costliest = costs.indexOf(Math.max(...costs));
  const line = page.locator('.cm-line').filter({ hasText: / = (add|sub|mul) / }).nth(costliest);
  await expect(line).toHaveText('    v3 = mul v2 c0');
  const before = Number((await row(page, 'gas'))['evm384-v7']);
  await line.click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.insertText('    v3 = add v2 v2');
  await settled(page);
  const after = Number((await row(page, 'gas'))['evm384-v7']);
  expect(after).toBeLessThan(before);
  await expect(page.locator('.columns tbody tr').first().locator('td').nth(1).locator('.less')).toHaveText(`−${before - after}`);
});

test('MULMODX is priced so that the pairing meets its precompile', async ({ page }) => {
  test.setTimeout(240_000);
  await open(page);
  for (const name of ['evm', 'evm384-v7', 'evm384-v9', 'evmmax-next']) await page.getByRole('button', { name: `Remove the column of ${name}`, exact: true }).click();
  await page.getByLabel('Program to begin with').selectOption('contract:bls12_381/pairing');
  await expect(page.locator('.columns')).toContainText('precompile', { timeout: 100_000 });
  await settled(page, 100_000);
  const price = async () => Number((await row(page, 'precompile'))['eip6690-2024']);
  const gas = async () => Number((await row(page, 'gas'))['eip6690-2024']);
  const wanted = await price();
  expect(wanted).toBeGreaterThan(0);
  await page.getByRole('tab', { name: 'Prices' }).click();
  const slider = page.getByLabel('mul (per width)');
  const at = async (value: number) => {
    await slider.fill(String(value));
    await settled(page, 100_000);
    return gas();
  };
  const published = Number(await slider.inputValue());
  const [one, two] = [await at(published + 1), await at(published + 2)];
  // Gas is a line in the price: the last price at which the pairing costs no more than the precompile, and the next one.
  const meets = published + 1 + Math.floor((wanted - one) / (two - one));
  expect(await at(meets)).toBeLessThanOrEqual(wanted);
  expect(await at(meets + 1)).toBeGreaterThan(wanted);
  const { text, columns, input } = await state(page);
  const [path, prices] = [file('pairing.ir', text), file('prices.toml', columns[0]?.toml ?? '')];
  const { gas_used } = residue('run', path, '--input', input, '--no-time', '--revision', 'eip6690-2024', '--schedule', prices);
  expect(await gas()).toBe(gas_used);
  expect(readFileSync(prices, 'utf8')).toContain('MULMODX');
});
