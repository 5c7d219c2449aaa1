import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Box } from '../../shared/box.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { Part } from '../../shared/work/admission.ts';
import type { FactsOf, InputOf, Kind, Kinds, ReportOf } from '../../shared/work/kind.ts';

/** The ways of handlers to the database. */
export interface Stores {
  pool: Pool;
  em(): EntityManager;
}

/** The time a handler has: until the signal aborts, which is `leftMs()` from now at the latest. Its log names the work. */
export interface Time {
  signal: AbortSignal;
  leftMs(): number;
  log: Log;
}

export interface Allowance extends Time {
  /** The parts, for a kind that has some. */
  parts: Parts;
}

/** The parts of a piece of work: work of the same party, of the kind that its own kind names. */
export interface Parts {
  /** Admits them, unless they were admitted before or this work has ended. They end in time for this work to report them. */
  admit(parts: readonly Part[]): Promise<void>;
  /** Resolves when all of them have ended. The handler's slot is given back: parts need slots as well. */
  ended(ids: readonly string[]): Promise<void>;
}

/** A piece of claimed work, whose input the handler takes. It is held while the handler works only if that keeps it. */
export interface ClaimOf<K extends Kind> extends Omit<Claim<FactsOf<K>>, 'input'> {
  input: Box<InputOf<K>>;
}

/**
 * Performs one piece of claimed work. An `AppError` ends it with its code, `ClaimLost` says that it is another's by now,
 * and any other rejection ends it as `internal_error`.
 */
export type Handler<K extends Kind, Given = Allowance> = (
  claim: ClaimOf<K>,
  given: Given,
) => Promise<End<ReportOf<K>>>;

/** A handler for every kind of a table: a missing one does not compile. */
export type Handlers<Table extends Kinds> = { readonly [Name in keyof Table]: Handler<Table[Name]> };
