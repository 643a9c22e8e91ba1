/** What can be taken away. */
import type { Column, Instruction } from '../asked';
import { download, h } from '../dom';

export interface Files {
  name: string;
  text: string;
  column: Column;
  creation(): Promise<string>;
  listing(): Promise<Instruction[]>;
}

/** Draws the panel. */
export function drawFiles(parent: HTMLElement, { name, text, column, creation, listing }: Files): void {
  const base = `${name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'program'}-${column.code.revision}`;
  const give = (label: string, file: string, content: () => string | Promise<string>) =>
    h('li', {}, h('button', { type: 'button', click: async () => download(`${base}.${file}`, await content()) }, label));
  const assembly = async () => (await listing()).map(([pc, line]) => `${pc.toString(16).padStart(4, '0')}  ${line.trim()}\n`).join('');
  parent.replaceChildren(
    h(
      'ul',
      { class: 'files' },
      give('Code, hexadecimal', 'hex', () => `${column.code.code}\n`),
      give('Creation code, hexadecimal', 'creation.hex', async () => `${await creation()}\n`),
      give('Assembly', 'asm', assembly),
      give('Report of the code and its execution, JSON', 'json', () => JSON.stringify(column, null, 1)),
      give('Program, text of the IR', 'ir', () => text),
    ),
    h('p', { class: 'quiet' }, 'Solidity and Yul around the code: ', h('code', {}, `residue build program.ir --revision ${column.code.revision} --format solidity`), '.'),
  );
}
