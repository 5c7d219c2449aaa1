import { AssertionError } from 'node:assert/strict';
import { call, type Reply } from '../client.ts';
import { endOf } from '../flood.ts';
import { promisedMs } from '../scale.ts';

export type Kind = 'prediction' | 'draft' | 'reply' | 'batch' | 'sync' | 'promotion';

const DEADLINE_MS = 8000;
const JOB_DEADLINE_MS = 20_000;
/** Settings with these deadlines. */
export const DEADLINES = {
  PREDICTION_TIMEOUT_MS: `${DEADLINE_MS}`,
  REPLY_TIMEOUT_MS: `${DEADLINE_MS}`,
  BATCH_TIMEOUT_MS: `${JOB_DEADLINE_MS}`,
  SYNC_TIMEOUT_MS: `${JOB_DEADLINE_MS}`,
  PROMOTE_TIMEOUT_MS: `${JOB_DEADLINE_MS}`,
};
const PROMISED_MS = 1000;
const LATE_MS = promisedMs(PROMISED_MS, 10_000);
const PULSE_MS = 100;
const HUNG_MS = 60_000;
/** Ends that these calls may have, of those that the endpoints document. */
const ENDS =
  /^(200|202|408 request_timeout|409 request_in_flight|499 \w+_(cancelled|superseded)|502 provider_failed|503 (service_unavailable|overloaded|provider_rate_limited)|429 provider_rate_limited|504 \w+_timeout)$/;
const STALE = '409 context_revision_conflict';

export interface Party {
  id: string;
  /** Credential. */
  headers: Record<string, string>;
}

/** One request, however often it is sent. */
export interface Request {
  kind: Kind;
  party: Party;
  path: string;
  body: object;
  headers?: Record<string, string>;
  /** Number of predictions that it asks for. */
  predictions: number;
  mark?: string;
  /** True if a newer draft of its line was sent. */
  isOld?: boolean;
  /** Text of its 200, or the end that no repeat changes. */
  outcome?: string;
  /** Status in the answer to its cancellation. */
  told?: string;
}

interface Sending {
  at: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** All that was asked in a trial, and every answer that should not have been given. */
export class Calls {
  readonly requests: Request[] = [];
  readonly ends = new Map<string, number>();
  readonly violations = new Map<string, string[]>();
  /** The latest answer's time after its deadline. */
  latestMs = 0;
  /** Answers that came more than a second after their deadline. */
  lateCount = 0;
  /** For how long this process has got no turn, because the machine was busy. */
  #lagMs = 0;
  /** Returns for how long the ingress at the address was frozen since a time of `performance.now()`. */
  readonly #frozenMs: (at: string, since: number) => number;

  constructor(frozenMs: (at: string, since: number) => number) {
    this.#frozenMs = frozenMs;
    let at = performance.now();
    setInterval(() => {
      this.#lagMs += Math.max(0, performance.now() - at - 2 * PULSE_MS);
      at = performance.now();
    }, PULSE_MS).unref();
  }

  add(request: Request): Request {
    this.requests.push(request);
    return request;
  }

  violate(rule: string, example: string): void {
    this.violations.set(rule, [...(this.violations.get(rule) ?? []), example]);
    console.log(`${new Date().toISOString()} VIOLATION ${rule}: ${example}`);
  }

  /** Sends the request once. Returns the answer, if there was one. */
  async ask<Body>(request: Request, sending: Sending): Promise<Reply<Body> | undefined> {
    const { kind, path, body, headers } = request;
    const [since, lagMs] = [performance.now(), this.#lagMs];
    const all = { ...sending, headers: { ...headers, ...sending.headers } };
    const reply = await this.send<Body>(request.party, 'POST', path, body, all);
    if (reply === undefined) return undefined;
    const end = endOf(reply);
    const count = `${kind} ${end}`;
    this.ends.set(count, (this.ends.get(count) ?? 0) + 1);
    const isStale = request.isOld === true && end === STALE;
    if (!ENDS.test(end) && !isStale) this.violate('undocumented', `${kind} ${reply.text}`);
    const isJob = ['batch', 'sync', 'promotion'].includes(kind);
    const standstillMs = this.#frozenMs(sending.at, since) + this.#lagMs - lagMs;
    const lateMs = reply.tookMs - standstillMs - (isJob ? JOB_DEADLINE_MS : DEADLINE_MS);
    this.latestMs = Math.max(this.latestMs, lateMs);
    if (lateMs > PROMISED_MS) this.lateCount += 1;
    if (lateMs > LATE_MS) this.violate('late', `${kind} ${end}, ${Math.round(lateMs)} ms after its deadline`);
    if (reply.status === 200 || reply.status === 499 || isStale) {
      const outcome = reply.status === 200 ? reply.text : end;
      request.outcome ??= outcome;
      if (request.outcome !== outcome) this.violate('two outcomes', `${request.outcome} ${outcome}`);
    }
    return reply;
  }

  async send<Body>(
    party: Party,
    method: string,
    path: string,
    body: object | undefined,
    { at, headers, signal }: Sending,
  ): Promise<Reply<Body> | undefined> {
    const hung = AbortSignal.timeout(HUNG_MS);
    try {
      const reply = await call<Body>(method, at + path, body, {
        headers: { ...party.headers, ...headers },
        signal: signal === undefined ? hung : AbortSignal.any([hung, signal]),
      });
      if ([429, 503].includes(reply.status) && !(Number(reply.headers.get('retry-after')) >= 1))
        this.violate('no Retry-After', reply.text);
      return reply;
    } catch (error) {
      if (error instanceof AssertionError) this.violate('undocumented', error.message);
      else if (hung.aborted) this.violate('hung', `${path} at ${at}`);
      return undefined;
    }
  }
}
