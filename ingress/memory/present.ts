import type { Episode, Fact, MemoryLink, Profile, RawMemory } from '../../shared/db/entities/memory.ts';
import type { RowWithSources } from '../../shared/db/stores/memory/links.ts';
import type { TierCount } from '../../shared/db/stores/memory/rows.ts';
import {
  EpisodeResponse,
  FactResponse,
  type MemorySource,
  type MemoryStats,
  ProfileResponse,
  RawMemoryResponse,
} from '../../shared/schemas/memory.ts';
import { present } from '../../shared/schemas/present.ts';

/** A row without the columns that no answer contains. */
type PublicRow<Row extends RawMemory | Episode | Fact> = Omit<
  Row,
  'account' | 'failures' | 'retryAt' | 'endedBy' | 'witness'
>;

export function presentRaw(row: PublicRow<RawMemory>): RawMemoryResponse {
  return present(RawMemoryResponse, row);
}

export function presentEpisode({ row, sources }: RowWithSources<PublicRow<Episode>>): EpisodeResponse {
  return present(EpisodeResponse, row, { raw_ids: [...sources] });
}

export function presentFact({ row, sources }: RowWithSources<PublicRow<Fact>>): FactResponse {
  return present(FactResponse, row, { episode_ids: [...sources] });
}

export function presentFactDetail({ row, links }: { row: Fact; links: MemoryLink[] }) {
  const episodes = links.filter(({ toTier }) => toTier === 'episode').map(({ toId }) => toId);
  return { ...presentFact({ row, sources: episodes }), sources: links.map(presentSource) };
}

export function presentSource({ toTier, toId, quote }: MemoryLink): MemorySource {
  // Each value was checked against its enum when the row was written.
  return { tier: toTier as MemorySource['tier'], id: toId, quote: quote ?? null };
}

export function presentProfile(row: Omit<Profile, 'account'>): ProfileResponse {
  return present(ProfileResponse, row);
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
