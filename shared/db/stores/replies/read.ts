import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { type ListedReply, Reply } from '../../entities/reply.ts';
import { query } from '../../statement.ts';

const UNLISTED = ['agentInput', 'context', 'features'] as const;
/** What makes a prediction large, of what is listed. */
const LARGE =
  'r.id, r.agent, r.session_id, r.model, r.response, r.reasoning, r.candidates, r.actual_response';

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
  return em.find(
    Reply,
    { id: { $in: [...ids] }, accountId, $or: [{ status: { $ne: 'pending' } }, { error: { $ne: null } }] },
    { exclude: UNLISTED },
  );
}

const ENDED = {
  name: 'ended_replies_v1',
  text: `select r.id from unnest($1::uuid[]) asked (id) join replies r using (id)
          where r.status <> 'pending' or r.error is not null`,
};

/** Which predictions have ended, of these of any accounts. */
export async function endedReplies(pool: Pool, ids: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(pool, ENDED, [ids]);
  return new Set(rows.map(({ id }) => id));
}

/** How many bytes the account's predictions are as JSON, of these. */
export async function measureReplies(
  em: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<number> {
  const [measured] = await em.execute<{ size: number }[]>(
    `select coalesce(sum(octet_length(to_json(p)::text)), 0)::int as size
       from (select ${LARGE} from replies r where r.account_id = ? and r.id = any (?::uuid[])) p`,
    [accountId, `{${ids.join()}}`],
  );
  return measured?.size ?? 0;
}

/**
 * A page of the account's predictions, without what was asked and used, and how many there are in all. The rows are read
 * once there is room for them, which `reserve` waits for. Throws as `reserve` does.
 */
export async function listReplies(
  em: EntityManager,
  accountId: string,
  terms: ReplyListTerms,
  reserve: (bytes: number) => Promise<void>,
): Promise<{ total: number; rows: ListedReply[] }> {
  const { total, size, ids } = await measurePage(em, accountId, terms);
  await reserve(size);
  const rows = await em.find(
    Reply,
    { accountId, id: { $in: ids } },
    { orderBy: { createdAt: 'desc', id: 'desc' }, exclude: UNLISTED },
  );
  return { total, rows };
}

interface Measured {
  total: number;
  /** Bytes of the page, as JSON. */
  size: number;
  ids: string[];
}

async function measurePage(
  em: EntityManager,
  accountId: string,
  { limit, offset, ...terms }: ReplyListTerms,
): Promise<Measured> {
  const { sql, values } = chosen(accountId, terms);
  const [measured] = await em.execute<Measured[]>(
    `select (select count(*) from replies r where ${sql})::int as total,
            coalesce(sum(octet_length(to_json(p)::text)), 0)::int as size, to_json(array_agg(p.id)) as ids
       from (select ${LARGE} from replies r where ${sql} order by r.created_at desc, r.id desc limit ? offset ?) p`,
    [...values, ...values, limit, offset],
  );
  return { total: measured?.total ?? 0, size: measured?.size ?? 0, ids: measured?.ids ?? [] };
}

function chosen(
  accountId: string,
  { status, agent, sessionId, since, until }: Omit<ReplyListTerms, 'limit' | 'offset'>,
): { sql: string; values: unknown[] } {
  const conditions: [string, unknown][] = [
    ['r.account_id = ?', accountId],
    ['r.status = ?', status],
    ['r.agent = ?', agent],
    ['r.session_id = ?', sessionId],
    ['r.created_at >= ?', since],
    ['r.created_at < ?', until],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return { sql: given.map(([sql]) => sql).join(' and '), values: given.map(([, value]) => value) };
}
