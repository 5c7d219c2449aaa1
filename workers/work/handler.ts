import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { End } from '../../shared/domain/work.ts';
import type { FactsOf, Kind, Kinds, ReportOf } from '../../shared/work/kind.ts';

/** How handlers reach the database. */
export interface Stores {
  pool: Pool;
  em(): EntityManager;
}

/** The time a handler has: until the signal aborts, which is `leftMs()` from now at the latest. */
export interface Allowance {
  signal: AbortSignal;
  leftMs(): number;
}

/**
 * Performs one piece of claimed work. An `AppError` ends it with its code, `ClaimLost` says that it is another's by now,
 * and any other rejection ends it as `internal_error`.
 */
export type Handler<K extends Kind> = (
  claim: Claim<FactsOf<K>>,
  allowance: Allowance,
) => Promise<End<ReportOf<K>>>;

/** A handler for every kind of a table: a missing one does not compile. */
export type Handlers<Table extends Kinds> = { readonly [Name in keyof Table]: Handler<Table[Name]> };
