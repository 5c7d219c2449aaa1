import type { Box } from '../../shared/box.ts';
import { envelopeSize } from '../../shared/domain/context-envelope.ts';
import type { DraftTexts } from '../../shared/domain/prediction.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { DraftInput, DraftResponse } from '../../shared/schemas/drafts.ts';
import { draft } from '../../shared/work/kinds.ts';
import { callOf, refusalOf } from '../jobs/service.ts';
import type { WorkService } from '../work/service.ts';

/** Answer to return when memory that the prediction used has been deleted since. */
const FORGOTTEN_ANSWER: Pick<DraftResponse, 'status'> & DraftTexts = {
  status: 'abstained',
  completion: '',
  alternatives: [],
  sent: [],
};

export type PredictDraft = (
  accountId: string,
  body: Box<DraftInput>,
  gone: AbortSignal,
) => Promise<DraftResponse>;

/**
 * The returned function throws `context_too_large`, and the error of the prediction if the prediction fails. It cancels
 * the prediction when the caller disconnects, because the person has then typed on.
 */
export function draftPredictor(
  work: Pick<WorkService, 'perform'>,
  contextEnvelopeChars: number,
): PredictDraft {
  return async (accountId, body, gone) => {
    const since = performance.now();
    const checkedBody = body.map((request) => checkSize(request, contextEnvelopeChars));
    const call = callOf(draft, {
      accountId,
      body: checkedBody,
      facts: {},
      idempotencyKey: undefined,
      wait: false,
    });
    const { outcome } = await work.perform(draft, { ...call, cancelOnDisconnect: true }, gone);
    const { state, report, answer, queueMs } = outcome;
    if ((state !== 'suggested' && state !== 'abstained') || report === null) throw refusalOf(outcome);
    const { memoryMs, modelMs, ...publicReport } = report;
    return {
      ...(answer === null ? FORGOTTEN_ANSWER : { status: state, ...(JSON.parse(answer) as DraftTexts) }),
      ...publicReport,
      timing: {
        queue_ms: Math.round(queueMs ?? 0),
        memory_ms: memoryMs,
        model_ms: modelMs,
        total_ms: Math.round(performance.now() - since),
      },
    };
  };
}

function checkSize(body: DraftInput, charsMax: number): DraftInput {
  const { draft: text, messages } = body;
  const texts = { draft: { text, revision: 0 }, messages, artifact: null, user_preferences: '' };
  if (envelopeSize(texts) > charsMax) throw new AppError('context_too_large');
  return body;
}
