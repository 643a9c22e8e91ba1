/** What can be taken away: the forms that the command line writes. */
import type { Column, FORMATS, Instruction } from '../asked';
import { download, h } from '../dom';

export interface Files {
  name: string;
  text: string;
  column: Column;
  listing(): Promise<Instruction[]>;
  format(format: (typeof FORMATS)[number]): Promise<string>;
  certificate(): Promise<string>;
  stateTest(traced: boolean): Promise<string>;
}

/** Interfaces whose code certificates speak of. */
const PROVED = ['evm', 'eip6690-2024', 'evmmax-next'];

type Row = [label: string, ending: string, content: () => string | Promise<string>];

/** Draws the panel. */
export function drawFiles(parent: HTMLElement, files: Files): void {
  const { name, text, column } = files;
  const { revision } = column.code;
  const base = `${name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'program'}-${revision}`;
  const told = h('p', { class: 'bad', role: 'alert' });
  const give = ([label, ending, content]: Row) => {
    const take = async () => {
      told.textContent = '';
      try {
        download(`${base}.${ending}`, await content());
      } catch (error) {
        told.textContent = `${label}: ${error instanceof Error ? error.message : String(error)}`;
      }
    };
    return h('li', {}, h('button', { type: 'button', click: () => void take() }, label));
  };
  const assembly = async () => (await files.listing()).map(([pc, line]) => `${pc.toString(16).padStart(4, '0')}  ${line.trim()}\n`).join('');
  const groups: [string, Row[]][] = [
    [
      'Code',
      [
        ['Code, hexadecimal', 'hex', () => `${column.code.code}\n`],
        ['Creation code, hexadecimal', 'creation.hex', async () => `${await files.format('creation')}\n`],
        ['Assembly', 'asm', assembly],
      ],
    ],
    [
      'For other tools',
      [
        ['Solidity', 'sol', () => files.format('solidity')],
        ['Yul', 'yul', () => files.format('yul')],
        ['Artifact, JSON', 'artifact.json', () => files.format('json')],
        ['State test', 'test.json', () => files.stateTest(false)],
        ['Trace of the state test, EIP-3155', 'trace.jsonl', () => files.stateTest(true)],
      ],
    ],
    [
      'What is known of it',
      [
        ['Report of the code and its execution, JSON', 'json', () => JSON.stringify(column, null, 1)],
        ...(PROVED.includes(revision) ? [['Certificate', 'cert', () => files.certificate()] as Row] : []),
        ['Program, text of the IR', 'ir', () => text],
      ],
    ],
  ];
  parent.replaceChildren(
    ...groups.flatMap(([heading, rows]) => [h('h3', {}, heading), h('ul', { class: 'files' }, ...rows.map(give))]),
    told,
    h(
      'p',
      { class: 'quiet' },
      'A state test calls the code with this calldata, under the prices that the interface has itself. ',
      PROVED.includes(revision)
        ? 'A certificate proves straight-line code for all calldata; '
        : `Certificates, which prove straight-line code for all calldata, are of code for ${PROVED.join(', ')}; `,
      h('code', {}, 'residue prove FILE'),
      ' checks one.',
    ),
  );
}
