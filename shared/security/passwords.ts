import { type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Cost that OWASP's Password Storage Cheat Sheet (2025) recommends for argon2id: 19 MiB, two passes, one lane. */
const ARGON2_COST = { memory: 19 * 1024, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Returns a PHC string, which names the cost, so that later hashes can have a higher cost. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return formatPhc(salt, await tagOf(password, salt, ARGON2_COST));
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const { cost, salt, tag } = parsePhc(hash);
  return timingSafeEqual(await tagOf(password, salt, cost), tag);
}

function tagOf(password: string, nonce: Buffer, cost: typeof ARGON2_COST): Promise<Buffer> {
  // Keyboards compose the same letter in different ways.
  return argon2id({ message: password.normalize('NFC'), nonce, tagLength: TAG_BYTES, ...cost });
}

function formatPhc(salt: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = ARGON2_COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpaddedBase64(salt)}$${unpaddedBase64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function parsePhc(hash: string): { cost: typeof ARGON2_COST; salt: Buffer; tag: Buffer } {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? [];
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

function unpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** Checked when an account does not exist, so that the log-in takes as long as any other. */
export const DECOY_HASH = formatPhc(randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));

/** Maximum number of hashing threads. Each needs 20 MiB while it hashes. */
const THREADS_MAX = 4;

/** Number of hashes that this process computes at once. One of several cores stays free for the event loop. */
export const HASHING_THREADS = Math.max(1, Math.min(THREADS_MAX, availableParallelism() - 1));

/** Hashes one password at a time, in a worker thread. The first password starts the thread. */
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
    const worker = new Worker(new URL('./argon2-thread.ts', import.meta.url));
    worker.on('message', ({ id, tag }: { id: number; tag: Uint8Array }) => {
      this.#waiting.get(id)?.resolve(Buffer.from(tag));
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
    });
    worker.on('error', (error) => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return worker;
  }
}

const hashingThreads = Array.from({ length: HASHING_THREADS }, () => new HashingThread());

/**
 * Uses separate threads, which have low priority on Linux: on Node's thread pool, log-ins would take the cores that
 * predictions need.
 */
function argon2id(parameters: Argon2Parameters): Promise<Buffer> {
  return hashingThreads
    .reduce((idlest, other) => (other.load < idlest.load ? other : idlest))
    .hash(parameters);
}
