/** A question to memory, and how many rows may answer it. */
export interface ContextQuery {
  /** The subject of the rows: the goal, by default. */
  query?: string;
  /** Facts have it in their text. */
  goal?: string;
  /** Facts have one of them. */
  tags?: readonly string[];
  /** The window of episodes and raw rows; null: ever. */
  recencyMinutes: number | null;
  maxFacts: number;
  maxEpisodes: number;
  maxRaw: number;
}

/** The columns of a tier that a bundle has. */
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

export interface ProfileRow {
  data: Record<string, unknown>;
  summary: string;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Rows of a tier to choose from: all that match, or those that are pinned, new, or about the question. */
export interface Candidates<Row> {
  rows: About<Row>[];
  /** Number of rows that match, counted up to a limit. */
  matched: number;
  /** False: some were left out because all together are too large. */
  whole: boolean;
}

/** A row, and how relevant it is to the question: from 0, nothing in common, to 1, the most relevant of its tier. */
export type About<Row> = Row & { relevance: number };

/** A row, and how many rows it is derived from. */
export type Supported<Row> = Row & { support: number };

/** The rows that one account's memory offers, in one snapshot. */
export interface Offer {
  revision: number;
  generatedAt: Date;
  /** Null: no limit of time. */
  since: Date | null;
  profile: ProfileRow | null;
  facts: Candidates<Supported<FactRow>> & {
    superseded: number;
    stale: number;
    expired: number;
    notYetValid: number;
  };
  episodes: Candidates<Supported<EpisodeRow>> & { stale: number };
  raw: Candidates<RawRow> & { predicted: number };
  backlog: { raw: number; episodes: number };
  /** Reading the rows took too long, so there are none, and nothing is counted. */
  timedOut: boolean;
}
