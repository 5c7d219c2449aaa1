import type { Static, TSchema } from 'typebox';
import type { PoolName, WorkTimeouts } from '../config/config.ts';
import type { KindRows } from '../db/stores/work/rows.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import type { Change } from '../schemas/changes.ts';

/**
 * A party is an app or an account. Apps get a guaranteed share of each pool, because anybody can sign up for any number
 * of accounts, but only operators issue app keys.
 */
export type PartyClass = 'apps' | 'accounts';

/**
 * A kind of queued work. Its handler gets the request (`Input`) and data known at admission (`Facts`), and returns a
 * `Report`.
 */
export interface Kind<Input extends TSchema = TSchema, Facts = unknown, Report = unknown> {
  readonly name: string;
  /**
   * Schema of the request. Each attempt validates it, because an ingress of another version may have queued the work.
   */
  readonly input: Input;
  /** Pool whose slots run this kind. Kinds of the same pool share one fair queue. */
  readonly pool: PoolName;
  /** While both apps and accounts wait, apps together get at least half of the pool's slots. */
  readonly parties: PartyClass;
  /** `unit`: each admission reserves one of the app's plan. `tokens`: none without tokens left. Null: costs nothing. */
  readonly costs: 'unit' | 'tokens' | null;
  /** Setting with the time from admission to the deadline. A part instead ends at the deadline of its parent. */
  readonly deadline: keyof WorkTimeouts;
  readonly codes: { readonly timeout: ErrorCode; readonly cancelled: ErrorCode };
  /** True if queued work stays queued after its last caller has left. Otherwise, it ends as `abandoned`. */
  readonly outlivesCallers: boolean;
  /** True if at most one piece of a party's work of this kind runs at a time, across all workers. */
  readonly oneAtATime: boolean;
  /** Effects of the kind's work: rows of its own, and other work that ends with it. */
  readonly rows?: KindRows<Report>;
  /** SQL function of a request's line, app and facts, with whose result each attempt starts (`Claim.recalled`). */
  readonly recall?: string;
  /** What the work has changed of its account when it ends. */
  readonly changes?: Change;
  /** Never set. Carries the types for `FactsOf` and `ReportOf`. */
  readonly types?: { facts: Facts; report: Report };
}

export type InputOf<K extends Kind> = Static<K['input']>;
export type FactsOf<K> = K extends Kind<TSchema, infer Facts, unknown> ? Facts : never;
export type ReportOf<K> = K extends Kind<TSchema, unknown, infer Report> ? Report : never;

export type Kinds = Readonly<Record<string, Kind>>;

/** Throws for an unknown kind. Work never reaches a process that does not know its kind. */
export function kindNamed(kinds: Kinds, name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`no such kind of work: ${name}`);
  return kind;
}

export function kindsOfPool(kinds: Kinds, pool: PoolName): Kinds {
  return Object.fromEntries(Object.entries(kinds).filter(([, kind]) => kind.pool === pool));
}

export function kindNamesOfPool(kinds: Kinds, pool: PoolName): string[] {
  return Object.keys(kindsOfPool(kinds, pool));
}

/** Returns the SQL of what a claim recalls, for `ClaimTerms`. */
export function recallOf(kinds: Kinds): string {
  const calls = Object.values(kinds).flatMap(({ name, recall }) =>
    recall === undefined ? [] : ` when kind = '${name}' then ${recall}(line, party, facts)`,
  );
  return `case when line is null then null${calls.join('')} end`;
}
