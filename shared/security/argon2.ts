import type { Argon2Parameters } from 'node:crypto';
import { Worker } from 'node:worker_threads';

interface Hashed {
  id: number;
  tag: Uint8Array;
}

const waiting = new Map<number, PromiseWithResolvers<Buffer>>();
let lastId = 0;
let thread: Worker | undefined;

/**
 * argon2id, on a thread of its own: one at a time, in their order, and at a lower priority than whatever else the process
 * does. On Node's pool a storm of log-ins would take the cores that predictions need.
 */
export function argon2id(parameters: Argon2Parameters): Promise<Buffer> {
  thread ??= startThread();
  const id = ++lastId;
  const hashing = Promise.withResolvers<Buffer>();
  waiting.set(id, hashing);
  // Holds the process while a hash is wanted, and only then.
  thread.ref();
  thread.postMessage({ id, parameters });
  return hashing.promise;
}

function startThread(): Worker {
  const started = new Worker(new URL('./argon2-thread.ts', import.meta.url));
  started.on('message', ({ id, tag }: Hashed) => {
    waiting.get(id)?.resolve(Buffer.from(tag));
    waiting.delete(id);
    if (waiting.size === 0) started.unref();
  });
  started.on('error', (error) => {
    thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  });
  return started;
}
