/** The text form of programs, for the editor: colours, and what can be written where. */
import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

/** From `docs/ir.md`, by `vite.config.ts`: quoted words, and statements and declarations with their forms. */
declare const GRAMMAR: { words: string[]; statements: [string, string][] };

const WORDS = new Set(GRAMMAR.words);
const NAME = /^[acfpstvwx]\d+/;

const language = StreamLanguage.define<null>({
  name: 'residue-ir',
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return 'comment';
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/^0x[0-9a-fA-F_]+/) || stream.match(/^\d+/)) return 'number';
    const name = stream.match(NAME);
    if (name) return (name as RegExpMatchArray)[0].startsWith('f') ? 'function' : 'variableName';
    const word = stream.match(/^[a-z_]\w*/);
    if (word) return WORDS.has((word as RegExpMatchArray)[0]) ? 'keyword' : 'invalid';
    stream.next();
    return 'punctuation';
  },
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: { commentTokens: { line: '#' } },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--comment)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--string)' },
  { tag: tags.number, color: 'var(--number)' },
  { tag: tags.keyword, color: 'var(--keyword)' },
  { tag: tags.function(tags.variableName), color: 'var(--function)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const FORMS: Completion[] = GRAMMAR.statements.map(([label, detail]) => ({ label, detail, type: 'keyword', boost: 1 }));
const OTHERS: Completion[] = GRAMMAR.words
  .filter((word) => !GRAMMAR.statements.some(([label]) => label === word))
  .map((label) => ({ label, type: 'keyword' }));

/** Words of the grammar, and the names of the text. */
function complete(context: CompletionContext): CompletionResult | null {
  const typed = context.matchBefore(/[a-z_]\w*/);
  if (!typed && !context.explicit) return null;
  const before = context.state.sliceDoc(0, Math.min(context.pos, 200_000));
  const names = new Set(before.match(/\b[acfpstvwx]\d+\b/g) ?? []);
  if (typed) names.delete(typed.text);
  const known: Completion[] = [...names].map((label) => ({ label, type: 'variable', boost: -1 }));
  return { from: typed?.from ?? context.pos, options: [...FORMS, ...OTHERS, ...known], validFor: /^\w*$/ };
}

/** Everything of the language. */
export function ir(): LanguageSupport {
  return new LanguageSupport(language, [syntaxHighlighting(colours), autocompletion({ override: [complete] })]);
}
