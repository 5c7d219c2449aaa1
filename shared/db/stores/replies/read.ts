import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { type ListedReply, Reply } from '../../entities/reply.ts';

const UNLISTED = ['agentInput', 'context', 'features'] as const;

/** Which predictions to list: the latest first, from a place on. */
export interface ReplyListTerms {
  status?: string | undefined;
  agent?: string | undefined;
  sessionId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  limit: number;
  offset: number;
}

/** One of the account's predictions. */
export async function findReply(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<Reply | undefined> {
  return (await em.findOne(Reply, { id, accountId })) ?? undefined;
}

/** Those of the account's predictions that have ended, of these. */
export function findEndedReplies(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<ListedReply[]> {
  return em.find(Reply, endedAmong(accountId, ids), { exclude: UNLISTED });
}

/** How many those are. */
export function countEndedReplies(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<number> {
  return em.count(Reply, endedAmong(accountId, ids));
}

function endedAmong(accountId: string, ids: readonly string[]): FilterQuery<Reply> {
  return {
    id: { $in: [...ids] },
    accountId,
    $or: [{ status: { $ne: 'pending' } }, { error: { $ne: null } }],
  };
}

/** A page of the account's predictions, without what was asked and used, and how many there are in all. */
export async function listReplies(
  em: EntityManager,
  accountId: string,
  { limit, offset, ...terms }: ReplyListTerms,
): Promise<{ total: number; rows: ListedReply[] }> {
  const [rows, total] = await em.findAndCount(Reply, chosen(accountId, terms), {
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit,
    offset,
    exclude: UNLISTED,
  });
  return { total, rows };
}

function chosen(
  accountId: string,
  { status, agent, sessionId, since, until }: Omit<ReplyListTerms, 'limit' | 'offset'>,
): FilterQuery<Reply> {
  return {
    accountId,
    ...(status !== undefined && { status }),
    ...(agent !== undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    ...((since ?? until) && { createdAt: { ...(since && { $gte: since }), ...(until && { $lt: until }) } }),
  };
}
