import type { IngressConfig } from '../config/config.ts';
import type { PoolName } from '../config/pools.ts';

/**
 * One sort of queued work, declared once. Its types go with it, from admission to handler to the waiting caller:
 * `Facts` is what is known at admission and stays with its history, `Report` what its handler tells at the end.
 */
export interface Kind<Facts = unknown, Report = unknown> {
  readonly name: string;
  /** The processes that serve it: `workers/main.ts <pool>`. Kinds of one pool share its slots in one fair order. */
  readonly pool: PoolName;
  /** How far one piece moves its party on in the fair order: a kind with a larger step gets a smaller share. */
  readonly step: number;
  /** Whether each piece reserves a unit of the party's plan. */
  readonly charged: boolean;
  /** The setting that says how long a call waits for it, queue included; the work ends then, whatever has become of it. */
  readonly deadline: keyof Deadlines;
  /** Never set: it carries the types. */
  readonly types?: { facts: Facts; report: Report };
}

/** Settings of the ingress that are deadlines, in milliseconds. */
export type Deadlines = Pick<IngressConfig, 'predictionTimeoutMs'>;

export type FactsOf<K> = K extends Kind<infer Facts, unknown> ? Facts : never;
export type ReportOf<K> = K extends Kind<unknown, infer Report> ? Report : never;

/** Declares a kind: `defineKind<Facts, Report>({ … })`. */
export function defineKind<Facts, Report>(kind: Omit<Kind<Facts, Report>, 'types'>): Kind<Facts, Report> {
  return kind;
}

/** A table of kinds by their names. */
export type Kinds = Readonly<Record<string, Kind>>;

/** The names of the kinds that a pool serves. */
export function kindsOf(kinds: Kinds, pool: PoolName): string[] {
  return Object.values(kinds).flatMap((kind) => (kind.pool === pool ? [kind.name] : []));
}
