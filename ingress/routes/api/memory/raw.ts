import { RawMemory } from '../../../../shared/db/entities/memory.ts';
import { deleteRaw } from '../../../../shared/db/stores/memory/delete.ts';
import { type ListOptions, listRaw } from '../../../../shared/db/stores/memory/list.ts';
import { addRawRows } from '../../../../shared/db/stores/memory/rows.ts';
import { checkRows } from '../../../../shared/domain/faults.ts';
import { rawValues } from '../../../../shared/domain/memory-rows.ts';
import { witnessOf } from '../../../../shared/domain/witness.ts';
import {
  ListQuery,
  RawDeletionQuery,
  RawMemoryPage,
  RawMemoryPostResponse,
  RawMemoryRequests,
  RawMemoryResponse,
} from '../../../../shared/schemas/memory.ts';
import { endpoint } from '../../../http/endpoint.ts';
import {
  additionDefaults,
  answerPage,
  deletionDefaults,
  listDefaults,
  shapeAsPosted,
} from '../../../memory/list.ts';
import { presentRaw } from '../../../memory/present.ts';
import type { Parts } from '../../parts.ts';

export const listRawMemory = endpoint('user', {
  ...listDefaults,
  operationId: 'listRawMemory',
  summary: 'The raw rows, the latest first',
  query: ListQuery,
  response: RawMemoryPage,
}).handle(async (input, { em, takeSearchTurn }: Parts) => {
  const { session_id: sessionId } = input.query;
  const read = (options: ListOptions) => listRaw(em(), input.user.id, { ...options, sessionId });
  return answerPage('raw', input, takeSearchTurn, read, presentRaw);
});

export const addRawMemory = endpoint('user', {
  ...additionDefaults,
  operationId: 'addRawMemory',
  scopes: ['write', 'record'],
  summary: 'Add a raw row, or up to 200 of them',
  description:
    'From a key without the scope `record` its `origin` is `reported`: it is no evidence of what the person said.',
  body: RawMemoryRequests,
  response: RawMemoryPostResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const now = Date.now();
  const rows = checkRows(body, (row, faults) => rawValues(row, now, faults));
  const addedRows = await addRawRows(em(), user.id, rows, witnessOf(user, 'record'));
  return { body: shapeAsPosted(body, addedRows.map(presentRaw)) };
});

export const readRawMemory = endpoint('user', {
  operationId: 'readRawMemory',
  tag: 'Memory',
  summary: 'One raw row',
  params: { id: 'uuid' },
  response: RawMemoryResponse,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentRaw(await em().findOneOrFail(RawMemory, { id: params.id, account: user.id })),
  read: { raw: 1 },
}));

export const deleteRawMemory = endpoint('user', {
  ...deletionDefaults,
  operationId: 'deleteRawMemory',
  summary: 'Forget a raw row, and what was derived from it alone',
  description:
    'What has other sources stays; its text is erased where it could repeat what was forgotten. The event from which the row was made does not become a row again; `purge_event=true` deletes the event too.',
  query: RawDeletionQuery,
}).handle(async ({ user, params, query }, { em }: Parts) => ({
  body: await deleteRaw(em(), user.id, params.id, { purgeEvent: query.purge_event === 'true' }),
}));
