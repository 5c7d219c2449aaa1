import type { Static, TSchema } from 'typebox';
import * as jobs from '../../shared/schemas/jobs.ts';
import * as memory from '../../shared/schemas/memory.ts';
import * as context from '../../shared/schemas/memory-context.ts';

const example = <T extends TSchema>(schema: T, value: Static<T>): [TSchema, unknown] => [schema, value];

const NOW = '2026-11-20T10:00:00.000Z';
const RAW = {
  id: '019a9fd5-10c2-7a41-8f6b-2d1e3c4b5a60',
  content: 'Use pnpm here, not npm.',
  kind: 'reply' as const,
  role: 'human' as const,
  origin: 'human' as const,
  agent: 'coder',
  session_id: 'session-3',
  source: 'api',
  event_id: null,
  occurred_at: NOW,
  tags: ['tools'],
  metadata: { branch: 'main' },
  promoted_at: null,
  created_at: NOW,
};
const EPISODE = {
  id: '019a9fd6-2b7d-7c10-9a3e-4f5a6b7c8d90',
  title: 'Setting up the build',
  summary: 'The build was moved to pnpm, and the lockfile of npm removed.',
  started_at: NOW,
  ended_at: NOW,
  status: 'draft' as const,
  origin: 'human' as const,
  raw_ids: [RAW.id],
  tags: ['tools'],
  salience: 0.5,
  model: null,
  promoted_at: null,
  stale_at: null,
  created_at: NOW,
  updated_at: NOW,
};
const FACT = {
  id: '019a9fd7-5e3c-7d22-b1c4-6a7b8c9d0e1f',
  text: 'Uses pnpm, not npm.',
  kind: 'preference',
  slot: null,
  origin: 'human' as const,
  tags: ['tools'],
  confidence: 1,
  episode_ids: [EPISODE.id],
  valid_from: NOW,
  valid_to: null,
  recorded_at: NOW,
  invalidated_at: null,
  superseded_by: null,
  revision_of: null,
  stale_at: null,
  pinned: false,
  model: null,
  created_at: NOW,
  updated_at: NOW,
};
const PROFILE = { data: { team: 'sales' }, summary: 'Writes short, friendly mails.' };
const ROW_COUNTS = { matched: 1, returned: 1 };
const CONTEXT_META = {
  revision: 12,
  generated_at: NOW,
  window: { since: '2026-11-20T08:00:00.000Z', until: NOW, recency_minutes: 120 },
  filters: { goal: 'pnpm', tags: [] },
  counts: { facts: ROW_COUNTS, episodes: ROW_COUNTS, raw: ROW_COUNTS },
  timed_out: false,
  truncated: { facts: false, episodes: false, raw: false },
  excluded: { superseded: 1, stale: 0, expired: 0, not_yet_valid: 0, predicted_origin: 3 },
  token_estimate: 41,
  ranking: 'v2',
  promotion_backlog: { raw: 1, episodes: 1 },
};
const SYNC_RESULT = { scanned: 120, created: 96, skipped: 24, last_event_at: NOW };
const PROMOTE_RESULT = {
  created: 1,
  updated: 0,
  skipped: 0,
  considered: 12,
  ids: [EPISODE.id],
  model: 'gpt-5-mini',
  usage: { input_tokens: 1480, output_tokens: 96 },
  latency_ms: 2140,
};
const JOB_ID = '8f6b2d1e-3c4b-5a60-9d55-0f6f3f6e2a10';
const TIER_STATS = { count: 1, last_updated_at: NOW };

/** Examples of the memory's bodies: what one person said, and the memory made from it. */
export const MEMORY_EXAMPLES: [TSchema, unknown][] = [
  example(jobs.SyncRequest, { session_id: RAW.session_id }),
  example(jobs.SyncResult, SYNC_RESULT),
  example(jobs.PromoteRequest, { since: NOW, limit: 100 }),
  example(jobs.PromoteResult, PROMOTE_RESULT),
  example(jobs.JobReceipt, {
    job_id: JOB_ID,
    status_url: `https://forecue.example/api/jobs/${JOB_ID}/`,
  }),
  example(jobs.JobResponse, {
    id: JOB_ID,
    kind: 'sync',
    state: 'succeeded',
    progress: { done: 3, total: 3 },
    result: SYNC_RESULT,
    error: null,
    created_at: NOW,
    finished_at: NOW,
  }),
  example(memory.RawMemoryRequests, {
    content: RAW.content,
    kind: RAW.kind,
    agent: RAW.agent,
    session_id: RAW.session_id,
  }),
  example(memory.RawMemoryResponse, RAW),
  example(memory.RawMemoryPostResponse, RAW),
  example(memory.RawMemoryPage, { results: [RAW], next: null }),
  example(memory.EpisodeRequests, {
    title: EPISODE.title,
    summary: EPISODE.summary,
    started_at: NOW,
    ended_at: NOW,
  }),
  example(memory.EpisodeChange, { status: 'final' }),
  example(memory.EpisodeResponse, EPISODE),
  example(memory.EpisodePostResponse, EPISODE),
  example(memory.EpisodePage, { results: [EPISODE], next: null }),
  example(memory.FactRequests, { text: FACT.text, kind: FACT.kind, tags: FACT.tags }),
  example(memory.FactChange, { pinned: true }),
  example(memory.FactResponse, FACT),
  example(memory.FactPostResponse, FACT),
  example(memory.FactDetail, {
    ...FACT,
    sources: [{ tier: 'episode', id: EPISODE.id, quote: null }],
  }),
  example(memory.FactPage, { results: [FACT], next: null }),
  example(memory.ProfileRequest, PROFILE),
  example(memory.ProfileResponse, { ...PROFILE, revision: 1, created_at: NOW, updated_at: NOW }),
  example(memory.DeletionReceipt, {
    id: RAW.id,
    event_deleted: false,
    episodes: { deleted: 1, stale: 0 },
    facts: { deleted: 1, stale: 0, restored: 0 },
  }),
  example(context.ContextRequest, {
    query: 'Which package manager do I use?',
    goal: 'pnpm',
    recency_minutes: 120,
    max_facts: 20,
    max_episodes: 10,
    max_raw: 20,
  }),
  example(context.ContextResponse, {
    profile: { ...PROFILE, revision: 1, created_at: NOW, updated_at: NOW },
    facts: [FACT],
    episodes: [EPISODE],
    raw: [RAW],
    meta: CONTEXT_META,
  }),
  example(memory.MemoryStats, {
    profile: TIER_STATS,
    facts: TIER_STATS,
    episodes: TIER_STATS,
    raw: TIER_STATS,
  }),
];
