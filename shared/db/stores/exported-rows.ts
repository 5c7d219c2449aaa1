import type { EntityManager, EntityName, RequiredEntityData } from '@mikro-orm/postgresql';
import { idsOf } from '../../ids.ts';
import { EXPORTED, type Exported, type ExportedType } from '../../schemas/export.ts';
import { columnsOf } from '../../schemas/present.ts';
import { Episode, Fact, MemoryLink, Profile, RawMemory } from '../entities/memory.ts';
import { PermissionDecision } from '../entities/permission.ts';
import { Reply } from '../entities/reply.ts';
import { insertNew } from '../rows.ts';
import { erasedSubjects } from './erasures.ts';
import { changeMemory } from './memory/change.ts';
import { forgottenFacts } from './memory/forgotten.ts';
import { FORGOTTEN } from './memory/links.ts';
import { storePhrases } from './memory/phrases.ts';

/** What happened to the rows: `refused` have the id of another account's. */
export interface Added {
  stored: number;
  duplicates: number;
  /** Rows that the person erased since, and links to such rows. */
  erased: number;
  refused: number;
}

/** Lines of events and their marks are stored by recording. */
export type ExportedRowType = Exclude<ExportedType, 'mark'>;

type Add<Type extends ExportedRowType> = (
  tx: EntityManager,
  accountId: string,
  lines: readonly Exported<Type>[],
) => Promise<Added>;

/** Stores rows of an account's export again, with their ids and times. What is there stays as it is. */
export function addExported<Type extends ExportedRowType>(
  em: EntityManager,
  accountId: string,
  type: Type,
  lines: readonly Exported<Type>[],
): Promise<Added> {
  const add = ADD[type] as Add<Type>;
  return changeMemory(em, accountId, (tx) => add(tx, accountId, lines));
}

const ADD = {
  profile: addProfile,
  raw: addRaw,
  episode: addEpisodes,
  fact: addFacts,
  link: addLinks,
  prediction: addPredictions,
  permission: addPermissions,
} satisfies { [Type in ExportedRowType]: Add<Type> };

const NOTHING: Added = { stored: 0, duplicates: 0, erased: 0, refused: 0 };

async function addProfile(
  tx: EntityManager,
  account: string,
  [line]: readonly Exported<'profile'>[],
): Promise<Added> {
  if (line === undefined) return NOTHING;
  if ((await tx.count(Profile, { account })) > 0) return { ...NOTHING, duplicates: 1 };
  if ((await erasedSubjects(tx, account, 'profile', [''])).size > 0) return { ...NOTHING, erased: 1 };
  await insert(tx, Profile, rowsOf({ account }, 'profile', [line]));
  return { ...NOTHING, stored: 1 };
}

async function addRaw(tx: EntityManager, account: string, lines: readonly Exported<'raw'>[]): Promise<Added> {
  const { fresh, ...added } = await freshOf(tx, account, 'raw', lines);
  const eventId = { $in: fresh.flatMap(({ event_id: id }) => id ?? []) };
  const known = await tx.find(RawMemory, { account, eventId }, { fields: ['eventId'] });
  const knownEvents = new Set(known.map((row) => row.eventId));
  const newLines = fresh.filter(({ event_id: id }) => id === null || !knownEvents.has(id));
  await insert(tx, RawMemory, rowsOf({ account }, 'raw', newLines));
  const phrased = newLines.map(({ session_id: sessionId, occurred_at: at, ...row }) => {
    return { ...row, sessionId, occurredAt: new Date(at) };
  });
  await storePhrases(tx, account, phrased);
  return { ...added, stored: newLines.length, duplicates: added.duplicates + fresh.length - newLines.length };
}

async function addEpisodes(
  tx: EntityManager,
  account: string,
  lines: readonly Exported<'episode'>[],
): Promise<Added> {
  const { fresh, ...added } = await freshOf(tx, account, 'episode', lines);
  await insert(tx, Episode, rowsOf({ account }, 'episode', fresh));
  return { ...added, stored: fresh.length };
}

async function addFacts(
  tx: EntityManager,
  account: string,
  lines: readonly Exported<'fact'>[],
): Promise<Added> {
  const { fresh, ...added } = await freshOf(tx, account, 'fact', lines);
  const forgotten = await forgottenFacts(
    tx,
    account,
    fresh.map((line) => ({ ...line, at: new Date(line.recorded_at) })),
  );
  const newLines = fresh.filter(({ id }) => !forgotten.has(id));
  await insert(tx, Fact, rowsOf({ account }, 'fact', newLines));
  return { ...added, stored: newLines.length, erased: added.erased + fresh.length - newLines.length };
}

/** A link whose ends are not rows of the account is left out. A forgotten fact is not there any more. */
async function addLinks(
  tx: EntityManager,
  account: string,
  lines: readonly Exported<'link'>[],
): Promise<Added> {
  const ids = lines.flatMap(({ from, to }) => [from.id, to.id]);
  const owned = await ownersOf(tx, ['raw', 'episode', 'fact'], ids);
  const isOwn = (id: string) => owned.get(id) === account;
  const known = lines.filter(
    ({ from, to, relation }) => isOwn(to.id) && (relation === FORGOTTEN || isOwn(from.id)),
  );
  const links = known.map(({ from, to, relation }) => ({
    account,
    fromId: from.id,
    fromTier: from.tier,
    toId: to.id,
    toTier: to.tier,
    relation,
    quote: to.quote,
  }));
  const stored = await insertNew(tx, MemoryLink, links);
  return { ...NOTHING, stored, duplicates: known.length - stored, erased: lines.length - known.length };
}

/** A prediction that waits for its answer is left out: its work is not exported. */
async function addPredictions(
  tx: EntityManager,
  accountId: string,
  lines: readonly Exported<'prediction'>[],
): Promise<Added> {
  const answered = lines.filter(({ status }) => status !== 'pending');
  const { fresh, ...added } = await freshOf(tx, accountId, 'prediction', answered);
  const rows = fresh.map(({ predicted_response: response, question: _, usage, candidates, ...line }) => ({
    accountId,
    ...columnsOf(EXPORTED.prediction, line),
    response,
    candidates: candidates.map((candidate) => ({
      ...candidate,
      raw: candidate.confidence,
      supported: candidate.confidence >= line.threshold,
    })),
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
  }));
  await insert(tx, Reply, rows);
  return { ...added, stored: fresh.length, refused: added.refused + lines.length - answered.length };
}

async function addPermissions(
  tx: EntityManager,
  accountId: string,
  lines: readonly Exported<'permission'>[],
): Promise<Added> {
  const { fresh, ...added } = await freshOf(tx, accountId, 'permission', lines);
  await insert(tx, PermissionDecision, rowsOf({ accountId }, 'permission', fresh));
  return { ...added, stored: fresh.length };
}

const TABLES = {
  raw: 'raw_memories',
  episode: 'episodes',
  fact: 'facts',
  prediction: 'replies',
  permission: 'permission_decisions',
};

/** Returns the rows that are neither stored nor erased, and counts the others. */
async function freshOf<Row extends { id: string }>(
  tx: EntityManager,
  accountId: string,
  type: keyof typeof TABLES,
  lines: readonly Row[],
): Promise<{ fresh: Row[] } & Omit<Added, 'stored'>> {
  const ids = idsOf(lines);
  const owners = await ownersOf(tx, [type], ids);
  const isErasable = type !== 'prediction' && type !== 'permission';
  const erased = isErasable ? await erasedSubjects(tx, accountId, type, ids) : new Set<string>();
  const unknown = lines.filter(({ id }) => !owners.has(id));
  const duplicates = lines.filter(({ id }) => owners.get(id) === accountId).length;
  const fresh = unknown.filter(({ id }) => !erased.has(id));
  return {
    fresh,
    duplicates,
    erased: unknown.length - fresh.length,
    refused: lines.length - unknown.length - duplicates,
  };
}

/** Returns the accounts of the rows with these ids. */
async function ownersOf(
  tx: EntityManager,
  types: readonly (keyof typeof TABLES)[],
  ids: readonly string[],
): Promise<Map<string, string>> {
  const selects = types.map(
    (type) =>
      `select r.id, r.account_id as account from ${TABLES[type]} r
        where r.id in (select value::uuid from json_array_elements_text(?))`,
  );
  const rows = await tx.execute<{ id: string; account: string }[]>(
    selects.join(' union all '),
    types.map(() => JSON.stringify(ids)),
  );
  return new Map(rows.map(({ id, account }) => [id, account]));
}

function rowsOf<Type extends ExportedType>(owner: object, type: Type, lines: readonly Exported<Type>[]) {
  return lines.map((line) => ({ ...owner, ...columnsOf(EXPORTED[type], line) }));
}

async function insert<Row extends object>(
  tx: EntityManager,
  entity: EntityName<Row>,
  rows: readonly object[],
): Promise<void> {
  // The cast is safe: the schemas of the export have the columns of the entities.
  if (rows.length > 0) await tx.insertMany(entity, rows as RequiredEntityData<Row>[]);
}
