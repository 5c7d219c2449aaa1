import type { WorkerConfig } from '../../shared/config/config.ts';
import { type AccessLog, readsOf } from '../../shared/db/access-log.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import { decideReply, type ReplyProposal } from '../../shared/domain/replies/decide.ts';
import type { PromptReply, VoteResult } from '../../shared/domain/replies/vote.ts';
import { type AskerTerms, type ReplyReport, thresholdInForce } from '../../shared/domain/replies/work.ts';
import type { End } from '../../shared/domain/work.ts';
import { idsOf } from '../../shared/ids.ts';
import type { ReplyContext, ReplyInput } from '../../shared/schemas/replies.ts';
import { codesIn, withoutCodes } from '../../shared/text/codes.ts';
import { endsWithClosedQuestion } from '../../shared/text/meaning.ts';
import { containsSecret } from '../../shared/text/secrets.ts';
import { reply } from '../../shared/work/kinds.ts';
import {
  chargeOfAccount,
  isOutage,
  NO_USAGE,
  type Provider,
  ProviderError,
  providerFailureEnd,
  retryAfterTimeouts,
  type Usage,
} from '../providers/provider.ts';
import type { AttemptContext, Handler } from '../work/handler.ts';
import { type Basis, type BasisDependencies, readBasis } from './basis.ts';
import { REPLY_PROMPT_REVISION, readReply, replyQuestion } from './prompt.ts';
import type { ScreenedMaterial } from './screen.ts';

type Asker = NonNullable<Provider['ask']>;

interface ModelProposal extends ReplyProposal {
  model: string;
  usage: Usage;
}

export interface ReplyDependencies extends BasisDependencies {
  accesses: Pick<AccessLog, 'add'>;
  providerOf: (model: string) => Provider;
  settings: Pick<
    WorkerConfig,
    'defaultModel' | 'provider' | 'providerTimeoutMs' | 'replyTimeoutMs' | 'contextBudgetTokens'
  >;
}

type PredictedWork = Pick<Claim, 'id' | 'kind' | 'party' | 'attempt'> & { facts: AskerTerms };

/**
 * Creates a function that predicts a person's reply to an agent, and decides whether the first candidate is certain
 * enough to act on.
 */
export function createReplyPredictor({
  providerOf,
  accesses,
  settings,
}: Pick<ReplyDependencies, 'providerOf' | 'accesses' | 'settings'>) {
  /** Without a model, or if `local` is the fallback during an outage, predicts from the person's earlier replies. */
  const propose = async (
    call: ReplyCall,
    { vote, pairs }: Basis,
    context: AttemptContext,
  ): Promise<ModelProposal> => {
    const { agent_input: prompt, k } = call.request;
    const localProposal = () => ({
      ...proposeLocally(prompt, vote, pairs.length, k),
      model: LOCAL_MODEL,
      usage: NO_USAGE,
    });
    const { ask } = providerOf(call.model);
    if (ask === null) return localProposal();
    try {
      return await askModel(ask, call, settings, context);
    } catch (error) {
      if (!isOutage(error) || !settings.provider.fallbackModels.includes(LOCAL_MODEL)) throw error;
      return localProposal();
    }
  };

  return async (
    claim: PredictedWork,
    request: ReplyInput,
    context: AttemptContext,
    basis: () => Promise<Basis>,
  ): Promise<End<ReplyReport>> => {
    const since = performance.now();
    const { agent, agent_input: prompt } = request;
    const currentBasis = await retryUntil(basis, since + context.leftMs());
    const { screened, vote, pairs, supportOf, calibrator, memoryRevision } = currentBasis;
    const model = request.model ?? settings.defaultModel;
    try {
      const proposal = await propose({ request, model, screened, claim }, currentBasis, context);
      const decision = decideReply(proposal, {
        prompt,
        threshold: thresholdInForce(request.threshold, claim.facts),
        isKey: claim.facts.keyId !== null,
        agent,
        model: proposal.model,
        calibrator,
        isDictated: screened.isDictated,
        history: pairs.map((pair) => pair.reply),
        shareOf: vote.shareOf,
        supportOf,
      });
      const examples = proposal.model === LOCAL_MODEL ? vote.neighbours : screened.material.examples;
      const report = {
        ...decision,
        model: proposal.model,
        latency_ms: Math.round(performance.now() - since),
        input_tokens: proposal.usage.inputTokens,
        output_tokens: proposal.usage.outputTokens,
        context: contextOf(memoryRevision, screened, examples, decision.support),
      };
      const { keyId } = claim.facts;
      const { profile, fact_ids, episode_ids, raw_ids } = report.context;
      const reader = keyId === null ? 'log_in' : 'key';
      accesses.add(
        { accountId: claim.party, reader, readerId: keyId ?? claim.party },
        readsOf({ profile, facts: fact_ids, episodes: episode_ids, raw: raw_ids }),
      );
      return { state: 'succeeded', report };
    } catch (error) {
      return providerFailureEnd(error, reply, context.log);
    }
  };
}

export function createReplyHandler(dependencies: ReplyDependencies): Handler<typeof reply, AttemptContext> {
  const predict = createReplyPredictor(dependencies);
  return (claim, context) => {
    const request = claim.input.take();
    const { party } = claim;
    const reader = { party, memory: party, gone: context.signal };
    return predict(claim, request, context, () =>
      dependencies.inTurn(reader, () => readBasis(dependencies, party, request)),
    );
  };
}

interface ReplyCall {
  request: ReplyInput;
  model: string;
  screened: ScreenedMaterial;
  claim: PredictedWork;
}

/** Throws a `ProviderError` if the model refuses, or the answer has no usable candidate. */
async function askModel(
  ask: Asker,
  { request, model, screened, claim }: ReplyCall,
  settings: ReplyDependencies['settings'],
  { signal, leftMs }: AttemptContext,
): Promise<ModelProposal> {
  const question = replyQuestion(screened.material, request);
  const charge = chargeOfAccount(claim);
  const answer = await retryAfterTimeouts(leftMs, settings.providerTimeoutMs, (timeoutMs) =>
    ask(question, { model, signal, timeoutMs, charge }),
  );
  if (answer.state === 'refused') throw new ProviderError('failed', 'the model refused');
  const parsedReply = readReply(answer.value, request.k);
  if (parsedReply.candidates.length === 0) throw new ProviderError('failed', 'unusable answer: no candidate');
  return { ...parsedReply, reason: '', model: answer.model, usage: answer.usage };
}

/** Lists every memory row that the answer may repeat, so that predictions made from a deleted row are found. */
function contextOf(
  memoryRevision: number,
  { material, withheld }: ScreenedMaterial,
  examples: readonly PromptReply[],
  support: ReplyContext['support'],
): ReplyContext {
  const { profile, facts, episodes, raw, truncated } = material;
  return {
    prompt_revision: REPLY_PROMPT_REVISION,
    memory_revision: memoryRevision,
    profile: profile !== null,
    fact_ids: idsOf(facts),
    episode_ids: idsOf(episodes),
    raw_ids: [...new Set([...idsOf(raw), ...examples.flatMap(({ promptId }) => promptId ?? [])])],
    example_ids: idsOf(examples),
    withheld_ids: withheld,
    support,
    counts: { facts: facts.length, episodes: episodes.length, raw: raw.length, examples: examples.length },
    truncated,
  };
}

/** Maximum length of a reply that is reused, in code points. A longer reply fits only the prompt that it answered. */
const REUSED_REPLY_CHARS_MAX = 80;
/**
 * Weight of a reply's share among the replies to similar prompts. The rest is the weight of its share among all
 * replies.
 */
const SIMILAR_PROMPTS_WEIGHT = 0.7;
const PROBABILITY_MIN = 0.15;

/** Predicts a reply without a model, from the person's own replies to similar prompts. */
export function proposeLocally(prompt: string, vote: VoteResult, pairs: number, k: number): ReplyProposal {
  const visible = codesIn(prompt);
  const candidates = vote.replies
    .filter(
      ({ response }) =>
        response !== '' &&
        withoutCodes(response, visible) === response &&
        [...response].length <= REUSED_REPLY_CHARS_MAX &&
        !containsSecret(response) &&
        isDisplayable(response),
    )
    .map(({ response, share, times }) => ({
      response,
      reasoning: `The person's own reply to similar prompts; they gave it ${times} ${times === 1 ? 'time' : 'times'}.`,
      raw: SIMILAR_PROMPTS_WEIGHT * share + (1 - SIMILAR_PROMPTS_WEIGHT) * (times / (pairs + 1)),
      needsUnknownFact: false,
    }))
    .filter(({ raw }) => raw >= PROBABILITY_MIN)
    .sort((a, b) => b.raw - a.raw)
    .slice(0, k);
  return { candidates, closed: endsWithClosedQuestion(prompt), reason: reasonOf(vote) };
}

function reasonOf({ neighbours }: VoteResult): string {
  return neighbours.length === 0
    ? 'No prompt like this is in the memory.'
    : 'Similar prompts are in the memory, but the person did not answer them the same way often enough.';
}
