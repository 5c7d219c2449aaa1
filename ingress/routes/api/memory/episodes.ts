import { deleteEpisode } from '../../../../shared/db/stores/memory/delete.ts';
import { type ListOptions, listEpisodes } from '../../../../shared/db/stores/memory/list.ts';
import { addEpisodes, changeEpisode, readEpisode } from '../../../../shared/db/stores/memory/rows.ts';
import { checkRows } from '../../../../shared/domain/faults.ts';
import { episodeValues, newEpisode } from '../../../../shared/domain/memory-rows.ts';
import { witnessOf } from '../../../../shared/domain/witness.ts';
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
  answerPage,
  deletionDefaults,
  listDefaults,
  shapeAsPosted,
} from '../../../memory/list.ts';
import { presentEpisode } from '../../../memory/present.ts';
import type { Parts } from '../../parts.ts';

export const listMemoryEpisodes = endpoint('user', {
  ...listDefaults,
  operationId: 'listEpisodes',
  summary: 'The episodes, the latest first',
  query: ListQuery,
  response: EpisodePage,
}).handle(async (input, { em, takeSearchTurn }: Parts) => {
  const { session_id: sessionId } = input.query;
  const read = (options: ListOptions) => listEpisodes(em(), input.user.id, { ...options, sessionId });
  return answerPage('episodes', input, takeSearchTurn, read, presentEpisode);
});

export const addMemoryEpisodes = endpoint('user', {
  ...additionDefaults,
  operationId: 'addEpisodes',
  summary: 'Add an episode, or up to 200 of them',
  body: EpisodeRequests,
  response: EpisodePostResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const now = Date.now();
  const rows = checkRows(body, (row, faults) => newEpisode(row, now, faults));
  const addedRows = await addEpisodes(em(), user.id, rows, witnessOf(user, 'record'));
  return { body: shapeAsPosted(body, addedRows.map(presentEpisode)) };
});

export const readMemoryEpisode = endpoint('user', {
  operationId: 'readEpisode',
  tag: 'Memory',
  summary: 'One episode',
  params: { id: 'uuid' },
  response: EpisodeResponse,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentEpisode(await readEpisode(em(), user.id, params.id)),
  read: { episodes: 1 },
}));

export const changeMemoryEpisode = endpoint('user', {
  operationId: 'changeEpisode',
  changes: 'memory',
  showsStored: true,
  tag: 'Memory',
  summary: 'Change the given properties of an episode',
  inTurn: 'memory',
  params: { id: 'uuid' },
  body: EpisodeChange,
  response: EpisodeResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => {
  const [change] = checkRows(body, (row, faults) => ({
    values: episodeValues(row, Date.now(), faults),
    faults,
  }));
  const witness = witnessOf(user, 'record');
  return { body: presentEpisode(await changeEpisode(em(), user.id, params.id, change, witness)) };
});

export const deleteMemoryEpisode = endpoint('user', {
  ...deletionDefaults,
  operationId: 'deleteEpisode',
  summary: 'Forget an episode, and the facts that were derived from it alone',
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: await deleteEpisode(em(), user.id, params.id),
}));
