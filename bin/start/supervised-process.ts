import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { messageOf } from '../../shared/errors/message-of.ts';
import type { ReadyMessage } from '../../shared/process/lifecycle.ts';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';

/** A process that `npm start` keeps running. */
export interface ProcessSpec {
  name: string;
  entry: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  log: string;
  /** Reports to the terminal what happens to the process. */
  say(line: string): void;
}

const READY_TIMEOUT_MS = 60_000;
const LOG_MAX_BYTES = 20 * 1024 * 1024;
const ROTATE_LOG_EVERY_MS = 10_000;

/**
 * Runs a process, and restarts it whenever it ends after it has been ready once. The process has its own session, which
 * Ctrl-C does not reach. It stops when its IPC channel closes.
 */
export class SupervisedProcess implements AsyncDisposable {
  readonly #spec: ProcessSpec;
  readonly #ready = Promise.withResolvers<ReadyMessage>();
  readonly #rotation: NodeJS.Timeout;
  /** Offset at which this run's output begins in the log. */
  #logStart: number;
  readonly #backoff = new Backoff();
  #child: ChildProcess | undefined;
  #exit = Promise.withResolvers<void>();
  #wasReady = false;
  #isStopping = false;
  #restartTimer: NodeJS.Timeout | undefined;

  constructor(spec: ProcessSpec, rotateLogEveryMs = ROTATE_LOG_EVERY_MS) {
    this.#spec = spec;
    this.#logStart = rotateLog(spec.log);
    this.#rotation = setInterval(() => {
      if (rotateLog(spec.log) === 0) this.#logStart = 0;
    }, rotateLogEveryMs);
    this.#ready.promise.catch(() => undefined);
    this.#launch();
  }

  /** Rejects if the first start fails. */
  async ready(): Promise<ReadyMessage> {
    const timeout = setTimeout(() => this.#startFailed('was not ready in time'), READY_TIMEOUT_MS);
    return this.#ready.promise.finally(() => clearTimeout(timeout));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#ready.reject(new Error(`the ${this.#spec.name} was stopped`));
    clearTimeout(this.#restartTimer);
    clearInterval(this.#rotation);
    const child = this.#child;
    if (child === undefined) return;
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMITS.supervisor);
    await this.#exit.promise;
    clearTimeout(limit);
  }

  #launch(): void {
    const launchedAt = Date.now();
    const onEnd = (how: string) => this.#onEnd(how, Date.now() - launchedAt);
    this.#exit = Promise.withResolvers();
    try {
      const child = this.#fork();
      this.#child = child;
      child.on('message', (message) => this.#onMessage(message));
      child.on('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
      child.on('error', ({ message }) => {
        // A process that the system could not start never emits `exit`.
        if (child.pid === undefined) onEnd(message);
        else this.#spec.say(`${this.#spec.name}: ${message}`);
      });
    } catch (error) {
      onEnd(messageOf(error));
    }
  }

  #fork(): ChildProcess {
    const { entry, args, env, log } = this.#spec;
    const output = openSync(log, 'a', 0o600);
    try {
      return fork(entry, args, { env, detached: true, stdio: ['ignore', output, output, 'ipc'] });
    } finally {
      closeSync(output);
    }
  }

  #onMessage(message: unknown): void {
    const ready = Object(message) as ReadyMessage;
    if (ready.type !== 'ready') return;
    this.#wasReady = true;
    this.#ready.resolve(ready);
  }

  #onEnd(reason: string, livedMs: number): void {
    this.#child = undefined;
    this.#exit.resolve();
    if (this.#isStopping) return;
    if (!this.#wasReady) {
      this.#startFailed(`ended (${reason})`);
      return;
    }
    const delayMs = this.#backoff.next(livedMs);
    const { name, log } = this.#spec;
    this.#spec.say(`${name} ended (${reason}) and starts again ${delayText(delayMs)}: see ${log}`);
    this.#restartTimer = setTimeout(() => this.#launch(), delayMs);
  }

  #startFailed(what: string): void {
    const { name, log } = this.#spec;
    const lines = readFileSync(log).subarray(this.#logStart).toString().trimEnd().split('\n').slice(-15);
    this.#ready.reject(new Error(`the ${name} ${what}: see ${log}\n${lines.join('\n')}`));
  }
}

/**
 * Moves the content of a log that is too large to another file. The log itself stays, because a process has it open.
 * Returns the size of what is left.
 */
function rotateLog(log: string): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_MAX_BYTES) return size;
  copyFileSync(log, `${log}.1`);
  truncateSync(log);
  return 0;
}

const DELAYS_MS = [0, 500, 1000, 2000, 5000];
/** Time after which a running process counts as recovered, and the delays start over. */
const RECOVERED_AFTER_MS = 60_000;

export class Backoff {
  #restarts = 0;

  /** Returns the delay before the next restart. `livedMs` is 0 for a process that never came up. */
  next(livedMs: number): number {
    if (livedMs > RECOVERED_AFTER_MS) this.#restarts = 0;
    const delayMs = DELAYS_MS[Math.min(this.#restarts, DELAYS_MS.length - 1)] ?? 0;
    this.#restarts += 1;
    return delayMs;
  }
}

export function delayText(delayMs: number): string {
  return delayMs === 0 ? 'at once' : `in ${delayMs / 1000} s`;
}

export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
