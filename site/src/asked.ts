/** What the page asks the worker, and the JSON that comes back: the reports of `residue --json`. */

/** Code that is wanted: a program's text under an interface and its prices. */
export interface Wanted {
  text: string;
  revision: string;
  /** Name of a gas schedule; the revision's own without it. */
  schedule?: string;
  /** The text of a gas schedule, in place of a name. */
  toml?: string;
}

/** Code that is wanted, and what it is run on. */
export interface Run extends Wanted {
  /** Calldata in hexadecimal after 0x. */
  input: string;
  gas: number;
}

export interface Listed {
  revisions: { name: string; summary: string; values: string; schedule: string; default: boolean }[];
  schedules: { name: string; summary: string; revisions: string[] }[];
  contracts: { name: string; summary: string; interface: string; precompile: number | null }[];
  verifiers: { name: string; summary: string; interface: string }[];
}

export interface Checked {
  name?: string;
  bits?: number | null;
  /** Places are bytes of the text as UTF-8. */
  error: null | { what: string; from: number; to: number };
}

export interface Split {
  arithmetic: number;
  transfer: number;
  memory: number;
  control: number;
}

export interface CodeReport {
  revision: string;
  schedule: string;
  fork: string;
  code: string;
  code_bytes: number;
  instruction_bytes: number;
  slots: number;
  memory_bytes: number;
  field_instructions: number;
  operations: number;
  functions: Record<string, number>;
  checked_blocks: BlockCheck[];
}

/** A block that the compiler's checker read back: its bytes, and the results in it that later code reads. */
export interface BlockCheck {
  function: string;
  from: number;
  to: number;
  operations: number;
  results: number;
}

export interface Execution {
  success: boolean;
  halt: string;
  output: string;
  gas_used: number;
  gas_split: Split | null;
  ops: Record<string, number> | null;
  memory_bytes: number;
  disagreement: string | null;
}

export interface Column {
  code: CodeReport;
  run: Execution;
}

export interface Evaluated {
  outcome: 'returned' | 'ended' | 'failed';
  output: string | null;
}

export interface Profile {
  gas_used: number;
  nodes: { name: string; parent: number | null; is_function: boolean; calls: number; gas: number }[];
  by_name: { name: string; calls: number; gas: number; gas_with_callees: number }[];
}

/** Offset, text, function, and the innermost stretch of each operation that it is part of, such as `line 12`: of each lane of a field instruction. */
export type Instruction = [number, string, string | null, (string | null)[]];

/** Field instructions that the batch engine runs as one: a plan, a scalar trace, or one by one. */
export interface BlockReport {
  from: number;
  to: number;
  runs: number;
  scalar_cycles: number;
  /** Of each batch the products, by lane: rows that are written and multiplied, of which those below `slots` are slots. */
  plan: null | { products: number; batches: number; predicted_cycles: number; slots: number; lanes: number[][][] };
  trace_steps: number | null;
}

export interface Place {
  at: string | null;
  value: string | null;
}

export interface Step {
  depth: number;
  pc: number;
  mnemonic: string | null;
  words: string[];
  lanes: { operation: string | null; out: Place; x: Place; y: Place }[];
  gas_cost: number;
  source: string | null;
  halt: string | null;
}

export interface Trace {
  success: boolean;
  halt: string;
  gas_used: number;
  steps: Step[];
  steps_left_out: number;
}

/** The frame before a step; null where there are fewer steps. */
export type Frame = null | {
  /** Words, the top first. */
  stack: string[];
  memory: string;
  /** Bytes of all memory, of which the first are in `memory`. */
  memory_bytes: number;
  slots: string[];
  modulus: string | null;
  gas: number;
};

export const FORMATS = ['creation', 'yul', 'solidity', 'json'] as const;

/** Every question, with its answer. */
export interface Questions {
  lists: { ask: Record<string, never>; answer: Listed };
  contractText: { ask: { name: string }; answer: string };
  verifierText: { ask: { system: string; key: string }; answer: string };
  example: { ask: { name: string }; answer: string };
  scheduleText: { ask: { revision: string; schedule?: string }; answer: string };
  check: { ask: { text: string }; answer: Checked };
  evaluate: { ask: { text: string; input: string }; answer: Evaluated };
  column: { ask: Run; answer: Column };
  specification: { ask: Run; answer: Execution };
  profile: { ask: Run; answer: Profile };
  flame: { ask: Run; answer: string };
  blocks: { ask: Run; answer: BlockReport[] };
  listing: { ask: Wanted; answer: Instruction[] };
  trace: { ask: Run & { skipped: number; limit: number }; answer: Trace };
  frame: { ask: Run & { step: number }; answer: Frame };
  format: { ask: Wanted & { name: string; format: (typeof FORMATS)[number] }; answer: string };
  certificate: { ask: Wanted; answer: string };
  stateTest: { ask: Run & { traced: boolean }; answer: string };
  precompileGas: { ask: { name: string; input: string }; answer: number | undefined };
  python: { ask: { text: string }; answer: string };
}

export type Kind = keyof Questions;

export interface Request {
  id: number;
  kind: Kind;
  ask: unknown;
}

/** `broken` tells that the module cannot go on. */
export type Reply = { id: number; answer: unknown } | { id: number; refused: string; broken: boolean };
