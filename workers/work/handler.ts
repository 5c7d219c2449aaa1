import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Box } from '../../shared/box.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { Part } from '../../shared/work/admission.ts';
import type { FactsOf, InputOf, Kind, Kinds, ReportOf } from '../../shared/work/kind.ts';

/** Connections of handlers to the database. */
export interface Stores {
  pool: Pool;
  em(): EntityManager;
}

/**
 * The time that a handler has: until the signal aborts, which is in `leftMs()` at the latest. Its log names the work.
 */
export interface AttemptContext {
  signal: AbortSignal;
  leftMs(): number;
  log: Log;
}

export interface HandlerContext extends AttemptContext {
  /** Parts of the work, for a kind that has some. */
  parts: PartsOfWork;
}

/** Parts of a piece of work: work of the same party, of the kind that its own kind names. */
export interface PartsOfWork {
  /** Admits parts, unless already admitted or this work has ended. They end in time for this work to report them. */
  admit(parts: readonly Part[]): Promise<void>;
  /**
   * Resolves when all of these parts have ended. Meanwhile the handler's slot is given back: parts need slots as well.
   */
  waitForEnd(ids: readonly string[]): Promise<void>;
}

/** A piece of claimed work. Its handler takes the input, which stays in memory only as long as the handler keeps it. */
export interface ClaimOf<K extends Kind> extends Omit<Claim<FactsOf<K>>, 'input'> {
  input: Box<InputOf<K>>;
}

/**
 * Performs one piece of claimed work. An `AppError` ends the work with its code, `ClaimLost` means that the work is
 * another attempt's by now, and any other rejection ends it as `internal_error`.
 */
export type Handler<K extends Kind, Context = HandlerContext> = (
  claim: ClaimOf<K>,
  context: Context,
) => Promise<End<ReportOf<K>>>;

/** A handler for every kind of a table: a missing one does not compile. */
export type Handlers<Table extends Kinds> = { readonly [Name in keyof Table]: Handler<Table[Name]> };
