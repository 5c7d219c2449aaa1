import type { Claim } from '../shared/db/stores/work/claim.ts';
import type { End } from '../shared/domain/work.ts';
import type { FactsOf, Kind, Kinds, ReportOf } from '../shared/work/kind.ts';

/** What a handler may spend: until the signal aborts, and `leftMs()` of it remain. */
export interface Allowance {
  signal: AbortSignal;
  leftMs(): number;
}

/** Performs one piece of claimed work. It may reject with anything: the work ends all the same. */
export type Handler<K extends Kind> = (
  claim: Claim<FactsOf<K>>,
  allowance: Allowance,
) => Promise<End<ReportOf<K>>>;

/** A handler for each kind of a table: a missing one does not compile. */
export type Handlers<Table extends Kinds> = { readonly [Name in keyof Table]: Handler<Table[Name]> };
