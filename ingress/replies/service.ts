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

/** The preferences of an account's call. */
export interface ReplyPreferences {
  idempotencyKey: string | undefined;
  /** True to wait if the same request still runs, instead of being refused. */
  wait: boolean;
  /** True to cancel the prediction when its last caller leaves. */
  cancelOnDisconnect: boolean;
}

/** Predicts what an account's person would reply to an agent. */
export class ReplyService {
  readonly #parts: ReplyParts;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  /**
   * Resolves with the prediction when its work has ended. Throws a `ValidationError` as `check` does, and the error
   * that the work ends with. Not async, so that the body is not held while the caller waits.
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

/** Adds a validation error if a request names a model that the operator does not offer. */
export function checkModel(model: string | undefined, supported: readonly string[], faults: Faults): void {
  if (model === undefined || supported.includes(model)) return;
  const msg = `Input should be one of ${supported.join(', ')}`;
  faults.add('model', msg, 'enum', { ctx: { expected: supported }, input: model });
}
