import type { Pool } from 'pg';
import { bundleOf, type ContextBundle } from '../../../domain/context-bundle.ts';
import type { ContextQuery, Offer } from '../../../domain/context-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { KIB, MIB } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

/** How much of a question is looked up, from its end, in UTF-16 units. */
const QUESTION_MAX = 2000;

/** Bytes of JSON that rows of each tier may have together: more than most accounts have, and at most. */
const ROOM = { usual: 256 * KIB, most: 4 * MIB };
/** Facts, episodes, raw rows; the profile takes less than one of them. */
const TIERS = 4;

const OFFER = {
  name: 'memory_context_v2',
  text: 'select memory_context_v2($1::uuid, $2, $3, $4::text[], $5, $6, $7, $8, $9) as offer',
};

/**
 * What is known about an account and what it did lately, for one question: what matches, or the best of it, when that is more
 * than fits. One statement, so one snapshot. Rows that are uncommonly large are read once there is room for them, which
 * `reserve` waits for; without it there is none. Throws `not_authenticated` when the account is gone, and as `reserve` does.
 */
export async function assembleContext(
  pool: Pool,
  accountId: string,
  asked: ContextQuery,
  reserve?: (bytes: number) => Promise<void>,
): Promise<ContextBundle> {
  const read = async (room: number) => {
    await reserve?.(TIERS * room);
    const [row] = await query<{ offer: Offer | null }>(pool, OFFER, [accountId, ...valuesOf(asked), room]);
    if (!row?.offer) throw new AppError('not_authenticated');
    return row.offer;
  };
  const usual = await read(ROOM.usual);
  const { facts, episodes, raw } = usual;
  const isWhole = facts.whole && episodes.whole && raw.whole;
  const offer = isWhole || reserve === undefined ? usual : await read(ROOM.most);
  return bundleOf(revive(offer), asked);
}

const CONNECTED = {
  name: 'connected_context_v2',
  text: `
    select c.grant_revision as "grantRevision",
           coalesce(profile_revision(a.id, a.memory_revision), 'none') as "profileRevision",
           memory_context_v2(a.id, $2, $3, $4::text[], $5, $6, $7, $8, $9) as offer
      from connections c left join accounts a on a.id = c.account_id
     where c.id = $1::uuid`,
};

/** The memory that a connection gives a prediction, and its revisions. */
export interface ConnectedContext {
  /** Null when the account was erased. */
  bundle: ContextBundle | null;
  profileRevision: string;
  grantRevision: number;
}

/** Reads memory and revisions in one snapshot: the revisions in an answer are those that were used. */
export async function assembleConnectedContext(
  pool: Pool,
  connectionId: string,
  asked: ContextQuery,
): Promise<ConnectedContext> {
  const [row] = await query<Omit<ConnectedContext, 'bundle'> & { offer: Offer | null }>(pool, CONNECTED, [
    connectionId,
    ...valuesOf(asked),
    ROOM.usual,
  ]);
  if (row === undefined) return { bundle: null, profileRevision: 'none', grantRevision: 0 };
  const { offer, ...revisions } = row;
  return { bundle: offer && (await bundleOf(revive(offer), asked)), ...revisions };
}

function valuesOf(asked: ContextQuery): unknown[] {
  const { goal = '', query: question = goal, tags = [] } = asked;
  return [
    endOf(question),
    goal || null,
    tags.length > 0 ? tags : null,
    asked.recencyMinutes,
    asked.maxFacts,
    asked.maxEpisodes,
    asked.maxRaw,
  ];
}

/** Without half a surrogate pair, which is no UTF-8. */
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

/** The times of an offer come as text. Rows have tags and metadata of clients, whose names may be those of columns. */
function revive(offer: Offer): Offer {
  const { profile, facts, episodes, raw } = offer;
  return {
    ...withTimes(offer),
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
