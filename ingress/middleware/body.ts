import { finished, type Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MIMEType } from 'node:util';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../shared/errors/app-error.ts';
import { Lane } from '../lane.ts';
import { BodyBudget, type BodyShare, UNCOUNTED } from './body-budget.ts';
import type { RequestContext } from './request-context.ts';

/** What an endpoint says about its bodies. */
interface BodyTerms {
  /** Bytes, unpacked. */
  limit: number;
  /** Whether what was sent is held until the answer, and so stays in the budget. */
  kept: boolean;
}

/** Hands a request's body to `use`, parsed, and resolves with what becomes of that. `party` is who sent it. */
type WithBody = <T>(ctx: RequestContext, party: string, use: (body: unknown) => Promise<T>) => Promise<T>;

/** The bodies of a process: what they hold of its memory, and of its thread. */
export class Bodies {
  readonly #budget = new BodyBudget();
  /** Large bodies are taken apart one by one, parties in turn, so that all else is served between them. */
  readonly #parsing = new Lane({ atOnce: 1 });

  /**
   * Makes the reader of an endpoint's bodies: at most so many bytes, also after unpacking (413), for which there is room
   * (503 overloaded), JSON by its headers (400 invalid_content_type) and by its bytes (400 invalid_json), in that order.
   *
   * While `use` waits, nothing here holds on to the bytes or to what they were parsed to.
   */
  reader({ limit, kept }: BodyTerms): WithBody {
    return async (ctx, party, use) => {
      const share = this.#budget.open(party, ctx.state.signal);
      try {
        const { result } = await this.#take(ctx, { limit, party, share }, use);
        if (!kept) share.free();
        return await result;
      } finally {
        share.free();
      }
    };
  }

  /** Apart from the above, and the promise in a box: what waits for it should not see the body. */
  async #take<T>(
    ctx: RequestContext,
    { limit, party, share }: { limit: number; party: string; share: BodyShare },
    use: (body: unknown) => Promise<T>,
  ): Promise<{ result: Promise<T> }> {
    if (Number(ctx.get('Content-Length')) > limit) throw new AppError('body_too_large');
    const bytes = await receive(ctx, limit, share);
    if (bytes.length <= UNCOUNTED) return { result: use(parse(bytes)) };
    const work = async () => {
      await nextTurn();
      return { result: use(parse(bytes)) };
    };
    return this.#parsing.run(work, { party, gone: ctx.state.signal });
  }
}

const JSON_TYPE = 'application/json';

function isJsonType(header: string): boolean {
  try {
    const { essence, params } = new MIMEType(header);
    return essence === JSON_TYPE && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}

function isKnownEncoding(header: string): boolean {
  return ['', 'identity', 'gzip'].includes(header.toLowerCase());
}

/** Reads any body, so that "too large" is said before "wrong type". */
async function receive(ctx: RequestContext, limit: number, share: BodyShare): Promise<Buffer> {
  const { req } = ctx;
  const isAcceptable = isJsonType(ctx.get('Content-Type')) && isKnownEncoding(ctx.get('Content-Encoding'));
  const isPacked = isAcceptable && ctx.get('Content-Encoding').toLowerCase() === 'gzip';
  const source = isPacked ? unpack(req) : req;
  try {
    const length = isPacked ? 0 : Number(ctx.get('Content-Length'));
    await share.reserve(length);
    const bytes = await collect(source, { length, limit, share });
    if (isAcceptable) return bytes;
  } catch (error) {
    // All else that fails while a body is read is the client's: its compression, its connection.
    throw error instanceof AppError ? error : new AppError('invalid_json');
  } finally {
    // The rest, if any, is read and forgotten, so that the client hears the answer.
    req.unpipe();
    req.resume();
    if (source !== req) source.destroy();
  }
  throw new AppError('invalid_content_type');
}

/** A pipe ends with its source, but does not break off with it. */
function unpack(source: Readable): Readable {
  const unpacked = source.pipe(createGunzip());
  finished(source, { writable: false }, (error) => {
    if (error) unpacked.destroy(error);
  });
  return unpacked;
}

/**
 * The stream's bytes in one piece, room for which is made before. Chunks are not kept: a client may send a million of a byte
 * each, which would cost a hundred times their size.
 */
async function collect(
  source: Readable,
  { length, limit, share }: { length: number; limit: number; share: BodyShare },
): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  let used = 0;
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const needed = used + chunk.length;
    if (needed > limit) throw new AppError('body_too_large');
    if (needed > bytes.length) {
      // The first chunk of most bodies is all of them.
      const size = used === 0 ? needed : Math.min(limit, Math.max(length, 2 * needed));
      await share.reserve(size);
      bytes = used === 0 ? chunk : copyOf(bytes.subarray(0, used), size);
    }
    if (bytes !== chunk) chunk.copy(bytes, used);
    used = needed;
  }
  return bytes.subarray(0, used);
}

function copyOf(bytes: Buffer, size: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(size);
  bytes.copy(copy);
  return copy;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** The parser's error quotes what it read, so it is dropped. */
function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF_8.decode(bytes));
  } catch {
    throw new AppError('invalid_json');
  }
}
