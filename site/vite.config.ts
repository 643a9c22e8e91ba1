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

export default defineConfig({
  base: './',
  define: { GRAMMAR: JSON.stringify(grammar()) },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } },
});
