import { deleteFact } from '../../../../shared/db/stores/memory/delete.ts';
import { addFacts, changeFact, readFactDetail } from '../../../../shared/db/stores/memory/facts.ts';
import { type ListOptions, listFacts } from '../../../../shared/db/stores/memory/list.ts';
import { checkRows } from '../../../../shared/domain/faults.ts';
import { factValues, newFact } from '../../../../shared/domain/memory-rows.ts';
import { witnessOf } from '../../../../shared/domain/witness.ts';
import {
  FactChange,
  FactDetail,
  FactListQuery,
  FactPage,
  FactPostResponse,
  FactRequests,
  FactResponse,
} from '../../../../shared/schemas/memory.ts';
import { endpoint } from '../../../http/endpoint.ts';
import {
  additionDefaults,
  answerPage,
  deletionDefaults,
  listDefaults,
  PAGE_DESCRIPTION,
  shapeAsPosted,
} from '../../../memory/list.ts';
import { presentFact, presentFactDetail } from '../../../memory/present.ts';
import type { Parts } from '../../parts.ts';

export const listMemoryFacts = endpoint('user', {
  ...listDefaults,
  operationId: 'listFacts',
  summary: 'The facts, the latest first',
  description: `Includes superseded facts. \`revision_of\` lists the former wordings of a fact, \`superseded_by\` the facts that it superseded. ${PAGE_DESCRIPTION}`,
  query: FactListQuery,
  response: FactPage,
}).handle(async (input, { em, takeSearchTurn }: Parts) => {
  const { revision_of: revisionOf, superseded_by: supersededBy } = input.query;
  const pinned = input.query.pinned && input.query.pinned === 'true';
  const read = (options: ListOptions) =>
    listFacts(em(), input.user.id, { ...options, revisionOf, supersededBy, pinned });
  return answerPage('facts', input, takeSearchTurn, read, presentFact);
});

export const addMemoryFacts = endpoint('user', {
  ...additionDefaults,
  operationId: 'addFacts',
  summary: 'Add a fact, or up to 200 of them',
  body: FactRequests,
  response: FactPostResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const addedRows = await addFacts(em(), user.id, checkRows(body, newFact), witnessOf(user, 'record'));
  return { body: shapeAsPosted(body, addedRows.map(presentFact)) };
});

export const readMemoryFact = endpoint('user', {
  operationId: 'readFact',
  tag: 'Memory',
  summary: 'One fact, with what it is derived from',
  params: { id: 'uuid' },
  response: FactDetail,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentFactDetail(await readFactDetail(em(), user.id, params.id)),
  read: { facts: 1 },
}));

export const changeMemoryFact = endpoint('user', {
  operationId: 'changeFact',
  changes: 'memory',
  showsStored: true,
  tag: 'Memory',
  summary: 'Change the given properties of a fact',
  inTurn: 'memory',
  description: 'When it then states something else, its former wording is kept: `revision_of` lists it.',
  params: { id: 'uuid' },
  body: FactChange,
  response: FactResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => {
  const [change] = checkRows(body, (row, faults) => ({ values: factValues(row, faults), faults }));
  const witness = witnessOf(user, 'record');
  return { body: presentFact(await changeFact(em(), user.id, params.id, change, witness)) };
});

export const deleteMemoryFact = endpoint('user', {
  ...deletionDefaults,
  operationId: 'deleteFact',
  summary: 'Forget a fact, and its former wordings',
  description: 'A fact that it superseded is valid again, or is superseded by what superseded this one.',
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: await deleteFact(em(), user.id, params.id),
}));
