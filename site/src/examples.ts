/** Programs to begin with: texts of `examples/ir/`, contracts of the catalogue, and verifiers of a key that is pasted. */
import type { Listed } from './asked';
import type { Client } from './client';
import { h } from './dom';
import type { State } from './state';

const TEXTS = import.meta.glob<string>(['../../examples/ir/*.ir', '!**/polynomial.ir'], { query: '?raw', import: 'default' });
// The first one comes with the page.
const FIRST_TEXTS = import.meta.glob<string>('../../examples/ir/polynomial.*', { query: '?raw', import: 'default', eager: true });
const INPUTS = import.meta.glob<string>(['../../examples/ir/*.hex', '!**/polynomial.hex'], { query: '?raw', import: 'default' });

/** What is shown first. */
export const FIRST = 'text:polynomial';

/** Programs with a name of their own, before the catalogue. */
const CHOSEN: [value: string, label: string][] = [
  ['text:polynomial', 'A polynomial at a point'],
  ['text:poseidon', 'Poseidon'],
  ['contract:bls12_381/fp2_mul', 'A product in Fp2'],
  ['text:p256_double', 'A doubling on P-256'],
  ['text:point_multiple', 'A multiple of a point of secp256k1'],
  ['contract:ntt/falcon512', 'An NTT'],
];

/** Fills the choice. */
export function fill(select: HTMLSelectElement, listed: Listed): void {
  const group = (label: string, values: [string, string][]) =>
    h('optgroup', { label }, ...values.map(([value, text]) => h('option', { value }, text)));
  const verifiers: [string, string][] = listed.verifiers.map(({ name }) => [`verifier:${name}`, `${name}: a verifier of a key`]);
  const contracts: [string, string][] = listed.contracts.map(({ name, summary }) => [`contract:${name}`, `${name}: ${summary}`]);
  select.replaceChildren(
    h('option', { value: '' }, 'Begin with…'),
    group('Examples', CHOSEN),
    group('Made of a key', verifiers),
    group('Contracts', contracts),
  );
}

export type Chosen = Pick<State, 'text' | 'input' | 'contract'>;

/** The text and calldata of a choice; nothing where its key was not given. */
export async function chosen(client: Client, value: string): Promise<Chosen | undefined> {
  const [kind, name = ''] = value.split(/:(.*)/s);
  if (kind === 'text') {
    const read = (files: Record<string, () => Promise<string>>, ending: string) => {
      const path = `../../examples/ir/${name}.${ending}`;
      return FIRST_TEXTS[path] ?? files[path]?.();
    };
    const [text = '', input = '0x'] = await Promise.all([read(TEXTS, 'ir'), read(INPUTS, 'hex')]);
    return { text, input: input.trim() };
  }
  if (kind === 'contract') {
    const [text, input] = await Promise.all([client.ask('contractText', { name }), client.ask('example', { name })]);
    return { text, input, contract: name };
  }
  const key = await askForKey(name);
  return key === undefined ? undefined : { text: await client.ask('verifierText', { system: name, key }), input: '0x' };
}

/** Asks for a verifying key, in a dialog. */
function askForKey(system: string): Promise<string | undefined> {
  const area = h('textarea', { rows: 12, spellcheck: 'false', 'aria-label': `Verifying key of ${system}, JSON` });
  const dialog = h(
    'dialog',
    { 'aria-label': `Verifying key of ${system}` },
    h(
      'form',
      { method: 'dialog' },
      h('p', {}, `A verifying key of ${system}, the JSON that snarkjs, gnark, ZoKrates or garaga writes. It stays on this machine.`),
      area,
      h('div', { class: 'bar-of-buttons' }, h('button', { value: 'made' }, 'Make the verifier'), h('button', { value: '' }, 'Cancel')),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'made' ? area.value : undefined);
    });
  });
}
