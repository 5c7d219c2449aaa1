import type { Static, TSchema } from 'typebox';
import { ActivityResponse } from '../../shared/schemas/activity.ts';
import * as drafts from '../../shared/schemas/drafts.ts';
import * as replies from '../../shared/schemas/replies.ts';

const example = <T extends TSchema>(schema: T, value: Static<T>): [TSchema, unknown] => [schema, value];

const NOW = '2026-11-20T10:00:00.000Z';
const LATER = '2026-11-20T10:00:04.000Z';
const REPLY = {
  id: '019a9fd8-6f4d-7e33-92d5-7b8c9d0e1f2a',
  predicted_response: 'pnpm',
  confidence: 0.86,
  reasoning: 'The person gave this reply to three similar prompts.',
  candidates: [
    { response: 'pnpm', confidence: 0.86, reasoning: 'The person gave this reply to three similar prompts.' },
    { response: 'npm is fine', confidence: 0.06, reasoning: 'Only said for packages of others.' },
  ],
  k: 2,
  status: 'auto' as const,
  threshold: 0.8,
  model: 'gpt-5-mini',
  latency_ms: 840,
  usage: { input_tokens: 1210, output_tokens: 74 },
};
const SUMMARY = {
  ...REPLY,
  status: 'accepted' as const,
  agent: 'coder',
  session_id: 'session-3',
  created_at: NOW,
  acted_at: NOW,
  actual_response: REPLY.predicted_response,
  feedback_at: LATER,
  error: null,
};
const PROMPT = 'Which package manager shall I use here, npm or pnpm?';

/** Examples for drafts, activity and predicted replies, with the same person and session as the memory examples. */
export const REPLY_EXAMPLES: [TSchema, unknown][] = [
  example(drafts.DraftRequest, {
    draft: 'Please run the tests with',
    mode: 'complete_draft',
    language: 'en',
    messages: [{ role: 'assistant', content: 'The change is ready. What next?', origin: 'agent' }],
  }),
  example(drafts.DraftResponse, {
    status: 'suggested',
    completion: ' coverage.',
    confidence: 0.75,
    model: 'gpt-5-mini',
    sent: [{ role: 'user', content: '<record>{"draft":"Please run the tests with"}</record>' }],
    context: {
      profile: true,
      fact_ids: ['019a9fd8-7a10-7b21-8c32-9d43ae54bf65'],
      episode_ids: [],
      raw_ids: [],
      truncated: false,
    },
    usage: { input_tokens: 640, output_tokens: 6 },
    timing: { queue_ms: 3, memory_ms: 6, model_ms: 310, total_ms: 324 },
  }),
  example(ActivityResponse, {
    days: [
      {
        date: '2026-11-20',
        by_status: { pending: 0, auto: 6, escalated: 2, accepted: 3, edited: 1, rejected: 1 },
        characters_saved: 312,
        facts: 4,
        episodes: 2,
        raw: 58,
        model_calls: 15,
        cost_cents: 1.25,
      },
    ],
  }),
  example(replies.ReplyRequest, {
    agent: SUMMARY.agent,
    agent_input: PROMPT,
    k: REPLY.k,
    threshold: REPLY.threshold,
    recency_minutes: 60,
    session_id: SUMMARY.session_id,
  }),
  example(replies.ReplyResponse, REPLY),
  example(replies.BatchRequest, {
    prompts: [
      { agent: SUMMARY.agent, agent_input: PROMPT, session_id: SUMMARY.session_id },
      { agent: SUMMARY.agent, agent_input: 'Shall I go on with the tests?', session_id: null },
    ],
    k: REPLY.k,
    threshold: REPLY.threshold,
    recency_minutes: 60,
  }),
  example(replies.BatchResponse, {
    results: [
      { index: 0, prediction: REPLY },
      { index: 1, error: { code: 'provider_failed' } },
    ],
    succeeded: 1,
    failed: 1,
    usage: REPLY.usage,
    latency_ms: 1040,
  }),
  example(replies.ReplyDetail, {
    ...SUMMARY,
    agent_input: PROMPT,
    context: {
      prompt_revision: 2,
      memory_revision: 7,
      profile: true,
      fact_ids: ['019a9fd7-5e3c-7d22-b1c4-6a7b8c9d0e1f'],
      episode_ids: [],
      raw_ids: ['019a9fd5-10c2-7a41-8f6b-2d1e3c4b5a60'],
      example_ids: [],
      withheld_ids: [],
      counts: { facts: 1, episodes: 0, raw: 1, examples: 0 },
      truncated: false,
    },
  }),
  example(replies.ReplyList, { total: 1, limit: 50, offset: 0, results: [SUMMARY] }),
  example(replies.FeedbackRequest, { status: 'accepted' }),
  example(replies.ReplyStats, {
    total: 40,
    by_status: { pending: 1, auto: 12, escalated: 9, accepted: 14, edited: 3, rejected: 1 },
    precision: 26 / 30,
    automation_rate: 30 / 40,
  }),
  example(replies.ReplyCalibration, {
    bins: [{ lo: 0.41, hi: 0.97, count: 15, mean_confidence: 0.82, observed: 0.8 }],
    brier: 0.11,
    suggested_threshold: null,
    feedback_count: 15,
    evidence: {
      target: 0.95,
      labels: 15,
      coverage: 1,
      precision: 0.8,
      precision_low: 0.59,
      precision_high: 0.92,
      reason: 'too_little_feedback',
    },
  }),
];
