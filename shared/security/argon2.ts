import type { Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Each needs 20 MiB while it hashes. */
const THREADS_MAX = 4;

/** How many hashes this process makes at once: a core stays free for the event loop. */
export const HASHING_THREADS = Math.max(1, Math.min(THREADS_MAX, availableParallelism() - 1));

interface Hashed {
  id: number;
  tag: Uint8Array;
}

/** A thread that hashes one at a time, in order. Started by its first hash. */
class HashingThread {
  readonly #waiting = new Map<number, PromiseWithResolvers<Buffer>>();
  #lastId = 0;
  #worker: Worker | undefined;

  get load(): number {
    return this.#waiting.size;
  }

  hash(parameters: Argon2Parameters): Promise<Buffer> {
    this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const hashing = Promise.withResolvers<Buffer>();
    this.#waiting.set(id, hashing);
    // Keeps the process alive only while a hash is pending.
    this.#worker.ref();
    this.#worker.postMessage({ id, parameters });
    return hashing.promise;
  }

  #start(): Worker {
    const started = new Worker(new URL('./argon2-thread.ts', import.meta.url));
    started.on('message', ({ id, tag }: Hashed) => {
      this.#waiting.get(id)?.resolve(Buffer.from(tag));
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) started.unref();
    });
    started.on('error', (error) => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return started;
  }
}

const threads = Array.from({ length: HASHING_THREADS }, () => new HashingThread());

/**
 * argon2id on threads of its own, at a lower priority than everything else in the process. On Node's thread pool a storm
 * of log-ins would take the cores that predictions need.
 */
export function argon2id(parameters: Argon2Parameters): Promise<Buffer> {
  return threads.reduce((idlest, other) => (other.load < idlest.load ? other : idlest)).hash(parameters);
}
