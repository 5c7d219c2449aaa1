import type { EntityManager } from '@mikro-orm/postgresql';
import { bundleOf, type ContextBundle } from '../../../domain/context-bundle.ts';
import type { ContextCandidates, ContextQuery, FactRow, RawRow } from '../../../domain/context-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { KIB, MIB } from '../../../schemas/limits.ts';
import { PRIVATE_TAG } from '../../../text/recallable.ts';
import type { Connection } from '../../entities/connection.ts';
import { isCancelled } from '../../faults.ts';
import { transaction } from '../../statement.ts';

/** Maximum length of a question that memory is searched by, in UTF-16 units. Of a longer one, only the end is used. */
const QUESTION_LENGTH_MAX = 2000;

const READ_TIMEOUT_MS = 500;

/** Maximum bytes of one tier's rows as JSON; `max` is for unusually large rows. */
const TIER_BYTES = { usual: 256 * KIB, max: 4 * MIB, none: 0 };
/** The tiers are facts, episodes, raw rows, and the profile, which takes less than the others. */
const TIER_COUNT = 4;

export interface ContextReadLimits {
  /** Resolves when there is room for this many bytes. */
  reserve(bytes: number): Promise<void>;
  /** Calls `read` when it is the account's turn. */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>;
}

/** `projects` is SQL for those that are asked for if the question names none. */
const offerOf = (projects: string) => `
  memory_context_v1(a.id, ?, ?, nullif(array[?]::text[], '{}'), coalesce(nullif(array[?]::text[], '{}'), ${projects}),
                    ?, ?, ?, ?, ?) as offer`;

const OFFER_OF_ACCOUNT = `select ${offerOf('null')} from accounts a where a.id = ?::uuid`;

/**
 * Reads the rows of memory for a question, as one snapshot, with at most as many of each tier as the query asks for. If
 * the rows are unusually large, and `limits` is given, reads them again with more room. Throws `not_authenticated` if
 * the account is gone, and passes on the errors of `limits`.
 */
export async function assembleContext(
  em: EntityManager,
  accountId: string,
  query: ContextQuery,
  limits?: ContextReadLimits,
): Promise<ContextBundle> {
  const read = async (room: number) => {
    const readNow = () =>
      readCandidateRows<{ offer: StoredCandidates }>(em, OFFER_OF_ACCOUNT, query, { room, id: accountId });
    await limits?.reserve(TIER_COUNT * room);
    const row = await (limits === undefined ? readNow() : limits.inTurn(readNow));
    if (row === undefined) throw new AppError('not_authenticated');
    return parseTimes(row.offer);
  };
  const usual = await read(TIER_BYTES.usual);
  const { facts, episodes, raw } = usual;
  const isWhole = facts.whole && episodes.whole && raw.whole;
  if (isWhole || limits === undefined) return bundleOf(usual, query);
  const large = await read(TIER_BYTES.max);
  return bundleOf(large.timedOut ? usual : large, query);
}

const OFFER_OF_CONNECTION = `
  select a.id as "accountId", c.grant_revision as "grantRevision", c.memory, c.projects,
         coalesce(profile_revision(a.id, a.memory_revision), 'none') as "profileRevision",
         ${offerOf('c.projects')}
    from connections c left join accounts a on a.id = c.account_id
   where c.id = ?::uuid and c.status = 'connected' and (c.ends_at is null or c.ends_at > now())`;

export interface ConnectedContext {
  /** Null if the account was erased or the connection revoked. */
  bundle: ContextBundle | null;
  /** Null if the account was erased or the connection revoked. */
  accountId: string | null;
  profileRevision: string;
  grantRevision: number;
}

/**
 * Reads the memory that a person allowed an app, without rows tagged private, and revisions in one snapshot. Reads no
 * memory under a connection that was revoked meanwhile, or has ended.
 */
export async function assembleConnectedContext(
  em: EntityManager,
  connectionId: string,
  query: ContextQuery,
): Promise<ConnectedContext> {
  const row = await readCandidateRows<ConnectedRow>(em, OFFER_OF_CONNECTION, query, {
    room: TIER_BYTES.usual,
    id: connectionId,
  });
  if (row === undefined) return { bundle: null, accountId: null, profileRevision: 'none', grantRevision: 0 };
  const { offer, memory, projects, ...revisions } = row;
  if (offer === null) return { bundle: null, ...revisions };
  const shared = sharedRows(parseTimes(offer), projects);
  const allowed =
    memory === 'facts' ? { ...shared, episodes: WITHOUT_ROWS.episodes, raw: WITHOUT_ROWS.raw } : shared;
  return { bundle: await bundleOf(allowed, query), ...revisions };
}

type ConnectedRow = Omit<ConnectedContext, 'bundle'> &
  Pick<Connection, 'memory'> & { projects: string[] | null; offer: StoredCandidates | null };

/** Leaves out private rows and, if only some projects are allowed, what was said in others or in no known one. */
function sharedRows(
  { facts, episodes, raw, ...rest }: ContextCandidates,
  projects: readonly string[] | null,
): ContextCandidates {
  const isAllowed = (project: string | null) => projects === null || projects.includes(project ?? '');
  const isShared = ({ tags, project }: Pick<RawRow, 'tags' | 'project'>) =>
    !tags.includes(PRIVATE_TAG) && isAllowed(project);
  // A fact of no single project is about the person.
  const isSharedFact = (fact: FactRow) =>
    isShared({ ...fact, project: fact.project ?? projects?.[0] ?? null });
  return {
    ...rest,
    facts: { ...facts, rows: facts.rows.filter(isSharedFact) },
    episodes: { ...episodes, rows: episodes.rows.filter(isShared) },
    raw: { ...raw, rows: raw.rows.filter(isShared) },
  };
}

/**
 * Reads one row with the column `offer`, which contains the rows of memory to choose a context from. If that takes
 * longer than `READ_TIMEOUT_MS`, reads it again without rows of memory.
 */
async function readCandidateRows<Row extends object>(
  em: EntityManager,
  statement: string,
  query: ContextQuery,
  { room, id }: { room: number; id: string },
): Promise<Row | undefined> {
  const read = async (tx: EntityManager, bytes: number) => {
    const [row] = await tx.execute<Row[]>(statement, [...valuesOf(query), bytes, id]);
    return row;
  };
  try {
    return await transaction(em, async (tx) => {
      await tx.execute(`set local statement_timeout = ${READ_TIMEOUT_MS}`);
      return read(tx, room);
    });
  } catch (error) {
    if (!isCancelled(error)) throw error;
    return read(em, TIER_BYTES.none);
  }
}

function valuesOf(query: ContextQuery): unknown[] {
  const { goal = '', query: question = goal, tags = [], projects = [] } = query;
  return [
    // Half of a surrogate pair at the cut cannot be encoded in UTF-8.
    question.slice(-QUESTION_LENGTH_MAX).replace(/^[\udc00-\udfff]/, ''),
    goal || null,
    tags,
    projects,
    query.recencyMinutes,
    query.maxFacts,
    query.maxEpisodes,
    query.maxRaw,
  ];
}

const TIME_COLUMN = /^(?:since|valid(?:From|To)|\w+At)$/;

const NO_ROWS = { rows: [], matched: 0, whole: true };
const WITHOUT_ROWS: Pick<ContextCandidates, 'facts' | 'episodes' | 'raw' | 'backlog'> = {
  facts: { ...NO_ROWS, superseded: 0, stale: 0, expired: 0, notYetValid: 0 },
  episodes: { ...NO_ROWS, stale: 0 },
  raw: { ...NO_ROWS, predicted: 0 },
  backlog: { raw: 0, episodes: 0 },
};

/** The column `offer` as the database returns it: with all tiers or none, and with times as text. */
type StoredCandidates = Omit<ContextCandidates, keyof typeof WITHOUT_ROWS | 'timedOut'> &
  Partial<typeof WITHOUT_ROWS>;

/** Parses columns only: keys in the metadata of a row come from clients and may have the same names. */
function parseTimes(stored: StoredCandidates): ContextCandidates {
  const { profile, facts, episodes, raw, ...rest } = { ...WITHOUT_ROWS, ...stored };
  return {
    ...parseRowTimes(rest),
    timedOut: stored.facts === undefined,
    profile: profile && parseRowTimes(profile),
    facts: { ...facts, rows: facts.rows.map(parseRowTimes) },
    episodes: { ...episodes, rows: episodes.rows.map(parseRowTimes) },
    raw: { ...raw, rows: raw.rows.map(parseRowTimes) },
  };
}

function parseRowTimes<Row extends object>(row: Row): Row {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    TIME_COLUMN.test(column) && typeof value === 'string' ? new Date(value) : value,
  ]);
  return Object.fromEntries(entries) as Row;
}
