import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

/** The grammar of programs, from the document that a test holds to the parser. */
function grammar(): { words: string[]; statements: [string, string][] } {
  const text = readFileSync(new URL('../docs/ir.md', import.meta.url), 'utf8');
  const fences = [...text.matchAll(/```\n((?:program|effect) +=[\s\S]*?)```/g)].map((found) => found[1] ?? '');
  const quoted = fences.flatMap((fence) => [...fence.matchAll(/"([a-z_0-9]+)"/g)].map((found) => found[1] ?? ''));
  const productions = fences.flatMap((fence) => fence.split('\n')).map((line) => line.trim());
  const statements = productions.flatMap((line): [string, string][] => {
    const found = /^(?:\||[a-z]+ +=)\s+("([a-z_0-9]+)".*)$/.exec(line);
    return found ? [[found[2] ?? '', (found[1] ?? '').replaceAll('"', '')]] : [];
  });
  if (fences.length !== 2 || statements.length < 40) throw new Error('docs/ir.md has no grammar where it was');
  return { words: [...new Set(quoted)].sort(), statements };
}

/** The prices by time of a draft, from its table: opcodes and their gas. */
function pricesByTime(): [string, number][] {
  const text = readFileSync(new URL('../docs/eip/repricing.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| (`[^|]+`) \| \d+ \| (\d+) \|$/gm)];
  const found = rows.flatMap(([, names = '', gas = '']): [string, number][] =>
    names.split(', ').flatMap((part): [string, number][] => {
      const [first = '', last = first] = [...part.matchAll(/`([A-Z0-9]+)`/g)].map((name) => name[1] ?? '');
      const [kind = '', from = '', to = ''] = [first.replace(/\d+$/, ''), /\d+$/.exec(first)?.[0] ?? '', /\d+$/.exec(last)?.[0] ?? ''];
      if (first === last) return [[first, Number(gas)]];
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => [`${kind}${Number(from) + at}`, Number(gas)]);
    }),
  );
  if (found.length < 80) throw new Error('docs/eip/repricing.md has no table of prices where it was');
  return found;
}

export default defineConfig({
  base: './',
  define: { GRAMMAR: JSON.stringify(grammar()), BY_TIME: JSON.stringify(pricesByTime()) },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } },
});
