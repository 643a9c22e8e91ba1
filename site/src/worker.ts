/** The worker: holds the module, and answers one question after the other. It is ended from outside when an answer is wanted no more. */
import type { Evaluated, Questions, Reply, Request, Run, Wanted } from './asked';
import { unhexed } from './bytes';
import initModule, * as residue from './module/residue_page';

/** Turns, parts, arms and calls that the evaluator does at most, as `residue compare` has it. */
const STEPS_MAX = 1 << 22;
/** Codes that are kept for the next question. */
const CODES_MAX = 16;

const codes = new Map<string, residue.Code>();

/** The code that is wanted: compiled, or as it was kept. */
function code({ text, revision, schedule, toml }: Wanted): residue.Code {
  const key = JSON.stringify([text, revision, schedule, toml]);
  const known = codes.get(key);
  const found = known ?? new residue.Code(text, revision, schedule, toml);
  codes.delete(key);
  codes.set(key, found);
  for (const [oldest, old] of codes) {
    if (codes.size <= CODES_MAX) break;
    codes.delete(oldest);
    old.free();
  }
  return found;
}

/** How each question is answered. */
const answers: { [K in keyof Questions]: (ask: Questions[K]['ask']) => Questions[K]['answer'] } = {
  lists: () => JSON.parse(residue.lists()),
  contractText: ({ name }) => residue.contractText(name),
  verifierText: ({ system, key }) => residue.verifierText(system, key),
  example: ({ name }) => residue.example(name),
  scheduleText: ({ revision, schedule }) => residue.scheduleText(revision, schedule),
  check: ({ text }) => JSON.parse(residue.check(text)),
  evaluate: ({ text, input }): Evaluated => JSON.parse(residue.evaluate(text, unhexed(input), STEPS_MAX)),
  column: (run) => ({ code: JSON.parse(code(run).report()), run: executed(run, 'batch') }),
  specification: (run) => executed(run, 'spec'),
  profile: (run) => JSON.parse(code(run).profile(unhexed(run.input), run.gas)),
  flame: (run) => code(run).flame(unhexed(run.input), run.gas),
  blocks: (run) => JSON.parse(code(run).blocks(unhexed(run.input), run.gas)),
  listing: (wanted) => JSON.parse(code(wanted).listing()),
  trace: (run) => JSON.parse(code(run).trace(unhexed(run.input), run.gas, run.skipped, run.limit)),
  frame: (run) => JSON.parse(code(run).frame(unhexed(run.input), run.gas, run.step)),
  format: (wanted) => code(wanted).format(wanted.name, wanted.format),
  certificate: (wanted) => code(wanted).certificate(wanted.text),
  stateTest: (run) => code(run).stateTest(unhexed(run.input), run.gas, run.traced),
  precompileGas: ({ name, input }) => residue.precompileGas(name, unhexed(input)),
  python: ({ text }) => residue.python(text),
};

function executed(run: Run, engine: string) {
  return JSON.parse(code(run).run(unhexed(run.input), run.gas, engine));
}

let ready: Promise<unknown> | undefined;

self.onmessage = async ({ data }: MessageEvent<{ module: WebAssembly.Module } | Request>) => {
  if ('module' in data) {
    ready = initModule({ module_or_path: data.module });
    return;
  }
  const { id, kind, ask } = data;
  let reply: Reply;
  try {
    await ready;
    reply = { id, answer: (answers[kind] as (ask: unknown) => unknown)(ask) };
  } catch (error) {
    // What is refused is a text; all else is a trap of the module, or its stack that ran over.
    const refused = typeof error === 'string' ? error : error instanceof RangeError ? TOO_DEEP : String(error);
    reply = { id, refused, broken: typeof error !== 'string' };
  }
  self.postMessage(reply);
};

const TOO_DEEP = 'the program is too deep for the stack of this browser: the command line has more';
