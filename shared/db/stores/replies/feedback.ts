import type { EntityManager } from '@mikro-orm/postgresql';
import { feedbackOf } from '../../../domain/replies/feedback.ts';
import { AppError } from '../../../errors/app-error.ts';
import type { FeedbackRequest } from '../../../schemas/replies.ts';
import { Reply } from '../../entities/reply.ts';
import { transaction } from '../../transaction.ts';

/**
 * Records what a person did with a prediction; the last decision wins, and the same again changes nothing. Throws
 * `not_found`, `request_in_flight` while its work runs, or a `ValidationError` for a reply that is missing.
 */
export function recordFeedback(
  em: EntityManager,
  accountId: string,
  id: string,
  given: FeedbackRequest,
): Promise<Reply> {
  return transaction(em, async (tx) => {
    const [found] = await tx.execute<{ nowMs: number }[]>(
      `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs" from replies
        where id = ? and account_id = ? for update`,
      [id, accountId],
    );
    const reply = found && (await tx.findOne(Reply, { id, accountId }));
    if (!reply) throw new AppError('not_found');
    if (reply.status === 'pending' && reply.error == null) throw new AppError('request_in_flight');
    const { actualResponse, label } = feedbackOf(reply, given);
    if (reply.status === given.status && reply.actualResponse === actualResponse) return reply;
    tx.assign(reply, { status: given.status, actualResponse, label, feedbackAt: new Date(found.nowMs) });
    await tx.flush();
    if (label !== null)
      await tx.execute(
        `insert into reply_calibrators (account_id, revision) values (?, 1)
         on conflict (account_id) do update set revision = reply_calibrators.revision + 1`,
        [accountId],
      );
    return reply;
  });
}
