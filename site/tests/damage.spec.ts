/** Damaged and outsized programs: never a dead page, and never a text that is lost. */
import { example, expect, open, paste, settled, state, test, type } from './page';

/** Seconds; longer runs are asked for by the variable. */
const SECONDS = Number(process.env['DAMAGE_SECONDS'] ?? 8);

test('damaged programs leave the page alive', async ({ page }) => {
  test.setTimeout((SECONDS + 60) * 1000);
  await open(page);
  const whole = ['polynomial.ir', 'poseidon.ir', 'point_multiple.ir', 'p256_double.ir'].map(example);
  const seed = Number(process.env['DAMAGE_SEED'] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const random = mulberry(seed);
  const end = Date.now() + SECONDS * 1000;
  let count = 0;
  while (Date.now() < end) {
    const text = damaged(whole[count % whole.length] ?? '', random);
    await type(page, text);
    await page.waitForTimeout(Math.floor(random() * 120));
    count++;
  }
  console.log(`${count} programs`);
  expect(count).toBeGreaterThan(0);
  await type(page, whole[0] ?? '');
  await settled(page);
  await expect(page.locator('#wrong')).toBeEmpty();
  expect((await state(page)).text).toBe(whole[0]);
});

test('a text that is too long is told of, and what follows works', async ({ page }) => {
  await open(page);
  const text = example('polynomial.ir');
  // 64 MB.
  await paste(page, '# no program\n', Math.ceil((64 << 20) / 13));
  await expect(page.getByRole('status')).toContainText('too long for a link', { timeout: 30_000 });
  await type(page, text);
  await settled(page);
  expect((await state(page)).text).toBe(text);
});

test('a program that runs for long is given up when its text changes', async ({ page }) => {
  await open(page);
  const loops = `program "loops"
modulus 0x61
constant c0 = 0x1
function f0 "start" () -> () values 3 {
  word w0 = 0xffffffff
  word w1 = defined
  repeat w0 index w1 (v0) = (c0) {
    block {
      v1 = add v0 c0
    }
    give (v1)
  } -> (v2)
  return_elements (v2) bytes 1
}
`;
  await type(page, loops);
  await page.waitForTimeout(700);
  const begin = Date.now();
  await type(page, example('polynomial.ir'));
  await settled(page);
  await expect(page.locator('#wrong')).toBeEmpty();
  expect(Date.now() - begin).toBeLessThan(20_000);
});

test('programs that are deep in each other are compiled or refused', async ({ page }) => {
  await open(page);
  const depth = 900;
  const functions = Array.from({ length: depth }, (_, at) => `function f${at} "f${at}" () -> () values 0 { ${at ? `call f${at - 1} () -> ()` : ''} }`);
  await type(page, `program "deep" modulus 0x61\n${functions.join('\n')}\n`);
  await settled(page);
  await type(page, example('polynomial.ir'));
  await settled(page);
  await expect(page.locator('.columns .good').first()).toBeVisible();
});

/** A text with a few of its parts removed, doubled or exchanged. */
function damaged(text: string, random: () => number): string {
  const at = () => Math.floor(random() * text.length);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number];
    const part = text.slice(from, Math.min(to, from + 40));
    const kind = Math.floor(random() * 4);
    if (kind === 0) text = text.slice(0, from) + text.slice(from + part.length);
    else if (kind === 1) text = text.slice(0, to) + part + text.slice(to);
    else if (kind === 2) text = text.slice(0, from) + String(Math.floor(random() * 2 ** 32)) + text.slice(from + 1);
    else text = text.slice(0, from) + String.fromCodePoint(32 + Math.floor(random() * 500)) + text.slice(from + 1);
  }
  return text;
}

/** Numbers in [0, 1) of a seed: mulberry32 by T. Ettinger. */
function mulberry(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
