import type { EpisodeResponse, FactResponse, ProfileResponse, RawMemoryResponse } from '../schemas/memory.ts';
import type { RowOf } from '../schemas/present.ts';

export interface ContextQuery {
  /** Subject that the rows should be about; the goal by default. */
  query?: string;
  /** Text that every returned fact contains. */
  goal?: string;
  /** Tags of which every returned fact has at least one. */
  tags?: readonly string[];
  /** Names of projects. Rows of others are left out, but not rows of none. */
  projects?: readonly string[];
  /** Maximum age of the episodes and raw rows, not of facts; null for no limit. */
  recencyMinutes: number | null;
  maxFacts: number;
  maxEpisodes: number;
  maxRaw: number;
  /** If true, raw rows that the person has not written are chosen only if there is room beside those that they have. */
  ownFirst?: boolean;
}

export type FactRow = RowOf<
  Omit<FactResponse, 'episode_ids' | 'invalidated_at' | 'superseded_by' | 'revision_of' | 'stale_at'>
>;
export type EpisodeRow = RowOf<Omit<EpisodeResponse, 'raw_ids' | 'stale_at'>>;
export type RawRow = RowOf<RawMemoryResponse>;
export type ProfileRow = RowOf<ProfileResponse>;

/**
 * The rows of one tier (facts, episodes or raw rows) that may be chosen: all that match the filters, or only the pinned
 * ones, the new ones and those about the question.
 */
export interface TierCandidates<Row> {
  rows: WithRelevance<Row>[];
  /** Number of rows that match the filters, counted up to a limit. */
  matched: number;
  /** False if candidates were left out of `rows` because together they are too large. */
  whole: boolean;
}

/** `relevance` is from 0 (nothing in common with the question) to 1 (the most relevant row of its tier). */
export type WithRelevance<Row> = Row & { relevance: number };

/** `support` is the number of rows from which the row is derived, counted up to `SUPPORT_MAX`. */
export type WithSupport<Row> = Row & { support: number };

/** The rows of an account's memory from which a bundle is chosen, read in one snapshot. */
export interface ContextCandidates {
  revision: number;
  generatedAt: Date;
  since: Date | null;
  profile: ProfileRow | null;
  facts: TierCandidates<WithSupport<FactRow>> & {
    superseded: number;
    stale: number;
    expired: number;
    notYetValid: number;
  };
  episodes: TierCandidates<WithSupport<EpisodeRow>> & { stale: number };
  raw: TierCandidates<RawRow> & { predicted: number };
  backlog: { raw: number; episodes: number };
  /** True if reading the rows took too long. Then there are no rows, and nothing is counted. */
  timedOut: boolean;
}
