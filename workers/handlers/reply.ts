import type { WorkerConfig } from '../../shared/config/config.ts';
import { persistently } from '../../shared/db/retries.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import { candidatesOf } from '../../shared/domain/replies/candidates.ts';
import { decideReply, type Proposed } from '../../shared/domain/replies/decide.ts';
import { proposeLocally } from '../../shared/domain/replies/local.ts';
import type { ReplyReport } from '../../shared/domain/replies/report.ts';
import type { Screened } from '../../shared/domain/replies/screen.ts';
import type { Pair } from '../../shared/domain/replies/vote.ts';
import type { End } from '../../shared/domain/work.ts';
import type { ErrorCode, ErrorSource } from '../../shared/errors/catalogue.ts';
import type { Log } from '../../shared/log.ts';
import type { ReplyContext, ReplyRequest } from '../../shared/schemas/replies.ts';
import type { reply } from '../../shared/work/kinds.ts';
import { REPLY_PROMPT_REVISION, replyQuestion } from '../prompts/reply.ts';
import { type Provider, ProviderError, type ProviderFault, type Usage } from '../providers/provider.ts';
import type { Handler, Time } from '../work/handler.ts';
import { type Basis, type BasisParts, readBasis } from './reply-basis.ts';

/** With less time left another attempt is pointless. */
const SHORTEST_ATTEMPT_MS = 250;

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

export interface ReplyParts extends BasisParts {
  providerOf: (model: string) => Provider;
  settings: Pick<
    WorkerConfig,
    'defaultModel' | 'provider' | 'providerTimeoutMs' | 'replyTimeoutMs' | 'contextBudgetTokens'
  >;
  log: Log;
}

type Predicted = Pick<Claim, 'id' | 'kind' | 'party' | 'attempt'>;

/**
 * Predicts what a person replies to an agent: asks the model for candidates (or takes the person's own replies to similar
 * prompts), and decides whether the first is certain enough to act on.
 */
export function createPredictReply({ providerOf, settings, log }: Omit<ReplyParts, 'pool' | 'em'>) {
  return async (
    claim: Predicted,
    request: ReplyRequest,
    time: Time,
    basis: () => Promise<Basis>,
  ): Promise<End<ReplyReport>> => {
    const since = performance.now();
    const { agent, agent_input: prompt, threshold } = request;
    const { screened, vote, pairs, calibrator, memoryRevision } = await persistently(
      basis,
      since + time.leftMs(),
    );
    const model = request.model ?? settings.defaultModel;
    const { ask } = providerOf(model);
    try {
      const locally = () => ({
        ...proposeLocally(prompt, vote, pairs.length, request.k),
        model: LOCAL,
        usage: NOTHING,
      });
      const answered =
        ask === null
          ? locally()
          : await askModel(ask, { request, model, screened, claim }, settings, time).catch(
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
        calibrator,
        suspicion: screened.suspicion,
        history: pairs.map((pair) => pair.reply),
        supportOf: vote.shareOf,
      });
      const report = {
        ...decided,
        model: answered.model,
        latency_ms: Math.round(performance.now() - since),
        input_tokens: answered.usage.inputTokens,
        output_tokens: answered.usage.outputTokens,
        context: contextOf(
          memoryRevision,
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

/** Reads the person's memory, takes out what would dictate a reply, and predicts. */
export function createReply(parts: ReplyParts): Handler<typeof reply, Time> {
  const predict = createPredictReply(parts);
  return (claim, time) => {
    // The ingress wrote it, after validation.
    const request = JSON.parse(claim.input) as ReplyRequest;
    return predict(claim, request, time, () => readBasis(parts, claim.party, request));
  };
}

const LOCAL = 'local';
const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

interface Asked {
  request: ReplyRequest;
  model: string;
  screened: Screened;
  claim: Predicted;
}

/** A refusal is an answer: nothing is proposed. An answer without any usable candidate is a fault. */
async function askModel(
  ask: Asker,
  { request, model, screened, claim }: Asked,
  settings: ReplyParts['settings'],
  { signal, leftMs }: Time,
): Promise<Answered> {
  const question = replyQuestion(screened.material, request);
  const charge = {
    accountId: claim.party,
    appId: null,
    workId: claim.id,
    attempt: claim.attempt,
    kind: claim.kind,
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
