import { readActivity as readDays } from '../../../shared/db/stores/activity.ts';
import { ACTIVITY_ROWS_MAX, ActivityQuery, ActivityResponse } from '../../../shared/schemas/activity.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const readActivity = endpoint('user', {
  operationId: 'readActivity',
  tag: 'Accounts',
  summary: 'What was predicted, learnt and spent, day by day',
  description: `Counts the newest ${ACTIVITY_ROWS_MAX} rows of each kind at most.`,
  inTurn: 'memory',
  query: ActivityQuery,
  errors: [],
  status: 200,
  response: ActivityResponse,
}).handle(async ({ user, query }, { em }: Parts) => {
  const { days, utc_offset_minutes: utcOffsetMinutes } = query;
  return { body: { days: await readDays(em(), user.id, { days, utcOffsetMinutes, now: Date.now() }) } };
});
