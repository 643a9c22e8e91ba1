/** Bytes and gas of the page are those of the command line. */
import { example, expect, file, open, residue, row, settled, state, test } from './page';

/** By the name of the choice; contracts and texts. */
const PROGRAMS = [
  'text:polynomial',
  'text:poseidon',
  'text:p256_double',
  'contract:bls12_381/fp2_mul',
  'contract:evm384/f6m_mul',
  'text:point_multiple',
  'contract:bn254/add',
  'contract:bls12_381/g1_add',
  'contract:hashes/sha256',
];
/** Those that take longer, with `ALL_PROGRAMS` set. */
const LONGER = ['contract:bn254/mul', 'contract:bls12_381/g2_add', 'contract:ntt/falcon512'];

for (const value of process.env['ALL_PROGRAMS'] ? [...PROGRAMS, ...LONGER] : PROGRAMS) {
  test(`${value} costs what the command line says, under every interface`, async ({ page }) => {
    test.setTimeout(240_000);
    await open(page);
    const [kind, name = ''] = value.split(':');
    await page.getByLabel('Program to begin with').selectOption(value);
    await page.getByLabel('Add an interface').selectOption('every');
    await settled(page, 200_000);
    const { text, input } = await state(page);
    if (kind === 'text') expect([text, input]).toEqual([example(`${name}.ir`), example(`${name}.hex`).trim()]);
    else expect(input).toBe(residue('example', name).input);
    const path = file('program.ir', text);
    const { rows, left_out } = residue('compare', path, '--input', input, '--no-time');
    const [gas, bytes, answers] = [await row(page, 'gas'), await row(page, 'bytes'), await row(page, 'answer')];
    expect(Object.keys(gas).length).toBe(rows.length + left_out.length);
    expect(rows.length).toBeGreaterThan(0);
    for (const { revision, gas_used, code_bytes, halt } of rows) {
      expect([gas[revision], bytes[revision], answers[revision]], revision).toEqual([String(gas_used), String(code_bytes), `✓ ${halt}`]);
    }
    for (const { revision, reason } of left_out) {
      expect(gas[revision]).toBe('–');
      await expect(page.locator('.reasons li').filter({ hasText: `${revision}: ` }).first()).toContainText(reason);
    }
  });
}
