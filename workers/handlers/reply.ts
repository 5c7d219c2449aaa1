import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { persistently } from '../../shared/db/retries.ts';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { readCalibrator } from '../../shared/db/stores/replies/calibrator.ts';
import { readPairs } from '../../shared/db/stores/replies/pairs.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import { candidatesOf } from '../../shared/domain/replies/candidates.ts';
import { decideReply, type Proposed } from '../../shared/domain/replies/decide.ts';
import { proposeLocally } from '../../shared/domain/replies/local.ts';
import { fitMaterial } from '../../shared/domain/replies/material.ts';
import { type Screened, screen } from '../../shared/domain/replies/screen.ts';
import { type Pair, voteOf } from '../../shared/domain/replies/vote.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import type { Log } from '../../shared/log.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import type { ReplyContext, ReplyRequest } from '../../shared/schemas/replies.ts';
import type { reply } from '../../shared/work/kinds.ts';
import { REPLY_PROMPT_REVISION, replyQuestion } from '../prompts/reply.ts';
import { type Provider, ProviderError, type ProviderFault, type Usage } from '../providers/provider.ts';
import type { Allowance, Handler } from '../work/handler.ts';

/** With less time left another attempt is pointless. */
const SHORTEST_ATTEMPT_MS = 250;
/** Examples that a model is shown. */
const EXAMPLES_MAX = 8;

const FAILURES: Record<ProviderFault, { code: ErrorCode; source?: ErrorSource }> = {
  timeout: { code: 'prediction_timeout', source: 'provider' },
  not_configured: { code: 'provider_not_configured' },
  rate_limited: { code: 'provider_rate_limited' },
  failed: { code: 'provider_failed' },
};

type Asker = NonNullable<Provider['ask']>;

/** What is proposed, by which model, at what cost. */
interface Answered extends Proposed {
  model: string;
  usage: Usage;
}

export interface ReplyParts {
  pool: Pool;
  em: () => EntityManager;
  providerOf: (model: string) => Provider;
  settings: Pick<WorkerConfig, 'defaultModel' | 'provider' | 'providerTimeoutMs' | 'contextBudgetTokens'>;
  log: Log;
}

/**
 * Predicts what a person replies to an agent: reads their memory, takes out what would dictate a reply, asks the model for
 * candidates (or the person's own replies to similar prompts), and decides whether the first is certain enough to act on.
 */
export function createReply({ pool, em, providerOf, settings, log }: ReplyParts): Handler<typeof reply> {
  return async (claim, allowance) => {
    const since = performance.now();
    // The ingress wrote it, after validation.
    const request = JSON.parse(claim.input) as ReplyRequest;
    const { agent, agent_input: prompt, threshold } = request;
    const known = await persistently(
      () => readKnown(pool, em(), claim.party, request),
      since + allowance.leftMs(),
    );
    const vote = voteOf(prompt, known.pairs);
    const material = { ...known.bundle, examples: vote.neighbours.slice(0, EXAMPLES_MAX) };
    const screened = screen([prompt, agent], fitMaterial(prompt, material, settings.contextBudgetTokens));
    const model = request.model ?? settings.defaultModel;
    const { ask } = providerOf(model);
    try {
      const locally = () => ({
        ...proposeLocally(prompt, vote, known.pairs.length, request.k),
        model: LOCAL,
        usage: NOTHING,
      });
      const answered =
        ask === null
          ? locally()
          : await askModel(ask, { request, model, screened, claim }, settings, allowance).catch(
              (error: unknown) => {
                if (!settings.provider.fallbackModels.includes(LOCAL) || !isOutage(error)) throw error;
                return locally();
              },
            );
      const decided = decideReply(answered, {
        prompt,
        threshold,
        agent,
        model: answered.model,
        calibrator: known.calibrator,
        suspicion: screened.suspicion,
        history: known.pairs.map((pair) => pair.reply),
        supportOf: vote.shareOf,
      });
      const report = {
        ...decided,
        model: answered.model,
        latency_ms: Math.round(performance.now() - since),
        input_tokens: answered.usage.inputTokens,
        output_tokens: answered.usage.outputTokens,
        context: contextOf(
          known.memoryRevision,
          screened,
          answered.model === LOCAL ? vote.neighbours : screened.material.examples,
        ),
      };
      return { state: 'succeeded', report };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { fault, retryAfterMs } = error;
      log.warn({ reply: claim.id, fault, reason: error.message }, 'provider failed');
      return { state: 'failed', ...FAILURES[fault], retryAfterMs };
    }
  };
}

const LOCAL = 'local';
const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/** The rows that are worth most come first; the raw ones of them are the latest. */
async function readKnown(
  pool: Pool,
  em: EntityManager,
  accountId: string,
  { agent_input: query, recency_minutes: recencyMinutes }: ReplyRequest,
) {
  const bundle = await assembleContext(pool, accountId, { ...CONTEXT_DEFAULTS, query, recencyMinutes });
  const { byWorth, meta } = bundle;
  return {
    bundle: {
      profile: bundle.profile,
      facts: inOrder(bundle.facts, byWorth.facts),
      episodes: inOrder(bundle.episodes, byWorth.episodes),
      raw: bundle.raw,
    },
    memoryRevision: meta.revision,
    pairs: await readPairs(em, accountId),
    calibrator: await readCalibrator(em, accountId),
  };
}

function inOrder<Row extends { id: string }>(rows: readonly Row[], ids: readonly string[]): Row[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  return rows.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
}

interface Asked {
  request: ReplyRequest;
  model: string;
  screened: Screened;
  claim: Pick<Claim, 'id' | 'party' | 'attempt'>;
}

/** A refusal is an answer: nothing is proposed. An answer without any usable candidate is a fault. */
async function askModel(
  ask: Asker,
  { request, model, screened, claim }: Asked,
  settings: ReplyParts['settings'],
  { signal, leftMs }: Allowance,
): Promise<Answered> {
  const question = replyQuestion(screened.material, request);
  const charge = {
    accountId: claim.party,
    appId: null,
    workId: claim.id,
    attempt: claim.attempt,
    kind: 'reply',
  };
  const answer = await inAttempts(leftMs, () => {
    const timeoutMs = Math.min(settings.providerTimeoutMs, leftMs());
    return ask(question, { model, signal, timeoutMs, charge });
  });
  const cost = { model: answer.model, usage: answer.usage };
  if (answer.state === 'refused')
    return { candidates: [], closed: false, reason: 'The model refused to predict a reply.', ...cost };
  const { situation, candidates: proposals, none_of_these: none } = answer.value;
  const candidates = candidatesOf(
    proposals.map(({ needs_unknown_fact: needsUnknownFact, ...rest }) => ({ ...rest, needsUnknownFact })),
    none,
    request.k,
  );
  if (candidates.length === 0) throw new ProviderError('failed', 'unusable answer: no candidate');
  return { candidates, closed: situation === 'approval' || situation === 'choice', reason: '', ...cost };
}

/** Whether the provider itself is in trouble. */
function isOutage(error: unknown): boolean {
  return error instanceof ProviderError && error.outage;
}

/** Retries after a timeout while there is time; any other fault fails at once. */
async function inAttempts<T>(leftMs: () => number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const again =
        error instanceof ProviderError && error.fault === 'timeout' && leftMs() > SHORTEST_ATTEMPT_MS;
      if (!again) throw error;
    }
  }
}

/** Names every row of memory whose text may stand in the answer: a deletion finds the predictions by them. */
function contextOf(
  memoryRevision: number,
  { material, withheld }: Screened,
  examples: readonly Pair[],
): ReplyContext {
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const { profile, facts, episodes, raw, truncated } = material;
  return {
    prompt_revision: REPLY_PROMPT_REVISION,
    memory_revision: memoryRevision,
    profile: profile !== null,
    fact_ids: ids(facts),
    episode_ids: ids(episodes),
    raw_ids: [...new Set([...ids(raw), ...examples.flatMap(({ promptId }) => promptId ?? [])])],
    example_ids: ids(examples),
    withheld_ids: withheld,
    counts: {
      facts: facts.length,
      episodes: episodes.length,
      raw: raw.length,
      examples: examples.length,
    },
    truncated,
  };
}
