import type { Static, TSchema } from 'typebox';
import type { PoolName, WorkTimeouts } from '../config/config.ts';
import type { ErrorCode } from '../errors/catalogue.ts';

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
  /** True if each admission reserves a unit of the party's plan. */
  readonly charged: boolean;
  /** Setting with the time from admission to the deadline. A part instead ends shortly before its parent. */
  readonly deadline: keyof WorkTimeouts;
  readonly codes: { readonly timeout: ErrorCode; readonly cancelled: ErrorCode };
  /** True if queued work stays queued after its last caller has left. Otherwise, it ends as `abandoned`. */
  readonly outlivesCallers: boolean;
  /** True if at most one piece of a party's work of this kind runs at a time, across all workers. */
  readonly oneAtATime: boolean;
  /** Kind of the parts, if any, that this kind's handler queues and waits for. */
  readonly parts?: Kind;
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
