import type { EntityManager } from '@mikro-orm/postgresql';
import type { Box } from '../../shared/box.ts';
import { Reply } from '../../shared/db/entities/reply.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import { Faults } from '../../shared/domain/faults.ts';
import type { AskerTerms } from '../../shared/domain/replies/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { ReplyInput, ReplyRequest } from '../../shared/schemas/replies.ts';
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

  /** Throws the errors of `check`, and the error of the prediction if the prediction fails. */
  async predict(
    user: UserPrincipal,
    body: Box<ReplyInput>,
    { cancelOnDisconnect, ...preferences }: ReplyPreferences,
    gone: AbortSignal,
  ): Promise<{ row: Reply; replayed: boolean }> {
    const checkedBody = body.map((request) => this.check(request));
    const accountId = user.id;
    const call = callOf(reply, { accountId, body: checkedBody, facts: termsOf(user), ...preferences });
    const { outcome, replayed } = await this.#parts.work.perform(
      reply,
      { ...call, cancelOnDisconnect },
      gone,
    );
    if (outcome.report === null) throw refusalOf(outcome);
    const row = await this.#parts.em().findOne(Reply, { id: outcome.id, accountId });
    // The account was erased meanwhile.
    if (row === null) throw new AppError('not_authenticated');
    return { row, replayed };
  }

  /** Returns the request. Throws a `ValidationError` for a model or `k` that the configuration forbids. */
  check<Request extends Pick<ReplyRequest, 'k' | 'model'>>(request: Request): Request {
    const { k, model } = request;
    const { maxK, supportedModels } = this.#parts;
    const faults = new Faults(request);
    checkModel(model, supportedModels, faults);
    if (k > maxK)
      faults.add('k', `Input should be less than or equal to ${maxK}`, 'less_than_equal', {
        ctx: { le: maxK },
      });
    faults.throwIfAny();
    return request;
  }
}

export function termsOf({ keyId, thresholdFloor }: UserPrincipal): AskerTerms {
  return { thresholdFloor, keyId: keyId ?? null };
}

export function checkModel(model: string | undefined, supported: readonly string[], faults: Faults): void {
  if (model === undefined || supported.includes(model)) return;
  const msg = `Input should be one of ${supported.join(', ')}`;
  faults.add('model', msg, 'enum', { ctx: { expected: supported } });
}
