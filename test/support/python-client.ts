import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AccountClient, AccountClientOptions } from '../../client/src/api.ts';
import { ForecueError } from '../../client/src/errors.ts';
import type { CallOptions } from '../../client/src/transport.ts';
import type { AppClient, AppClientOptions } from '../../client/src/v1.ts';

const ROOT = join(import.meta.dirname, '../..');
export const PYTHON_PATH = join(ROOT, 'client/python');
/** Debian's `python3`, or whichever the machine has. */
export const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

export type PythonMode = 'sync' | 'async';

interface Outcome {
  call: number;
  answer?: unknown;
  item?: unknown;
  headers?: Record<string, string>;
  cancelled?: true;
  failure?: { invalid: string } | PythonError;
}

type PythonError = Pick<ForecueError, 'code' | 'status' | 'message' | 'remedy'> & {
  request_id: string | null;
  retry_after: number | null;
  fields: ForecueError['fields'][number][];
};

type Options = Omit<AppClientOptions & AccountClientOptions, 'fetch'>;

/** A process of the Python client, whose clients have the methods of the TypeScript client. */
export class PythonClients {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #listeners = new Map<number, (outcome: Outcome) => void>();
  #last = 0;
  #complaints = '';

  constructor() {
    this.#process = spawn('python3', ['-X', 'dev', '-B', join(import.meta.dirname, 'python-driver.py')], {
      env: { ...process.env, PYTHONPATH: PYTHON_PATH },
      stdio: 'pipe',
    });
    this.#process.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.#complaints += chunk;
    });
    createInterface(this.#process.stdout).on('line', (line) => {
      const outcome: Outcome = JSON.parse(line);
      this.#listeners.get(outcome.call)?.(outcome);
    });
  }

  create(mode: PythonMode, options: Options): AppClient & AccountClient {
    const client = {
      base_url: String(options.baseUrl),
      ...(options.appKey !== undefined && { app_key: options.appKey }),
      ...(options.credential !== undefined && { credential: options.credential }),
      ...(options.retries !== undefined && { retries: options.retries }),
    };
    const call =
      (method: string) =>
      (...given: unknown[]) => {
        if (method === 'stream' || method === 'start')
          return this.#call(mode, client, `${method}_${snakeOf(String(given[0]))}`, given.slice(1));
        return this.#call(mode, client, snakeOf(method), given);
      };
    return new Proxy({} as AppClient & AccountClient, {
      get: (_, method) => (method === 'then' ? undefined : call(String(method))),
    });
  }

  /** In Python's development mode, which reports what is left open, awaited by nobody or used by another thread. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    await once(this.#process, 'close');
    assert.equal(this.#complaints, '');
  }

  #call(mode: PythonMode, client: object, method: string, all: unknown[]): unknown {
    const isOptions = (one: unknown) => OPTIONS.some((name) => name in Object(one));
    const options: CallOptions = all.findLast(isOptions) ?? {};
    const given = all.filter((one) => !isOptions(one) && one !== undefined);
    const isStream = /^(stream|follow|export)_?/.test(method);
    const items: Items = new Items();
    this.#last += 1;
    const number = this.#last;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (options.signal?.aborted) return reject(options.signal.reason);
      this.#listeners.set(number, ({ answer, item, headers, cancelled, failure }) => {
        if (headers) options.onResponse?.(new Response(null, { headers }));
        if (item) items.push(item);
        if (answer !== undefined) resolve(answer);
        if (cancelled) reject(options.signal?.reason);
        if (failure) reject(errorOf(failure));
      });
      options.signal?.addEventListener('abort', () => this.#send({ number, cancel: true }));
      this.#send({ number, mode, client, method, given, options: pythonOptionsOf(options) });
    }).finally(() => items.end());
    return isStream ? items.iterate(answer) : answer;
  }

  #send(message: object): void {
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

const OPTIONS = ['signal', 'timeoutMs', 'retries', 'idempotencyKey', 'onResponse'];

/** The items of a stream, as they arrive. */
class Items {
  readonly #items: unknown[] = [];
  #wake = Promise.withResolvers<void>();
  #isOver = false;

  push(item: unknown): void {
    this.#items.push(item);
    this.#wake.resolve();
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *iterate(answer: Promise<unknown>): AsyncGenerator<unknown> {
    answer.catch(() => {});
    for (;;) {
      yield* this.#items.splice(0);
      if (this.#isOver) break;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
    await answer;
  }
}

function pythonOptionsOf({ timeoutMs, retries, idempotencyKey }: CallOptions): object {
  return {
    ...(timeoutMs !== undefined && { timeout: timeoutMs / 1000 }),
    ...(retries !== undefined && { retries }),
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
  };
}

function errorOf(failure: NonNullable<Outcome['failure']>): Error {
  if ('invalid' in failure) return new TypeError(failure.invalid);
  const { code, status, message, remedy, request_id, retry_after, fields } = failure;
  const error = new ForecueError(code, {
    status,
    message,
    requestId: request_id,
    retryAfter: retry_after ?? undefined,
    fields,
  });
  assert.equal(remedy, error.remedy, 'both clients name the same remedy');
  return error;
}

/** `predictReply` becomes `predict_reply`. */
function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
