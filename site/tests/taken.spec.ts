/** What is taken away from the page, and the other forms in which it shows a program. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import { example, expect, file, open, PROGRAM, RESIDUE, residue, row, settled, SIZED, test, type } from './page';

const INPUT = `0x${'5'.padStart(64, '0')}${'3'.padStart(64, '0')}`;

async function tab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name, exact: true }).click();
}

async function taken(page: Page, name: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).click()]);
  return readFileSync(await download.path(), 'utf8');
}

async function choose(page: Page, revision: string): Promise<void> {
  await page.getByRole('button', { name: revision, exact: true }).click();
  await settled(page);
}

test.beforeEach(async ({ page }) => {
  await open(page);
  await type(page, PROGRAM);
  await tab(page, 'Calldata');
  await page.getByLabel('Calldata in hexadecimal').fill(INPUT);
  await settled(page);
});

test('code for other tools is what the command line builds', async ({ page }) => {
  const path = file('fp2_square.ir', PROGRAM);
  for (const revision of ['eip6690-2024', 'evm']) {
    await choose(page, revision);
    await tab(page, 'Files');
    const built = (format: string) => residue('build', path, '--revision', revision, '--format', format).artifact;
    expect(await taken(page, 'Solidity')).toBe(built('solidity'));
    expect(await taken(page, 'Yul')).toBe(built('yul'));
    // The page's source map has a stretch for each line of the text too.
    const { sourceMap, ...artifact } = JSON.parse(await taken(page, 'Artifact, JSON'));
    const { sourceMap: plain, ...expected } = built('json');
    expect(artifact).toEqual(expected);
    expect(sourceMap.functions).toEqual(plain.functions);
  }
});

test('a certificate is the one of the command line, and is checked by it', async ({ page }) => {
  await choose(page, 'evm384-v7');
  await tab(page, 'Files');
  await expect(page.getByRole('button', { name: 'Certificate' })).toHaveCount(0);
  await type(page, SIZED);
  for (const revision of ['eip6690-2024', 'evmmax-next', 'evm']) {
    await choose(page, revision);
    const certificate = await taken(page, 'Certificate');
    const [path, built] = [file('fp2_square.ir', SIZED), file('fp2.cert', '')];
    residue('build', path, '--revision', revision, '--certificate', built);
    expect(certificate).toBe(readFileSync(built, 'utf8'));
    expect(residue('prove', file('page.cert', certificate), '--program', path).code_bytes).toBeGreaterThan(0);
  }
  // Loops have none, and the page says so.
  await type(page, example('polynomial.ir'));
  await settled(page);
  await page.getByRole('button', { name: 'Certificate', exact: true }).click();
  await expect(page.locator('.panel-files .bad')).toContainText('Certificate: ');
});

test('a state test and its trace are those of a transaction', async ({ page }) => {
  await choose(page, 'eip6690-2024');
  await tab(page, 'Files');
  const [text, trace] = [await taken(page, 'State test'), await taken(page, 'Trace of the state test, EIP-3155')];
  const [unit] = Object.values(JSON.parse(text)) as any[];
  const path = file('fp2_square.ir', PROGRAM);
  const { code } = residue('build', path, '--revision', 'eip6690-2024');
  expect(Object.values(unit.pre).map((account: any) => account.code)).toContain(code);
  const { gas_used } = residue('run', path, '--input', INPUT, '--no-time', '--revision', 'eip6690-2024');
  expect(unit._info.metadata.frames).toEqual([{ halt: 'return', gasUsed: gas_used, outputBytes: 64 }]);
  const lines = trace.trim().split('\n').map((line) => JSON.parse(line));
  expect(lines.some((line) => line.opName === 'MULMODX' && line.depth === 2 && Array.isArray(line.stack))).toBe(true);
  expect(lines.at(-1)).toMatchObject({ pass: true, verdict: 'passed' });
  // The other binary runs such files, where it was built beside this one.
  const full = join(dirname(RESIDUE), 'residue-full');
  if (existsSync(full)) {
    const traced = execFileSync(full, ['statetest', file('call.json', text), '--revision', 'eip6690-2024', '--trace'], { encoding: 'utf8' });
    expect(traced).toBe(trace);
  }
});

test('the program is shown in Python, whatever its statements', async ({ page }) => {
  await page.getByRole('tab', { name: 'Python' }).click();
  const printed = execFileSync(RESIDUE, ['print', file('fp2_square.ir', PROGRAM), '--python'], { encoding: 'utf8' });
  await expect(page.locator('#python pre')).toHaveText(printed.trim(), { useInnerText: true });
  await expect(page.locator('#editor')).toBeHidden();
  await page.getByRole('tab', { name: 'IR' }).click();
  await expect(page.locator('.cm-content')).toBeVisible();
  await type(page, example('polynomial.ir').replace('return_elements (v5) bytes 32', 'return_mont_le (v5)'));
  await page.getByRole('tab', { name: 'Python' }).click();
  await expect(page.locator('#python')).toContainText('rs.ir.effect("return_mont_le ({})", v5)');
});

test('a step has its stack, slots and memory, and values as they are kept', async ({ page }) => {
  await choose(page, 'eip6690-2024');
  await tab(page, 'Steps');
  await page.getByLabel('stack, slots and memory').check();
  await expect(page.locator('.frame')).toContainText('Stack: 0 words');
  await page.getByLabel('field operations only').check();
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await expect(page.locator('.frame')).toContainText('Slots: 2 of');
  await expect(page.locator('.frame .value').filter({ hasText: /^0x[35]$/ })).toHaveCount(2);
  await expect(page.getByLabel('in Montgomery form')).toBeHidden();
  await choose(page, 'evm384-v7');
  await page.getByLabel('field operations only').check();
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  const values = page.locator('.step .value');
  const plain = await values.allTextContents();
  await page.getByLabel('in Montgomery form').check();
  const modulus = BigInt(/modulus (0x\S+)/.exec(PROGRAM)?.[1] ?? '1');
  expect(await values.allTextContents()).toEqual(plain.map((value) => `0x${((BigInt(value) << 384n) % modulus).toString(16)}`));
});

test('lines are linked with the bytes of their block under the EVM of today', async ({ page }) => {
  await choose(page, 'evm');
  await tab(page, 'Code');
  await page.locator('.listing li').filter({ hasText: 'MULMOD' }).first().getByRole('button').focus();
  await expect(page.locator('.cm-line.lit').first()).toContainText(/ = (add|sub|mul) /);
  await page.locator('.cm-line').filter({ hasText: 'v4 = mul v2 v3' }).click();
  await expect(page.locator('.listing li.lit').first()).toBeVisible();
});

test('prices by time are those of the draft', async ({ page }) => {
  await choose(page, 'evm');
  const before = await row(page, 'gas');
  await tab(page, 'Prices');
  await page.getByRole('button', { name: 'Prices by time' }).click();
  await settled(page);
  const after = await row(page, 'gas');
  expect(Number(after['evm'])).toBeLessThan(Number(before['evm']));
  const prices = file('time.toml', await page.getByLabel('Text of the gas schedule').inputValue());
  const { gas_used } = residue('run', file('fp2_square.ir', PROGRAM), '--input', INPUT, '--no-time', '--revision', 'evm', '--schedule', prices);
  expect(after['evm']).toBe(String(gas_used));
});
