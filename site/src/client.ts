/** The page's side of the worker: one question at a time, and a new worker in place of one whose answer is wanted no more. */
import type { Kind, Questions, Reply } from './asked';
import moduleUrl from './module/residue_page_bg.wasm?url';

/** An answer that nobody waits for is let come for so long before its worker is ended, in milliseconds. */
const PATIENCE_MS = 120;
/** A question that takes longer is given up. */
const ANSWER_MS_MAX = 60_000;

/** Why a question has no answer. */
export class Refused extends Error {}
/** A question that was taken back. */
export class Cancelled extends Error {}

interface Job {
  id: number;
  kind: Kind;
  ask: unknown;
  /** Questions of one group are taken back together; those without are not. */
  group: string | undefined;
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
  begun?: number;
}

export class Client {
  private module: Promise<WebAssembly.Module> | undefined;
  private worker: Worker | undefined;
  private waiting: Job[] = [];
  private running: Job | undefined;
  private next = 1;
  private limit: ReturnType<typeof setTimeout> | undefined;

  /** Begins to fetch and compile the module, and a worker beside that. */
  constructor() {
    this.worker = this.begun();
  }

  private load(): Promise<WebAssembly.Module> {
    this.module ??= WebAssembly.compileStreaming(fetch(moduleUrl)).catch(async () => {
      // A file server that does not know the type of modules.
      return WebAssembly.compile(await (await fetch(moduleUrl)).arrayBuffer());
    });
    return this.module;
  }

  /** Asks. `group` names what a later `cancel` takes back; questions without one, which somebody waits for, go before others. */
  ask<K extends Kind>(kind: K, ask: Questions[K]['ask'], group?: string): Promise<Questions[K]['answer']> {
    return new Promise((resolve, reject) => {
      const before = group === undefined ? this.waiting.findIndex((job) => job.group !== undefined) : -1;
      const at = before < 0 ? this.waiting.length : before;
      this.waiting.splice(at, 0, { id: this.next++, kind, ask, group, resolve: resolve as (answer: never) => void, reject });
      void this.pump();
    });
  }

  /** Takes back the questions of a group. */
  cancel(group: string): void {
    const taken = this.waiting.filter((job) => job.group === group);
    this.waiting = this.waiting.filter((job) => job.group !== group);
    for (const job of taken) job.reject(new Cancelled());
    const running = this.running;
    if (running?.group !== group) return;
    running.reject(new Cancelled());
    if (running.begun === undefined) {
      // It waits for the module yet, and no worker has it.
      this.running = undefined;
      return void this.pump();
    }
    const over = PATIENCE_MS - (performance.now() - running.begun);
    setTimeout(() => this.running === running && this.restart(), Math.max(0, over));
  }

  private async pump(): Promise<void> {
    if (this.running) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.running = job;
    try {
      const worker = await this.started();
      if (this.running !== job) return;
      job.begun = performance.now();
      worker.postMessage({ id: job.id, kind: job.kind, ask: job.ask });
      this.limit = setTimeout(() => {
        job.reject(new Refused(`no answer after ${ANSWER_MS_MAX / 1000} s: given up`));
        this.restart();
      }, ANSWER_MS_MAX);
    } catch (error) {
      job.reject(new Refused(`the module cannot be loaded: ${String(error)}`));
      this.running = undefined;
      void this.pump();
    }
  }

  /** The worker, with the module on its way to it. */
  private async started(): Promise<Worker> {
    const worker = (this.worker ??= this.begun());
    await this.load();
    return worker;
  }

  private begun(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.replied(data);
    worker.onerror = (event) => {
      this.running?.reject(new Refused(event.message || 'the worker ended'));
      this.restart();
    };
    // Who asks awaits the module too, and says why there is none.
    this.load().then((module) => worker.postMessage({ module }), () => undefined);
    return worker;
  }

  private replied(reply: Reply): void {
    const job = this.running;
    if (job?.id !== reply.id) return;
    clearTimeout(this.limit);
    if ('answer' in reply) job.resolve(reply.answer as never);
    else job.reject(new Refused(reply.refused));
    this.running = undefined;
    if ('broken' in reply && reply.broken) this.restart();
    else void this.pump();
  }

  private restart(): void {
    clearTimeout(this.limit);
    this.worker?.terminate();
    this.worker = undefined;
    this.running = undefined;
    void this.pump();
  }
}
