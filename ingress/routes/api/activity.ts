import { readChecks, readActivity as readDays, readSuggestions } from '../../../shared/db/stores/activity.ts';
import { accountTokens } from '../../../shared/db/stores/provider-calls.ts';
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
  response: ActivityResponse,
}).handle(async ({ user, query }, { em, tokenQuotas }: Parts) => {
  const { days, utc_offset_minutes: utcOffsetMinutes } = query;
  const period = { days, utcOffsetMinutes, now: Date.now() };
  return {
    body: {
      days: await readDays(em(), user.id, period),
      checks: await readChecks(em(), user.id, period),
      suggestions: await readSuggestions(em(), user.id, period),
      tokens_today: await accountTokens(em(), user.id),
      tokens_quota: tokenQuotas.account,
    },
  };
});
