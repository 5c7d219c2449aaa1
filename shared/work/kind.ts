import type { Static, TSchema } from 'typebox';
import type { Deadlines, PoolName } from '../config/config.ts';
import type { ErrorCode } from '../errors/catalogue.ts';

/**
 * Class of parties. Apps have a protected share of each pool, because only operators issue their keys, whereas anybody
 * can sign up for any number of accounts.
 */
export type PartyClass = 'apps' | 'accounts';

/**
 * One kind of queued work, declared once. Its types follow the work from admission to handler to the waiting caller:
 * `Input` is what its handler works on, `Facts` what is known at admission and stays in the history, `Report` what its
 * handler reports at the end.
 */
export interface Kind<Input extends TSchema = TSchema, Facts = unknown, Report = unknown> {
  readonly name: string;
  /** Schema of the input. Each attempt checks its input, since an ingress of another version may have written it. */
  readonly input: Input;
  /** Pool that serves it: `workers/main.ts <pool>`. Kinds of one pool share its slots in one fair order. */
  readonly pool: PoolName;
  /** Class of its parties. While both classes wait, apps together get at least half of a pool's slots. */
  readonly parties: PartyClass;
  /** True if each piece reserves a unit of the party's plan. */
  readonly charged: boolean;
  /** Setting of the time from admission to deadline, queue included. A part ends shortly before its parent instead. */
  readonly deadline: keyof Deadlines;
  /** Error codes of work that reaches its deadline, and of cancelled work. */
  readonly codes: { readonly timeout: ErrorCode; readonly cancelled: ErrorCode };
  /** True if queued work stays queued after its last caller has left; otherwise it is ended as `abandoned`. */
  readonly outlivesCallers: boolean;
  /** True if a party's work of this kind runs one piece after the other, over all workers. */
  readonly oneAtATime: boolean;
  /** Kind of its parts, if its handler admits parts and waits for them. */
  readonly parts?: Kind;
  /** Never set: it only tells `FactsOf` and `ReportOf` the types. */
  readonly types?: { facts: Facts; report: Report };
}

export type InputOf<K extends Kind> = Static<K['input']>;
export type FactsOf<K> = K extends Kind<TSchema, infer Facts, unknown> ? Facts : never;
export type ReportOf<K> = K extends Kind<TSchema, unknown, infer Report> ? Report : never;

/** A table of kinds by their names. */
export type Kinds = Readonly<Record<string, Kind>>;

/**
 * Returns the kind with this name. Throws if there is none: work never reaches a process that does not know its kind.
 */
export function kindNamed(kinds: Kinds, name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`no such kind of work: ${name}`);
  return kind;
}

/** Returns the kinds that a pool serves, by name. */
export function kindsOfPool(kinds: Kinds, pool: PoolName): Kinds {
  return Object.fromEntries(Object.entries(kinds).filter(([, kind]) => kind.pool === pool));
}

/** Lists the names of the kinds that a pool serves. */
export function kindNamesOfPool(kinds: Kinds, pool: PoolName): string[] {
  return Object.keys(kindsOfPool(kinds, pool));
}
