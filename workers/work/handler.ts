import type { Box } from '../../shared/box.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { AddJobs } from '../../shared/work/jobs.ts';
import type { FactsOf, InputOf, Kind, Kinds, ReportOf } from '../../shared/work/kind.ts';

/** `signal` aborts when the attempt must stop, in `leftMs()` milliseconds at the latest. */
export interface AttemptContext {
  signal: AbortSignal;
  leftMs(): number;
  log: Log;
}

export interface HandlerContext extends AttemptContext {
  addJobs: AddJobs;
}

/** The handler takes the input out of its box, so that only the handler keeps it in memory. */
export interface ClaimOf<K extends Kind> extends Omit<Claim<FactsOf<K>>, 'input'> {
  input: Box<InputOf<K>>;
}

/**
 * A rejection ends the work with an error code: that of an `AppError`, `service_unavailable` for a transient database
 * fault, and otherwise `internal_error`. After `ClaimLost`, nothing is stored, because the work has ended or belongs to
 * another attempt.
 */
export type Handler<K extends Kind, Context = HandlerContext> = (
  claim: ClaimOf<K>,
  context: Context,
) => Promise<End<ReportOf<K>>>;

export type Handlers<Table extends Kinds> = { readonly [Name in keyof Table]: Handler<Table[Name]> };
