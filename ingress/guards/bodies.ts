import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TSchema } from 'typebox';
import { AppError } from '../../shared/errors/app-error.ts';
import { BODY_DEPTH_MAX, KIB, MIB } from '../../shared/schemas/limits.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import type { CountRequest } from '../limits/request-limits.ts';
import type { Credential, RequestContext } from '../request/context.ts';
import { BodyBudget, type BodyShare, UNCOUNTED_BYTES } from './budgets.ts';
import { receive } from './receive.ts';

/** A body costs `size / BYTES_PER_POINT` points, rounded up, less the point that each request costs anyway. */
const BYTES_PER_POINT = 512 * KIB;

/** Maximum bytes of bodies in memory. Apps have their own budget: anybody can sign up, and fill `others`. */
const BUDGET_BYTES = { apps: 32 * MIB, others: 48 * MIB };

interface BodyRules {
  credential: Credential;
  /** Maximum unpacked size in bytes. */
  limit: number;
  /** Maximum number of values and property names. */
  values: number;
  /** Counts the body against the budget until `use` has ended, not only until `use` first awaits. */
  keepsBody: boolean;
  /** Takes a request without a body for `{}`. */
  mayBeEmpty?: boolean | undefined;
}

/** Takes a parsed body and its number of bytes. */
type Use<T> = (body: unknown, bytes: number) => Promise<T>;

/** Parses a request's body and resolves with the result of `use`. `party` is the sender. */
type BodyReader = <T>(ctx: RequestContext, party: string, use: Use<T>) => Promise<T>;

/** Reads request bodies, within limits on memory and on the event loop. */
export class Bodies {
  readonly #countRequest: CountRequest;
  readonly #appBudget = new BodyBudget(BUDGET_BYTES.apps);
  readonly #otherBudget = new BodyBudget(BUDGET_BYTES.others);
  /** Parses large bodies one at a time. Senders take turns. */
  readonly #parseLimiter = new ConcurrencyLimiter({ capacity: 1 });

  constructor(countRequest: CountRequest) {
    this.#countRequest = countRequest;
  }

  /**
   * Returns the body reader of an endpoint. It checks, in this order: the size, also after unpacking (413), the
   * points that the size costs in the rate limit (429), room in the budget (503 `overloaded`), the pace at which the
   * body arrives (408), the headers (400 `invalid_content_type`), its structure (413), and the JSON (400
   * `invalid_json`). Keeps no reference to the body while `use` waits.
   */
  reader(rules: BodyRules): BodyReader {
    const budget = rules.credential === 'app' ? this.#appBudget : this.#otherBudget;
    return async (ctx, party, use) => {
      const share = budget.open(party, ctx.state.signal);
      try {
        const { result } = await this.#take(ctx, { ...rules, party, share }, use);
        if (!rules.keepsBody) share.free();
        return await result;
      } finally {
        share.free();
      }
    };
  }

  /** Returns the promise of `use` inside an object: awaiting it here would keep the body in memory until `use` ends. */
  async #take<T>(
    ctx: RequestContext,
    { limit, values, mayBeEmpty, party, share }: BodyRules & { party: string; share: BodyShare },
    use: Use<T>,
  ): Promise<{ result: Promise<T> }> {
    if (Number(ctx.get('Content-Length')) > limit) throw new AppError('body_too_large');
    const countBytes = (size: number) => this.#countBytes(ctx, size);
    const bytes = await receive(ctx, { limit, share, mayBeEmpty, countBytes });
    if (mayBeEmpty && bytes.length === 0) return { result: use({}, 0) };
    if (bytes.length <= UNCOUNTED_BYTES) {
      await checkStructure(bytes, values);
      return { result: use(parse(decode(bytes)), bytes.length) };
    }
    const work = async () => {
      await nextTurn();
      await checkStructure(bytes, values);
      await nextTurn();
      const text = decode(bytes);
      await nextTurn();
      const body = parse(text);
      // Yields to other requests, because `use` now validates the body, which takes about as long as parsing.
      await nextTurn();
      return { result: use(body, bytes.length) };
    };
    return this.#parseLimiter.run(work, { party, gone: ctx.state.signal });
  }

  async #countBytes(ctx: RequestContext, bytes: number): Promise<void> {
    const points = pointsOfBody(bytes);
    if (points > 0) await this.#countRequest(ctx, points);
  }
}

/** Reports whether a request without a body stands for `{}`: a POST whose fields are all optional. */
export function mayOmitBody({ method, body }: { method: string; body?: TSchema }): boolean {
  const { type, required = [] } = (body ?? {}) as { type?: string; required?: string[] };
  return method === 'POST' && type === 'object' && required.length === 0;
}

/** Returns the points that a body costs besides that of its request. */
export function pointsOfBody(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / BYTES_PER_POINT) - 1);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): string {
  return orInvalidJson(() => UTF_8.decode(bytes));
}

function parse(text: string): unknown {
  return orInvalidJson(() => JSON.parse(text));
}

/** Replaces the original error, whose message would quote the body. */
function orInvalidJson<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new AppError('invalid_json');
  }
}

/** Bytes scanned in one turn of the event loop, in about a millisecond. */
const SLICE_BYTES = 256 * KIB;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Scan {
  at: number;
  isInString: boolean;
  depth: number;
  valuesFound: number;
}

/**
 * Checks in linear time that JSON text is not slow to parse: a few kilobytes of gzip can unpack to millions of
 * arrays. Throws `body_too_large` if it is nested deeper than `BODY_DEPTH_MAX`, or has more than `max` values and names.
 * Invalid JSON may pass.
 */
async function checkStructure(text: Buffer, max: number): Promise<void> {
  const scan: Scan = { at: 0, isInString: false, depth: 0, valuesFound: 1 };
  for (;;) {
    scanSlice(scan, text);
    if (scan.depth > BODY_DEPTH_MAX || scan.valuesFound > max) throw new AppError('body_too_large');
    if (scan.at >= text.length) return;
    await nextTurn();
  }
}

/** Scans one slice. Counts each comma, colon and opening bracket, so an empty array or object counts twice. */
function scanSlice(scan: Scan, text: Buffer): void {
  // Local variables are three times as fast as properties.
  let { at, isInString, depth, valuesFound } = scan;
  const end = Math.min(at + SLICE_BYTES, text.length);
  while (at < end && depth <= BODY_DEPTH_MAX) {
    const byte = text[at];
    if (isInString) {
      // An escaped quote does not end the string.
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA || byte === COLON) valuesFound += 1;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
      valuesFound += 1;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    at += 1;
  }
  Object.assign(scan, { at, isInString, depth, valuesFound });
}
