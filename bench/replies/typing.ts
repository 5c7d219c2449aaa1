import { Box } from '../../shared/box.ts';
import { createLog } from '../../shared/log.ts';
import type { PredictionRequest } from '../../shared/schemas/predictions.ts';
import { createPredictHandler } from '../../workers/predictions/predict.ts';
import type { Provider } from '../../workers/providers/provider.ts';
import { BUDGET_TOKENS, PREDICTION_TIMEOUT_MS } from './predictors.ts';
import type { Draft } from './writers.ts';

export const CHECK_EVERY_CHARACTERS = 3;
/** Maximum number of messages that the app sends with a draft; about half of them are the person's. */
const MESSAGES_MAX = 30;
/** Default threshold of an app. */
const MIN_CONFIDENCE = 0.3;

export interface TypingResult {
  characters: number;
  asked: number;
  shown: number;
  /** Number of suggestions that the writer accepted: the text goes on with the whole suggestion. */
  accepted: number;
  /** Number of keystrokes saved: one for each character of an accepted suggestion, less the one that accepts it. */
  saved: number;
}

export type Complete = (draft: string, earlier: readonly Draft[], agent: string) => Promise<string>;

/** Returns a function that completes with the product's handler, without a connected account. */
export function completeWith(provider: Provider, model: string): Complete {
  const settings = {
    tabModel: model,
    providerTimeoutMs: PREDICTION_TIMEOUT_MS,
    contextBudgetTokens: BUDGET_TOKENS,
  };
  const noMemory = () => Promise.reject(new Error('no account is connected'));
  const handler = createPredictHandler(provider, noMemory, { add() {} }, settings);
  return async (draft, earlier, agent) => {
    const messages = earlier.flatMap((one) => [
      messageOf('assistant', one.agent),
      messageOf('user', one.text),
    ]);
    const request: PredictionRequest = {
      request_id: 'bench',
      user_id: 'bench',
      session_id: 'bench',
      mode: 'complete_draft',
      draft: { text: draft, revision: 1 },
      context_revision: '1',
      artifact: null,
      connection_id: null,
      language: 'auto',
      messages: [...messages, messageOf('assistant', agent)].slice(-MESSAGES_MAX),
      user_preferences: '',
    };
    const until = performance.now() + PREDICTION_TIMEOUT_MS;
    const end = await handler(claimOf(request), {
      signal: new AbortController().signal,
      leftMs: () => until - performance.now(),
      log: createLog('bench', 'silent'),
    });
    return end.state === 'suggested' ? (end.answer ?? '') : '';
  };
}

function messageOf(role: 'user' | 'assistant', content: string): PredictionRequest['messages'][number] {
  return { role, content, origin: role === 'user' ? 'human' : 'agent' };
}

function claimOf(request: PredictionRequest) {
  return {
    id: 'bench',
    kind: 'predict',
    party: 'bench',
    month: null,
    attempt: 1,
    worker: 'bench',
    connectionId: null,
    input: new Box(request),
    queuedMs: 0,
    queuedAtMs: 0,
    recalled: null,
    facts: {
      requestId: request.request_id,
      userId: request.user_id,
      sessionId: request.session_id,
      mode: request.mode,
      connectionId: null,
      draftRevision: 1,
      draftLength: request.draft.text.length,
      draftHash: '',
      contextRevision: '1',
      contextHash: '',
      alternatives: 0,
      minConfidence: MIN_CONFIDENCE,
    },
    leftMs: PREDICTION_TIMEOUT_MS,
  };
}

export async function typeOut(
  { agent, text }: Draft,
  earlier: readonly Draft[],
  complete: Complete,
): Promise<TypingResult> {
  const typed = { characters: text.length, asked: 0, shown: 0, accepted: 0, saved: 0 };
  for (let at = CHECK_EVERY_CHARACTERS; at < text.length; at += CHECK_EVERY_CHARACTERS) {
    const completion = await complete(text.slice(0, at), earlier, agent);
    typed.asked += 1;
    typed.shown += Number(completion !== '');
    if (completion === '' || !text.startsWith(completion, at)) continue;
    typed.accepted += 1;
    typed.saved += completion.length - 1;
    at += completion.length;
  }
  return typed;
}
