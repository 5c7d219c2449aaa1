import type { EntityManager } from '@mikro-orm/postgresql';
import type { Reply } from '../../shared/db/entities/reply.ts';
import { findReply } from '../../shared/db/stores/replies/rows.ts';
import { Faults } from '../../shared/domain/faults.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ReplyRequest } from '../../shared/schemas/replies.ts';
import { reply } from '../../shared/work/kinds.ts';
import { callOf, refusalOf } from '../jobs/service.ts';
import type { WorkService } from '../work/service.ts';

export interface ReplyParts {
  work: Pick<WorkService, 'perform'>;
  em: () => EntityManager;
  maxK: number;
  supportedModels: readonly string[];
}

export interface ReplyPreferences {
  idempotencyKey: string | undefined;
  /** Waits if the same request still runs, instead of failing. */
  wait: boolean;
  /** Cancels the prediction when its last caller disconnects. */
  cancelOnDisconnect: boolean;
}

export class ReplyService {
  readonly #parts: ReplyParts;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  /**
   * Throws the errors of `check`. Rejects with the error of the prediction if the prediction fails. Not async, so that
   * the body can be garbage-collected while the caller waits.
   */
  predict(
    accountId: string,
    body: ReplyRequest,
    { cancelOnDisconnect, ...preferences }: ReplyPreferences,
    gone: AbortSignal,
  ): Promise<{ row: Reply; replayed: boolean }> {
    this.check(body);
    return this.#perform(
      accountId,
      { ...callOf(reply, { accountId, body, ...preferences }), cancelOnDisconnect },
      gone,
    );
  }

  /** Throws a `ValidationError` for a model or `k` that the configuration forbids. */
  check({ k, model }: Pick<ReplyRequest, 'k' | 'model'>): void {
    const { maxK, supportedModels } = this.#parts;
    const faults = new Faults();
    checkModel(model, supportedModels, faults);
    if (k > maxK)
      faults.add('k', `Input should be less than or equal to ${maxK}`, 'less_than_equal', {
        ctx: { le: maxK },
        input: k,
      });
    faults.throwIfAny();
  }

  async #perform(accountId: string, call: ReturnType<typeof callOf>, gone: AbortSignal) {
    const { outcome, replayed } = await this.#parts.work.perform(reply, call, gone);
    if (outcome.report === null) throw refusalOf(outcome);
    const row = await findReply(this.#parts.em(), accountId, outcome.id);
    // The account was erased meanwhile.
    if (row === undefined) throw new AppError('not_authenticated');
    return { row, replayed };
  }
}

export function checkModel(model: string | undefined, supported: readonly string[], faults: Faults): void {
  if (model === undefined || supported.includes(model)) return;
  const msg = `Input should be one of ${supported.join(', ')}`;
  faults.add('model', msg, 'enum', { ctx: { expected: supported }, input: model });
}
