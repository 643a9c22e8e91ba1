/** All that a link holds: the program, its calldata, the columns, and what is looked at. */
import { deflateSync, Inflate, strFromU8, strToU8 } from 'fflate';
import { base64url, unbase64url } from './bytes';

/** An interface with its prices. */
export interface ColumnState {
  revision: string;
  /** A gas schedule by name; the revision's own without it. */
  schedule?: string;
  /** The text of a gas schedule, where prices were edited. */
  toml?: string;
}

export interface State {
  text: string;
  /** Calldata as it was typed. */
  input: string;
  gas: number;
  columns: ColumnState[];
  /** The contract of the catalogue that the program began as. */
  contract?: string;
  /** The column that is looked into. */
  chosen: number;
  tab: string;
  /** Gas that a byte of code costs once, and a zero and another byte of calldata. */
  byte: number;
  zero: number;
  nonzero: number;
}

export const DEFAULT_COLUMNS = ['evm', 'evm384-v7', 'evm384-v9', 'eip6690-2024', 'evmmax-next'];

export const FRESH: State = {
  text: '',
  input: '0x',
  gas: 1_000_000_000,
  columns: DEFAULT_COLUMNS.map((revision) => ({ revision })),
  chosen: 3,
  tab: 'code',
  byte: 200,
  zero: 4,
  nonzero: 16,
};

/** A link may hold so many bytes before compression; texts beyond are kept, and not shared. */
export const STATE_BYTES_MAX = 2 << 20;
/** Columns that are shown at most. */
export const COLUMNS_MAX = 100;
/** What a fragment begins with, by version of its form. */
const VERSION = '1.';

/** The fragment of a state; nothing where it is too large. */
export function toFragment(state: State): string | undefined {
  if (state.text.length > STATE_BYTES_MAX) return undefined;
  const bytes = strToU8(JSON.stringify(state));
  return bytes.length > STATE_BYTES_MAX ? undefined : VERSION + base64url(deflateSync(bytes, { level: 9 }));
}

/** The state of a fragment. Throws a text where it is none. */
export function fromFragment(fragment: string): State {
  if (!fragment.startsWith(VERSION)) throw 'the link is of another version of the page';
  let value: unknown;
  try {
    value = JSON.parse(strFromU8(inflated(unbase64url(fragment.slice(VERSION.length)))));
  } catch (error) {
    throw typeof error === 'string' ? error : 'the link is damaged: a part of it is missing or was changed';
  }
  return checked(value);
}

/** Inflates up to the size that a state may have. */
function inflated(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const stream = new Inflate((part) => {
    parts.push(part);
    length += part.length;
    if (length > STATE_BYTES_MAX) throw `the link holds more than ${STATE_BYTES_MAX} bytes`;
  });
  for (let at = 0; at < bytes.length; at += 1024) stream.push(bytes.subarray(at, at + 1024), at + 1024 >= bytes.length);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A value from outside as a state: what is missing is as at first, what is of another type is refused. */
function checked(value: unknown): State {
  if (typeof value !== 'object' || value === null) throw 'the link holds no program';
  const found = value as Record<string, unknown>;
  const text = (key: string, otherwise: string) => taken(found[key], otherwise, 'string', key) as string;
  const number = (key: string, otherwise: number) => {
    const number = taken(found[key], otherwise, 'number', key) as number;
    if (!Number.isFinite(number) || number < 0) throw `the link says ${key} is ${number}`;
    return number;
  };
  const columns = Array.isArray(found['columns']) ? found['columns'].slice(0, COLUMNS_MAX).map(column) : FRESH.columns;
  return {
    text: text('text', FRESH.text),
    input: text('input', FRESH.input),
    gas: number('gas', FRESH.gas),
    columns: columns.length ? columns : FRESH.columns,
    chosen: Math.min(Math.floor(number('chosen', FRESH.chosen)), Math.max(0, columns.length - 1)),
    ...(typeof found['contract'] === 'string' ? { contract: found['contract'] } : {}),
    tab: text('tab', FRESH.tab),
    byte: number('byte', FRESH.byte),
    zero: number('zero', FRESH.zero),
    nonzero: number('nonzero', FRESH.nonzero),
  };
}

function taken(value: unknown, otherwise: unknown, type: string, key: string): unknown {
  if (value === undefined) return otherwise;
  if (typeof value !== type) throw `the link says ${key} is a ${typeof value}`;
  return value;
}

function column(value: unknown): ColumnState {
  const { revision, schedule, toml } = (value ?? {}) as Record<string, unknown>;
  if (typeof revision !== 'string') throw 'the link has a column without an interface';
  return {
    revision,
    ...(typeof schedule === 'string' ? { schedule } : {}),
    ...(typeof toml === 'string' ? { toml } : {}),
  };
}

const KEY = 'residue';

/** Keeps a fragment for the next visit, on this machine alone. */
export function keep(fragment: string): void {
  try {
    localStorage.setItem(KEY, fragment);
  } catch {
    // Private windows, or no room: the link still has it.
  }
}

/** What stands in place of a fragment while a state is kept that is too large for one. */
const LARGE = 'large';

/** Keeps a state that has no fragment, for the next visit, in the browser's database. */
export async function keepLarge(state: State): Promise<void> {
  try {
    await stored('readwrite', (store) => store.put(structuredClone(state), KEY));
    localStorage.setItem(KEY, LARGE);
  } catch {
    // No room, or a private window.
  }
}

/** The state that was kept; a text thrown where it is damaged. */
export async function kept(): Promise<State | undefined> {
  let fragment: string | null = null;
  try {
    fragment = localStorage.getItem(KEY);
  } catch {
    return undefined;
  }
  if (fragment === LARGE) return checked(await stored('readonly', (store) => store.get(KEY)));
  return fragment === null ? undefined : fromFragment(fragment);
}

/** Asks the database for its one store. */
function stored(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(KEY, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(KEY);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const asked = ask(database.transaction(KEY, mode).objectStore(KEY));
      asked.onerror = () => reject(asked.error);
      asked.onsuccess = () => {
        resolve(asked.result);
        database.close();
      };
    };
  });
}
