import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CalibratorModel } from '../../domain/replies/calibrator.ts';
import type { Candidate } from '../../domain/replies/decide.ts';
import type { ReplyContext } from '../../schemas/replies.ts';
import { expressionIndexes } from './expression-indexes.ts';

/**
 * A prediction of what an account's owner would reply to an agent. The prediction and its work have the same id:
 * `stores/replies/outcome.ts` writes this row in the transactions that admit and end the work. There is no foreign key
 * to the account, because its check would wait for a lock on the account.
 */
export const Reply = defineEntity({
  name: 'Reply',
  tableName: 'replies',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    agent: p.text(),
    agentInput: p.text(),
    /** True for a prediction that was only tried out: nobody waits for a decision on it. */
    trial: p.boolean().default(false),
    sessionId: p.text().nullable(),
    project: p.text().nullable(),
    k: p.integer(),
    threshold: p.double().$type<number>(),
    /** The requested model; once answered, the model that gave the answer. */
    model: p.text().default(''),
    status: p.text().default('pending'),
    /** Error code with which the prediction's work ended. */
    error: p.text().nullable(),
    response: p.text().default(''),
    confidence: p.double().$type<number>().default(0),
    reasoning: p.text().default(''),
    candidates: p.json<Candidate[]>().defaultRaw(`'[]'`),
    /**
     * Inputs from which the first candidate's confidence was calibrated; null if nothing can be learned from a decision
     * on this prediction.
     */
    features: p.json<object>().nullable(),
    latencyMs: p.integer().default(0),
    inputTokens: p.integer().default(0),
    outputTokens: p.integer().default(0),
    context: p.json<ReplyContext>().nullable(),
    actedAt: p.datetime(3).nullable(),
    actualResponse: p.text().nullable(),
    feedbackAt: p.datetime(3).nullable(),
    /** Who gave the feedback: `login`, `recorded` or the id of a key. */
    feedbackWitness: p.text().nullable(),
    /** True if that key does not vouch for the person's decisions. Then there is no label. */
    feedbackReported: p.boolean().default(false),
    /** True if the first candidate was right; null if that is unknown or must not be learned from. */
    label: p.boolean().nullable(),
    /** Key with which it was asked; null for a log-in. */
    keyId: p.uuid().nullable(),
    /** True if it would have been `auto`, and the person was asked to check it. Until they answer nobody sees it. */
    blind: p.boolean().default(false),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'replies_recent', properties: ['accountId', 'createdAt', 'id'] },
    ...expressionIndexes('replies', {
      blind: `("account_id", "created_at") where blind`,
      acted: `("account_id", "acted_at", "id") where acted_at is not null`,
      key: `("account_id", "key_id") where key_id is not null`,
      witness: `("account_id", "feedback_witness") where feedback_witness not in ('login', 'recorded')`,
      labels: `("account_id", "feedback_at", "id") where label is not null`,
      context: `using gin ("account_id", "context" jsonb_path_ops)`,
    }),
  ],
});
export type Reply = InferEntity<typeof Reply>;
export type ListedReply = Pick<Reply, Exclude<keyof Reply & string, 'agentInput' | 'context' | 'features'>>;

/** Calibration of an account's confidences, fitted by the first prediction after a change of the labels. */
export const ReplyCalibrator = defineEntity({
  name: 'ReplyCalibrator',
  tableName: 'reply_calibrators',
  properties: {
    accountId: p.uuid().primary(),
    /** Number of changes of the account's labels. */
    revision: p.bigint('number'),
    /** The `revision` of the labels to which `weights` were fitted; null before the first fit. */
    fitted: p.bigint('number').nullable(),
    weights: p.json<CalibratorModel>().nullable(),
  },
});
