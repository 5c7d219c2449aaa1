import { deleteRaw } from '../../../../shared/db/stores/memory/delete.ts';
import { listRaw } from '../../../../shared/db/stores/memory/list.ts';
import { addRawRows, findRaw } from '../../../../shared/db/stores/memory/rows.ts';
import { checkRows } from '../../../../shared/domain/faults.ts';
import { rawValues } from '../../../../shared/domain/memory-rows.ts';
import { AppError } from '../../../../shared/errors/app-error.ts';
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
  deletionDefaults,
  PAGE_DESCRIPTION,
  readPage,
  shapeAsPosted,
} from '../../../memory/list.ts';
import { presentRaw } from '../../../memory/present.ts';
import type { Parts } from '../../parts.ts';

export const listRawMemory = endpoint('user', {
  operationId: 'listRawMemory',
  tag: 'Memory',
  summary: 'The raw rows, the latest first',
  description: PAGE_DESCRIPTION,
  query: ListQuery,
  errors: ['overloaded'],
  status: 200,
  response: RawMemoryPage,
}).handle(
  async (
    { user, query: { session_id: sessionId, ...query }, reserve, signal },
    { em, takeSearchTurn }: Parts,
  ) => {
    const { rows, next } = await readPage(
      { accountId: user.id, tier: 'raw' },
      query,
      { reserve, takeSearchTurn, signal },
      (options) => listRaw(em(), user.id, { ...options, sessionId }),
    );
    return { body: { results: rows.map(presentRaw), next } };
  },
);

export const addRawMemory = endpoint('user', {
  ...additionDefaults,
  operationId: 'addRawMemory',
  summary: 'Add a raw row, or up to 200 of them',
  body: RawMemoryRequests,
  response: RawMemoryPostResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const now = Date.now();
  const rows = checkRows(body, (row, faults) => rawValues(row, now, faults));
  const addedRows = await addRawRows(em(), user.id, rows);
  return { body: shapeAsPosted(body, addedRows.map(presentRaw)) };
});

export const readRawMemory = endpoint('user', {
  operationId: 'readRawMemory',
  tag: 'Memory',
  summary: 'One raw row',
  params: { id: 'uuid' },
  errors: ['not_found'],
  status: 200,
  response: RawMemoryResponse,
}).handle(async ({ user, params }, { em }: Parts) => {
  const row = await findRaw(em(), user.id, params.id);
  if (row === undefined) throw new AppError('not_found');
  return { body: presentRaw(row) };
});

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
