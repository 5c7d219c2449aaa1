import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Box } from '../../shared/box.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { Part } from '../../shared/work/admission.ts';
import type { FactsOf, InputOf, Kind, Kinds, ReportOf } from '../../shared/work/kind.ts';

/** The handlers' connections to the database. */
export interface Stores {
  pool: Pool;
  em(): EntityManager;
}

/**
 * The context of an attempt. The signal aborts when the attempt must stop: in `leftMs()` at the latest. The log names
 * the work.
 */
export interface AttemptContext {
  signal: AbortSignal;
  leftMs(): number;
  log: Log;
}

export interface HandlerContext extends AttemptContext {
  /** Parts of the work, if its kind has parts. */
  parts: PartsOfWork;
}

/** Parts of a piece of work: work of the same party, and of the kind that its kind names in `parts`. */
export interface PartsOfWork {
  /** Admits parts, unless they are admitted already or this work has ended. Parts end in time to be reported. */
  admit(parts: readonly Part[]): Promise<void>;
  /**
   * Resolves when these parts have ended. Gives the handler's slot back for good, because parts need slots as well.
   */
  waitForEnd(ids: readonly string[]): Promise<void>;
}

/** A piece of claimed work. The handler takes the input out, so that only the handler keeps it in memory. */
export interface ClaimOf<K extends Kind> extends Omit<Claim<FactsOf<K>>, 'input'> {
  input: Box<InputOf<K>>;
}

/**
 * Performs one piece of claimed work. An `AppError` ends the work with its code, and a transient fault of the database
 * as `service_unavailable`. `ClaimLost` means that the work has ended or belongs to another attempt now. Any other
 * rejection ends the work as `internal_error`.
 */
export type Handler<K extends Kind, Context = HandlerContext> = (
  claim: ClaimOf<K>,
  context: Context,
) => Promise<End<ReportOf<K>>>;

/** Handlers of all kinds of a table. A missing handler does not compile. */
export type Handlers<Table extends Kinds> = { readonly [Name in keyof Table]: Handler<Table[Name]> };
