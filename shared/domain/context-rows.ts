/** A question to memory, with the limits of its answer. */
export interface ContextQuery {
  /** Subject that the rows should be about; the goal by default. */
  query?: string;
  /** Text that every returned fact contains. */
  goal?: string;
  /** Tags of which every returned fact has at least one. */
  tags?: readonly string[];
  /** Maximum age of the episodes and raw rows; null for no limit. */
  recencyMinutes: number | null;
  maxFacts: number;
  maxEpisodes: number;
  maxRaw: number;
}

/** Columns of a fact in a bundle. */
export interface FactRow {
  id: string;
  text: string;
  kind: string | null;
  slot: string | null;
  origin: string;
  tags: string[];
  confidence: number;
  validFrom: Date | null;
  validTo: Date | null;
  recordedAt: Date;
  pinned: boolean;
  model: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Columns of an episode in a bundle. */
export interface EpisodeRow {
  id: string;
  title: string;
  summary: string;
  startedAt: Date;
  endedAt: Date;
  status: string;
  origin: string;
  tags: string[];
  salience: number;
  model: string | null;
  promotedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Columns of a raw row in a bundle. */
export interface RawRow {
  id: string;
  content: string;
  kind: string;
  role: string | null;
  origin: string;
  agent: string | null;
  sessionId: string | null;
  source: string;
  eventId: string | null;
  occurredAt: Date;
  tags: string[];
  metadata: Record<string, unknown>;
  promotedAt: Date | null;
  createdAt: Date;
}

/** Columns of the profile in a bundle. */
export interface ProfileRow {
  data: Record<string, unknown>;
  summary: string;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * Candidate rows of one tier: all that match the filters, or only those that are pinned, new, or about the question.
 */
export interface Candidates<Row> {
  rows: WithRelevance<Row>[];
  /** Number of rows that match the filters, counted up to a limit. */
  matched: number;
  /** False if candidates were left out of `rows` because together they are too large. */
  whole: boolean;
}

/** A row with its relevance to the question, from 0 (nothing in common) to 1 (the most relevant of its tier). */
export type WithRelevance<Row> = Row & { relevance: number };

/** A row with the number of rows from which it is derived, counted up to `SUPPORT_MAX`. */
export type WithSupport<Row> = Row & { support: number };

/** The rows of an account's memory from which a bundle is chosen, read in one snapshot. */
export interface Offer {
  revision: number;
  generatedAt: Date;
  /** Beginning of the time window; null for no limit. */
  since: Date | null;
  profile: ProfileRow | null;
  facts: Candidates<WithSupport<FactRow>> & {
    superseded: number;
    stale: number;
    expired: number;
    notYetValid: number;
  };
  episodes: Candidates<WithSupport<EpisodeRow>> & { stale: number };
  raw: Candidates<RawRow> & { predicted: number };
  backlog: { raw: number; episodes: number };
  /** True if reading the rows took too long. Then the offer has no rows, and nothing is counted. */
  timedOut: boolean;
}
