import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';
import type { CountRequest } from '../limits/request-limits.ts';
import { BodyBudget, type BodyShare, UNCOUNTED } from './body-budget.ts';
import type { Credential } from './endpoint.ts';
import { checkStructure } from './json-structure.ts';
import { receive } from './receive.ts';
import type { RequestContext } from './request-context.ts';

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
  /** Whether the body counts against the budget until the answer is sent. */
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
