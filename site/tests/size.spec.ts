/** What travels before the page works, and in which order. */
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, settled, state, test } from './page';

/** Bytes of the module, compressed by gzip. */
const MODULE_MAX = 2_600_000;
/** Bytes of all else that is needed for the editor to appear, compressed likewise. */
const REST_MAX = 200_000;

const sizes = (ending: RegExp) => {
  const files = readdirSync('dist/assets').filter((name) => ending.test(name));
  return files.map((name) => gzipSync(readFileSync(`dist/assets/${name}`), { level: 9 }).length);
};
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

test('the module is small enough to travel', () => {
  const [module, ...others] = sizes(/\.wasm$/);
  console.log(`module ${module} bytes`);
  expect(others).toEqual([]);
  expect(module).toBeGreaterThan(0);
  expect(module).toBeLessThanOrEqual(MODULE_MAX);
  expect(sum(sizes(/^(index|page|worker).*\.(js|css)$/))).toBeLessThanOrEqual(REST_MAX);
});

test('the editor is there, and takes a program, before the module is', async ({ page }) => {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('./');
  await expect(page.locator('.cm-content')).toContainText('program "polynomial"');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# typed early\n');
  await expect(page.locator('.columns')).toHaveCount(0);
  release();
  await settled(page);
  expect((await state(page)).text).toContain('# typed early');
});
