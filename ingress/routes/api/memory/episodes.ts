import { deleteEpisode } from '../../../../shared/db/stores/memory/delete.ts';
import { listEpisodes } from '../../../../shared/db/stores/memory/list.ts';
import { addEpisodes, changeEpisode, readEpisode } from '../../../../shared/db/stores/memory/rows.ts';
import { checkRows } from '../../../../shared/domain/faults.ts';
import { episodeValues, newEpisode } from '../../../../shared/domain/memory-rows.ts';
import {
  EpisodeChange,
  EpisodePage,
  EpisodePostResponse,
  EpisodeRequests,
  EpisodeResponse,
  ListQuery,
} from '../../../../shared/schemas/memory.ts';
import { endpoint } from '../../../http/endpoint.ts';
import {
  additionDefaults,
  deletionDefaults,
  PAGE_DESCRIPTION,
  readPage,
  shapeAsPosted,
} from '../../../memory/list.ts';
import { presentEpisode } from '../../../memory/present.ts';
import type { Parts } from '../../parts.ts';

export const listMemoryEpisodes = endpoint('user', {
  operationId: 'listEpisodes',
  tag: 'Memory',
  summary: 'The episodes, the latest first',
  description: PAGE_DESCRIPTION,
  query: ListQuery,
  errors: ['overloaded'],
  status: 200,
  response: EpisodePage,
}).handle(
  async (
    { user, query: { session_id: sessionId, ...query }, reserve, signal },
    { em, takeSearchTurn }: Parts,
  ) => {
    const { rows, next } = await readPage(
      { accountId: user.id, tier: 'episodes' },
      query,
      { reserve, takeSearchTurn, signal },
      (options) => listEpisodes(em(), user.id, { ...options, sessionId }),
    );
    return { body: { results: rows.map(presentEpisode), next } };
  },
);

export const addMemoryEpisodes = endpoint('user', {
  ...additionDefaults,
  operationId: 'addEpisodes',
  summary: 'Add an episode, or up to 200 of them',
  body: EpisodeRequests,
  response: EpisodePostResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const now = Date.now();
  const rows = checkRows(body, (row, faults) => newEpisode(row, now, faults));
  const addedRows = await addEpisodes(em(), user.id, rows);
  return { body: shapeAsPosted(body, addedRows.map(presentEpisode)) };
});

export const readMemoryEpisode = endpoint('user', {
  operationId: 'readEpisode',
  tag: 'Memory',
  summary: 'One episode',
  params: { id: 'uuid' },
  errors: ['not_found'],
  status: 200,
  response: EpisodeResponse,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentEpisode(await readEpisode(em(), user.id, params.id)),
}));

export const changeMemoryEpisode = endpoint('user', {
  operationId: 'changeEpisode',
  tag: 'Memory',
  summary: 'Change the given properties of an episode',
  inTurn: 'memory',
  params: { id: 'uuid' },
  body: EpisodeChange,
  errors: ['not_found'],
  status: 200,
  response: EpisodeResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => {
  const [values] = checkRows(body, (row, faults) => episodeValues(row, Date.now(), faults));
  return { body: presentEpisode(await changeEpisode(em(), user.id, params.id, values)) };
});

export const deleteMemoryEpisode = endpoint('user', {
  ...deletionDefaults,
  operationId: 'deleteEpisode',
  summary: 'Forget an episode, and the facts that were derived from it alone',
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: await deleteEpisode(em(), user.id, params.id),
}));
