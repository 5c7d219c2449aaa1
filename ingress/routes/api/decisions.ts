import {
  changeDecisionSettings,
  countLatestDay,
  type DecisionRow,
  listDecisions,
  objectTo,
  readDecisionSettings,
} from '../../../shared/db/stores/decisions.ts';
import { requireScope } from '../../../shared/domain/account.ts';
import { witnessOf } from '../../../shared/domain/witness.ts';
import {
  Decision,
  DecisionList,
  DecisionListQuery,
  DecisionSettings,
  DecisionSettingsChange,
} from '../../../shared/schemas/decisions.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { answerPage } from '../../memory/list.ts';
import type { Parts } from '../parts.ts';

export const listAutomaticDecisions = endpoint('user', {
  operationId: 'listDecisions',
  tag: 'Decisions',
  summary: 'What was decided for the person, the latest first',
  description:
    'Replies that were `auto`, for as long as they are kept, and permissions that were given, for 35 days. Texts are cut at 1000 characters.',
  query: DecisionListQuery,
  errors: ['overloaded'],
  response: DecisionList,
}).handle(async (input, { em, takeSearchTurn }: Parts) => {
  const { id } = input.user;
  const read = (options: Parameters<typeof listDecisions>[2]) => listDecisions(em(), id, options);
  const { body, read: reads } = await answerPage('predictions', input, takeSearchTurn, read, presentDecision);
  return { body: { ...body, latest_day: await countLatestDay(em(), id) }, read: reads };
});

export const objectToDecision = endpoint('user', {
  operationId: 'objectToDecision',
  changes: 'predictions',
  tag: 'Decisions',
  scopes: ['decide'],
  showsStored: true,
  summary: 'Say that one would have decided otherwise',
  description:
    'Counts as a No, and what the person approved of the like before counts no longer: what rests on it ends at once. Again changes nothing.',
  inTurn: 'memory',
  params: { id: 'uuid' },
  response: Decision,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentDecision(await objectTo(em(), user.id, params.id, witnessOf(user, 'decide'))),
}));

export const readAutomation = endpoint('user', {
  operationId: 'readDecisionSettings',
  tag: 'Decisions',
  summary: 'What may be decided for the person',
  response: DecisionSettings,
}).handle(async ({ user }, { em }: Parts) => ({ body: await readDecisionSettings(em(), user.id) }));

export const changeAutomation = endpoint('user', {
  operationId: 'changeDecisionSettings',
  changes: 'predictions',
  tag: 'Decisions',
  scopes: ['predict', 'decide'],
  summary: 'Change what may be decided for the person',
  description:
    '`{"automatic": false}` ends every automatic decision of the account at once, in every process. A key with scopes may change nothing else. `{"escalation_mail": "on"}` mails a link to the account’s address; once it is opened, a mail says what was left to the person. 404 `feature_disabled` where the server sends no mail.',
  inTurn: 'account',
  body: DecisionSettingsChange,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['feature_disabled'],
  response: DecisionSettings,
}).handle(async ({ user, body }, { em, emailChanges }: Parts) => {
  const { automatic, ...others } = body;
  if (automatic !== false || Object.keys(others).length > 0) requireScope(user, []);
  if (body.escalation_mail === 'on') await emailChanges.beginEscalationMail(user.id);
  return { body: await changeDecisionSettings(em(), user.id, body) };
});

function presentDecision({ decided_at, objected_at, ...row }: DecisionRow): Decision {
  return {
    ...row,
    decided_at: new Date(decided_at).toISOString(),
    objected_at: objected_at === null ? null : new Date(objected_at).toISOString(),
  };
}
