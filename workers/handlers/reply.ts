import type { WorkerConfig } from '../../shared/config/config.ts';
import { persistently } from '../../shared/db/retries.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import { decideReply, type Proposed } from '../../shared/domain/replies/decide.ts';
import { proposeLocally } from '../../shared/domain/replies/local.ts';
import type { ReplyReport } from '../../shared/domain/replies/report.ts';
import type { Screened } from '../../shared/domain/replies/screen.ts';
import type { Pair } from '../../shared/domain/replies/vote.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { ReplyContext, ReplyRequest } from '../../shared/schemas/replies.ts';
import type { reply } from '../../shared/work/kinds.ts';
import { REPLY_PROMPT_REVISION, readReply, replyQuestion } from '../prompts/reply.ts';
import { type Provider, ProviderError, type Usage } from '../providers/provider.ts';
import type { Handler, Time } from '../work/handler.ts';
import { failureOf, inAttempts } from './asking.ts';
import { type Basis, type BasisParts, readBasis } from './reply-basis.ts';

const LOCAL = 'local';
const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

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
export function createPredictReply({
  providerOf,
  settings,
  log,
}: Pick<ReplyParts, 'providerOf' | 'settings' | 'log'>) {
  /** The person's own replies vote where there is no model, or where `local` stands in for one in trouble. */
  const propose = async (asked: Asked, { vote, pairs }: Basis, time: Time): Promise<Answered> => {
    const { agent_input: prompt, k } = asked.request;
    const locally = () => ({
      ...proposeLocally(prompt, vote, pairs.length, k),
      model: LOCAL,
      usage: NOTHING,
    });
    const { ask } = providerOf(asked.model);
    if (ask === null) return locally();
    try {
      return await askModel(ask, asked, settings, time);
    } catch (error) {
      if (!isOutage(error) || !settings.provider.fallbackModels.includes(LOCAL)) throw error;
      return locally();
    }
  };

  return async (
    claim: Predicted,
    request: ReplyRequest,
    time: Time,
    basis: () => Promise<Basis>,
  ): Promise<End<ReplyReport>> => {
    const since = performance.now();
    const { agent, agent_input: prompt, threshold } = request;
    const read = await persistently(basis, since + time.leftMs());
    const { screened, vote, pairs, calibrator, memoryRevision } = read;
    const model = request.model ?? settings.defaultModel;
    try {
      const answered = await propose({ request, model, screened, claim }, read, time);
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
      log.warn({ reply: claim.id, fault: error.fault, reason: error.message }, 'provider failed');
      return failureOf(error);
    }
  };
}

/** Reads the person's memory, takes out what would dictate a reply, and predicts. */
export function createReply(parts: ReplyParts): Handler<typeof reply, Time> {
  const predict = createPredictReply(parts);
  return (claim, time) => {
    // The ingress wrote it, after validation.
    const request = JSON.parse(claim.input) as ReplyRequest;
    const { party } = claim;
    const reader = { party, memory: party, gone: time.signal };
    return predict(claim, request, time, () => parts.inTurn(reader, () => readBasis(parts, party, request)));
  };
}

interface Asked {
  request: ReplyRequest;
  model: string;
  screened: Screened;
  claim: Predicted;
}

/** A refusal is a fault, like any other answer without a usable candidate. */
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
  if (answer.state === 'refused') throw new ProviderError('failed', 'the model refused');
  const read = readReply(answer.value, request.k);
  if (read.candidates.length === 0) throw new ProviderError('failed', 'unusable answer: no candidate');
  return { ...read, reason: '', model: answer.model, usage: answer.usage };
}

/** Whether the provider itself is in trouble. */
function isOutage(error: unknown): boolean {
  return error instanceof ProviderError && error.outage;
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
