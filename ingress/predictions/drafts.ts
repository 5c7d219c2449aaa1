import { envelopeSize } from '../../shared/domain/context-envelope.ts';
import type { DraftTexts } from '../../shared/domain/prediction.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { DraftRequest, DraftResponse } from '../../shared/schemas/drafts.ts';
import { draft } from '../../shared/work/kinds.ts';
import { callOf, refusalOf } from '../jobs/service.ts';
import type { WorkService } from '../work/service.ts';

/** Answer to return when memory that the prediction used has been deleted since. */
const FORGOTTEN_ANSWER: Pick<DraftResponse, 'status'> & DraftTexts = {
  status: 'abstained',
  completion: '',
  sent: [],
};

export class DraftService {
  readonly #work: Pick<WorkService, 'perform'>;
  readonly #contextEnvelopeChars: number;

  constructor(work: Pick<WorkService, 'perform'>, contextEnvelopeChars: number) {
    this.#work = work;
    this.#contextEnvelopeChars = contextEnvelopeChars;
  }

  /**
   * Throws `context_too_large`. Rejects with the error of the prediction if the prediction fails. Cancels the
   * prediction when the caller disconnects, because the person has then typed on.
   */
  predict(accountId: string, body: DraftRequest, gone: AbortSignal): Promise<DraftResponse> {
    const { draft: text, messages } = body;
    const texts = { draft: { text, revision: 0 }, messages, artifact: null, user_preferences: '' };
    if (envelopeSize(texts) > this.#contextEnvelopeChars) throw new AppError('context_too_large');
    const call = callOf(draft, { accountId, body, idempotencyKey: undefined, wait: false });
    return this.#perform({ ...call, cancelOnDisconnect: true }, gone);
  }

  async #perform(call: ReturnType<typeof callOf>, gone: AbortSignal): Promise<DraftResponse> {
    const since = performance.now();
    const { outcome } = await this.#work.perform(draft, call, gone);
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
  }
}
