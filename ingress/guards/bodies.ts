import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Next } from 'koa';
import { AppError } from '../../shared/errors/app-error.ts';
import { BODY_DEPTH, KIB, MIB } from '../../shared/schemas/limits.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import type { Credential } from '../http/endpoint.ts';
import type { RequestContext, RequestState } from '../http/request-context.ts';
import { networkOf } from '../limits/network.ts';
import type { CountRequest } from '../limits/request-limits.ts';
import { BodyBudget, type BodyShare, UNCOUNTED } from './budgets.ts';
import { receive } from './receive.ts';

/**
 * Bytes of a body that a point of the rate limit pays for; the request's own pays for the first. A full batch of ordinary
 * events costs one.
 */
const BYTES_PER_POINT = 512 * KIB;

/** Bytes of bodies that an ingress holds, of apps and of everybody else: anybody may sign up, and one person as several. */
const HELD = { apps: 32 * MIB, others: 48 * MIB };

/** An endpoint's terms for bodies. */
interface BodyTerms {
  credential: Credential;
  /** Bytes, unpacked. */
  limit: number;
  /** Values and names of properties. */
  values: number;
  /** True if the body counts against the budget until the answer is sent. */
  kept: boolean;
}

/** Parses a request's body, hands it to `use` and resolves with the result. `party` is the sender. */
type WithBody = <T>(ctx: RequestContext, party: string, use: (body: unknown) => Promise<T>) => Promise<T>;

/** Reads request bodies, within limits on memory and on the event loop. */
export class Bodies {
  readonly #countRequest: CountRequest;
  readonly #ofApps = new BodyBudget(HELD.apps);
  readonly #ofOthers = new BodyBudget(HELD.others);
  /** Large bodies are parsed one at a time, parties in turn, so that other requests are served in between. */
  readonly #parsing = new ConcurrencyLimiter({ atOnce: 1 });

  constructor(countRequest: CountRequest) {
    this.#countRequest = countRequest;
  }

  /**
   * Makes the reader of an endpoint's bodies. Checks, in this order: the size, also after unpacking (413); what the size
   * costs in the rate limit (429) and room in the budget (503 `overloaded`); the pace at which it arrives (408); the headers
   * (400 `invalid_content_type`); how much structure the JSON has, and the JSON itself (400 `invalid_json`).
   *
   * While `use` waits, nothing here references the bytes or the parsed body.
   */
  reader(terms: BodyTerms): WithBody {
    const budget = terms.credential === 'app' ? this.#ofApps : this.#ofOthers;
    return async (ctx, party, use) => {
      const share = budget.open(party, ctx.state.signal);
      try {
        const { result } = await this.#take(ctx, { ...terms, party, share }, use);
        if (!terms.kept) share.free();
        return await result;
      } finally {
        share.free();
      }
    };
  }

  /** A separate function that boxes the promise, so that the frame that awaits it does not reference the body. */
  async #take<T>(
    ctx: RequestContext,
    {
      limit,
      values,
      party,
      share,
    }: Pick<BodyTerms, 'limit' | 'values'> & { party: string; share: BodyShare },
    use: (body: unknown) => Promise<T>,
  ): Promise<{ result: Promise<T> }> {
    if (Number(ctx.get('Content-Length')) > limit) throw new AppError('body_too_large');
    const bytes = await receive(ctx, { limit, share, weigh: (size) => this.#weigh(ctx, size) });
    if (bytes.length <= UNCOUNTED) {
      await checkStructure(bytes, values);
      return { result: use(parse(decode(bytes))) };
    }
    const work = async () => {
      await nextTurn();
      await checkStructure(bytes, values);
      await nextTurn();
      const text = decode(bytes);
      await nextTurn();
      const body = parse(text);
      // Checking it takes about as long as parsing it.
      await nextTurn();
      return { result: use(body) };
    };
    return this.#parsing.run(work, { party, gone: ctx.state.signal });
  }

  async #weigh(ctx: RequestContext, bytes: number): Promise<void> {
    const points = Math.ceil(bytes / BYTES_PER_POINT) - 1;
    if (points > 0) await this.#countRequest(ctx, points);
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): string {
  return orInvalid(() => UTF_8.decode(bytes));
}

function parse(text: string): unknown {
  return orInvalid(() => JSON.parse(text));
}

/** Drops the error, which quotes the body. */
function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new AppError('invalid_json');
  }
}

interface Announced {
  readonly headers: IncomingHttpHeaders;
  readonly state: Pick<RequestState, 'address' | 'signal'>;
}

/**
 * Begins requests with large bodies one in each turn of the event loop, networks in turn: hundreds that arrive together
 * would make single turns of a tenth of a second, and everybody's calls late.
 */
export function paceLargeBodies(): (ctx: Announced, next: Next) => Promise<void> {
  const beginning = new ConcurrencyLimiter({ atOnce: 1 });
  return async ({ headers, state: { address, signal: gone } }, next) => {
    if (isLarge(headers)) await beginning.run(() => nextTurn(), { party: networkOf(address), gone });
    await next();
  };
}

/** One of unknown size may be. */
function isLarge(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > UNCOUNTED;
}

/** Bytes that are scanned before other requests are served: about a millisecond. */
const SLICE = 256 * KIB;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Progress of a scan. */
interface Scan {
  at: number;
  isInString: boolean;
  depth: number;
  /** Values and names. */
  found: number;
}

/**
 * Scans JSON text in UTF-8, in linear time, for what makes it slow to parse: a few kilobytes of gzip can be millions of
 * arrays. Throws `invalid_json` when it is nested deeper than `BODY_DEPTH`, or has more values and names than `most`: a
 * parser may set such limits (RFC 8259, 9). Whether it is JSON at all, the parser says.
 */
export async function checkStructure(text: Buffer, most: number): Promise<void> {
  const scan: Scan = { at: 0, isInString: false, depth: 0, found: 1 };
  for (;;) {
    proceed(scan, text);
    if (scan.depth > BODY_DEPTH || scan.found > most) throw new AppError('invalid_json');
    if (scan.at >= text.length) return;
    await nextTurn();
  }
}

/**
 * Scans one slice, or up to where it is too deep. Each comma and each opening bracket comes with one value, each colon
 * with one name; the text itself is one value more. So an empty array or object counts twice.
 */
function proceed(scan: Scan, text: Buffer): void {
  // Local variables: three times as fast as properties.
  let { at, isInString, depth, found } = scan;
  const end = Math.min(at + SLICE, text.length);
  while (at < end && depth <= BODY_DEPTH) {
    const byte = text[at];
    if (isInString) {
      // An escaped character ends no string.
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA || byte === COLON) found += 1;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
      found += 1;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    at += 1;
  }
  Object.assign(scan, { at, isInString, depth, found });
}
