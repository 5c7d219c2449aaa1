import type { Static, TSchema } from 'typebox';
import type { Deadlines, PoolName } from '../config/config.ts';
import type { ErrorCode } from '../errors/catalogue.ts';

/**
 * Apps have a protected share of each pool, because only operators issue their keys, whereas anybody can sign up for
 * any number of accounts.
 */
export type PartyClass = 'apps' | 'accounts';

/**
 * One kind of queued work: its handler works on the `Input`, gets `Facts` that are known at admission, and ends with a
 * `Report`.
 */
export interface Kind<Input extends TSchema = TSchema, Facts = unknown, Report = unknown> {
  readonly name: string;
  /** Each attempt checks its input, since an ingress of another version may have written it. */
  readonly input: Input;
  /** Kinds of one pool share its slots in one fair order. */
  readonly pool: PoolName;
  /** While both classes wait, apps together get at least half of a pool's slots. */
  readonly parties: PartyClass;
  /** True if each piece reserves a unit of the party's plan. */
  readonly charged: boolean;
  /** Setting of the time from admission to deadline. A part ends shortly before its parent instead. */
  readonly deadline: keyof Deadlines;
  readonly codes: { readonly timeout: ErrorCode; readonly cancelled: ErrorCode };
  /** True if queued work stays queued after its last caller has left; otherwise it ends as `abandoned`. */
  readonly outlivesCallers: boolean;
  /** True if a party's work of this kind runs one piece after the other, over all workers. */
  readonly oneAtATime: boolean;
  /** Kind of its parts, if its handler admits parts and waits for them. */
  readonly parts?: Kind;
  /** Never set; only for the types. */
  readonly types?: { facts: Facts; report: Report };
}

export type InputOf<K extends Kind> = Static<K['input']>;
export type FactsOf<K> = K extends Kind<TSchema, infer Facts, unknown> ? Facts : never;
export type ReportOf<K> = K extends Kind<TSchema, unknown, infer Report> ? Report : never;

export type Kinds = Readonly<Record<string, Kind>>;

/** Throws if there is none: work never reaches a process that does not know its kind. */
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
