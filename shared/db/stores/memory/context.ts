import type { EntityManager } from '@mikro-orm/postgresql';
import { bundleOf, type ContextBundle } from '../../../domain/context-bundle.ts';
import type { ContextQuery, Offer } from '../../../domain/context-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { KIB, MIB } from '../../../schemas/limits.ts';
import { isCancelled } from '../../faults.ts';
import { transaction } from '../../transaction.ts';

/** Length of a question's end that is looked up, in UTF-16 units. */
const QUESTION_MAX = 2000;

/** Time to read the rows for a question. A bundle goes without rows that take longer. */
const READ_TIMEOUT_MS = 500;

/**
 * Bytes of JSON that rows of each tier may have together: more than most accounts have, and at most; without any, none is
 * read.
 */
const ROOM = { usual: 256 * KIB, most: 4 * MIB, none: 0 };
/** Facts, episodes, raw rows; the profile takes less than one of them. */
const TIERS = 4;

/** Resources that a read of many rows waits for. */
export interface ContextReading {
  /** Room for so many bytes. */
  reserve(bytes: number): Promise<void>;
  /** The account's turn. */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>;
}

const OFFER = `
  memory_context_v3(
    a.id, ?, ?, (select array_agg(tag) from json_array_elements_text(?::json) tag), ?, ?, ?, ?, ?) as offer`;

const OF_ACCOUNT = `select ${OFFER} from accounts a where a.id = ?::uuid`;

/**
 * Reads what is known about an account and what it did lately, for one question: what matches, or the best of it, when
 * that is more than fits. One statement, so one snapshot. Rows that are uncommonly large are read where `reading` waits
 * for room for them. Throws `not_authenticated` when the account is gone, and as `reading` does.
 */
export async function assembleContext(
  em: EntityManager,
  accountId: string,
  query: ContextQuery,
  reading?: ContextReading,
): Promise<ContextBundle> {
  const read = async (room: number) => {
    const readNow = () => readOffer<{ offer: Offered }>(em, OF_ACCOUNT, query, { room, of: accountId });
    await reading?.reserve(TIERS * room);
    const row = await (reading === undefined ? readNow() : reading.inTurn(readNow));
    if (row === undefined) throw new AppError('not_authenticated');
    return revive(row.offer);
  };
  const usual = await read(ROOM.usual);
  const { facts, episodes, raw } = usual;
  const isWhole = facts.whole && episodes.whole && raw.whole;
  if (isWhole || reading === undefined) return bundleOf(usual, query);
  const most = await read(ROOM.most);
  return bundleOf(most.timedOut ? usual : most, query);
}

const OF_CONNECTION = `
  select c.grant_revision as "grantRevision",
         coalesce(profile_revision(a.id, a.memory_revision), 'none') as "profileRevision",
         ${OFFER}
    from connections c left join accounts a on a.id = c.account_id
   where c.id = ?::uuid`;

/** The memory that a connection gives a prediction, and its revisions. */
export interface ConnectedContext {
  /** Null when the account was erased. */
  bundle: ContextBundle | null;
  profileRevision: string;
  grantRevision: number;
}

/** Reads memory and revisions in one snapshot: the revisions in an answer are those that were used. */
export async function assembleConnectedContext(
  em: EntityManager,
  connectionId: string,
  query: ContextQuery,
): Promise<ConnectedContext> {
  const row = await readOffer<Omit<ConnectedContext, 'bundle'> & { offer: Offered | null }>(
    em,
    OF_CONNECTION,
    query,
    { room: ROOM.usual, of: connectionId },
  );
  if (row === undefined) return { bundle: null, profileRevision: 'none', grantRevision: 0 };
  const { offer, ...revisions } = row;
  return { bundle: offer && (await bundleOf(revive(offer), query)), ...revisions };
}

/** One row. Where its offer takes too long, it is read again without rows of memory. */
async function readOffer<Row extends object>(
  em: EntityManager,
  statement: string,
  query: ContextQuery,
  { room, of }: { room: number; of: string },
): Promise<Row | undefined> {
  const read = async (tx: EntityManager, bytes: number) => {
    const [row] = await tx.execute<Row[]>(statement, [...valuesOf(query), bytes, of]);
    return row;
  };
  try {
    return await transaction(em, async (tx) => {
      await tx.execute(`set local statement_timeout = ${READ_TIMEOUT_MS}`);
      return read(tx, room);
    });
  } catch (error) {
    if (!isCancelled(error)) throw error;
    return read(em, ROOM.none);
  }
}

function valuesOf(query: ContextQuery): unknown[] {
  const { goal = '', query: question = goal, tags = [] } = query;
  return [
    endOf(question),
    goal || null,
    tags.length > 0 ? JSON.stringify(tags) : null,
    query.recencyMinutes,
    query.maxFacts,
    query.maxEpisodes,
    query.maxRaw,
  ];
}

/** Leaves out half a surrogate pair, which is no UTF-8. */
function endOf(question: string): string {
  return question.slice(-QUESTION_MAX).replace(/^[\udc00-\udfff]/, '');
}

/** Columns that are times. */
const TIMES = new Set([
  'generatedAt',
  'since',
  'validFrom',
  'validTo',
  'recordedAt',
  'startedAt',
  'endedAt',
  'occurredAt',
  'promotedAt',
  'createdAt',
  'updatedAt',
]);

const NONE = { rows: [], matched: 0, whole: true };
/** Instead of tiers that were not read. */
const WITHOUT_ROWS: Pick<Offer, 'facts' | 'episodes' | 'raw' | 'backlog'> = {
  facts: { ...NONE, superseded: 0, stale: 0, expired: 0, notYetValid: 0 },
  episodes: { ...NONE, stale: 0 },
  raw: { ...NONE, predicted: 0 },
  backlog: { raw: 0, episodes: 0 },
};

/** An offer as the database returns it: with all of the tiers, or none. */
type Offered = Omit<Offer, keyof typeof WITHOUT_ROWS | 'timedOut'> & Partial<typeof WITHOUT_ROWS>;

/** The times of an offer come as text. Rows have tags and metadata of clients, whose names may be those of columns. */
function revive(offered: Offered): Offer {
  const { profile, facts, episodes, raw, ...rest } = { ...WITHOUT_ROWS, ...offered };
  return {
    ...withTimes(rest),
    timedOut: offered.facts === undefined,
    profile: profile && withTimes(profile),
    facts: { ...facts, rows: facts.rows.map(withTimes) },
    episodes: { ...episodes, rows: episodes.rows.map(withTimes) },
    raw: { ...raw, rows: raw.rows.map(withTimes) },
  };
}

function withTimes<Row extends object>(row: Row): Row {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    TIMES.has(column) && typeof value === 'string' ? new Date(value) : value,
  ]);
  return Object.fromEntries(entries) as Row;
}
