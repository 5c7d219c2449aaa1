import type { Episode, Fact, MemoryLink, Profile, RawMemory } from '../../shared/db/entities/memory.ts';
import type { RowWithSources } from '../../shared/db/stores/memory/links.ts';
import type { TierCount } from '../../shared/db/stores/memory/rows.ts';
import type {
  EpisodeResponse,
  FactResponse,
  MemorySource,
  MemoryStats,
  ProfileResponse,
  RawMemoryResponse,
} from '../../shared/schemas/memory.ts';

/** A row without the columns that no answer contains. */
type PublicRow<Row extends RawMemory | Episode | Fact> = Omit<
  Row,
  'account' | 'failures' | 'retryAt' | 'endedBy'
>;

/** The casts here and below are safe: each value was checked against its enum when the row was written. */
export function presentRaw(row: PublicRow<RawMemory>): RawMemoryResponse {
  return {
    id: row.id,
    content: row.content,
    kind: row.kind as RawMemoryResponse['kind'],
    role: (row.role ?? null) as RawMemoryResponse['role'],
    origin: row.origin as RawMemoryResponse['origin'],
    agent: row.agent ?? null,
    session_id: row.sessionId ?? null,
    source: row.source,
    event_id: row.eventId ?? null,
    occurred_at: row.occurredAt.toISOString(),
    tags: row.tags,
    metadata: row.metadata,
    promoted_at: isoTimeOf(row.promotedAt),
    created_at: row.createdAt.toISOString(),
  };
}

export function presentEpisode({ row, sources }: RowWithSources<PublicRow<Episode>>): EpisodeResponse {
  return {
    id: row.id,
    title: row.title,
    summary: row.summary,
    started_at: row.startedAt.toISOString(),
    ended_at: row.endedAt.toISOString(),
    status: row.status as EpisodeResponse['status'],
    origin: row.origin as EpisodeResponse['origin'],
    raw_ids: [...sources],
    tags: row.tags,
    salience: row.salience,
    model: row.model ?? null,
    promoted_at: isoTimeOf(row.promotedAt),
    stale_at: isoTimeOf(row.staleAt),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function presentFact({ row, sources }: RowWithSources<PublicRow<Fact>>): FactResponse {
  return {
    id: row.id,
    text: row.text,
    kind: row.kind ?? null,
    slot: row.slot ?? null,
    origin: row.origin as FactResponse['origin'],
    tags: row.tags,
    confidence: row.confidence,
    episode_ids: [...sources],
    valid_from: isoTimeOf(row.validFrom),
    valid_to: isoTimeOf(row.validTo),
    recorded_at: row.recordedAt.toISOString(),
    invalidated_at: isoTimeOf(row.invalidatedAt),
    superseded_by: row.supersededBy ?? null,
    revision_of: row.revisionOf ?? null,
    stale_at: isoTimeOf(row.staleAt),
    pinned: row.pinned,
    model: row.model ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function presentFactDetail({ row, links }: { row: Fact; links: MemoryLink[] }) {
  const episodes = links.filter(({ toTier }) => toTier === 'episode').map(({ toId }) => toId);
  return { ...presentFact({ row, sources: episodes }), sources: links.map(presentSource) };
}

export function presentSource({ toTier, toId, quote }: MemoryLink): MemorySource {
  return { tier: toTier as MemorySource['tier'], id: toId, quote: quote ?? null };
}

export function presentProfile(row: Omit<Profile, 'account'>): ProfileResponse {
  return {
    data: row.data,
    summary: row.summary,
    revision: row.revision,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function presentStats(counts: TierCount[], since: Date | undefined): MemoryStats {
  const tiers = counts.map(({ tier, count, lastUpdatedMs, countSince }) => [
    tier,
    {
      count,
      last_updated_at: lastUpdatedMs === null ? null : new Date(lastUpdatedMs).toISOString(),
      ...(since !== undefined && { count_since: countSince }),
    },
  ]);
  return Object.fromEntries(tiers);
}

function isoTimeOf(moment: Date | null | undefined): string | null {
  return moment?.toISOString() ?? null;
}
