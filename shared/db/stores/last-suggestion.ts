import type { Pool } from 'pg';
import type { Suggestion } from '../../domain/continued.ts';
import { lineKey, type PredictionFacts, type PredictionReport } from '../../domain/prediction.ts';
import { TOMBSTONE_DAYS } from '../../schemas/limits.ts';
import { fingerprint } from '../../security/fingerprint.ts';
import { query } from '../statement.ts';

/** Longer than that a person who types does not wait for it. */
const WITHIN_MS = 300;

/** The answer of a prediction that an erasure has not come to yet counts as gone. */
const LAST = {
  name: 'last_suggestion_v1',
  text: `
    select a.id, a.answer, h.facts, h.report, p.fingerprint_key as "fingerprintKey",
           exists (
             select from prediction_events e
              where e.prediction_id in (a.id, (h.report::json ->> 'continues')::uuid) and e.kind = 'dismissed')
             as dismissed
      from (select * from answers where line = $1 order by id desc limit 1) a
     cross join lateral (
       select h.* from history h
        where h.key = a.key and h.id = a.id and h.state = 'suggested'
          and h.ended_at > now() - interval '${TOMBSTONE_DAYS} days'
        order by h.attempt desc limit 1) h
      join apps p on p.id = h.party
     where a.expires_at > now() and h.party = $2
       and not exists (
         select from erasing_grants g
          where g.connection_id = h.connection_id and h.admitted_at <= g.ended_at
            and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int))`,
};

interface Row {
  id: string;
  answer: string;
  facts: string;
  report: string;
  fingerprintKey: Buffer;
  dismissed: boolean;
}

/** The latest suggestion to a person in a session of an app, while its answer is kept. Never rejects: none is found then. */
export async function lastSuggestion(
  pool: Pool,
  appId: string,
  { userId, sessionId }: Pick<PredictionFacts, 'userId' | 'sessionId'>,
): Promise<Suggestion | undefined> {
  const values = [lineKey(appId, userId, sessionId), appId];
  const [row] = await query<Row>(pool, LAST, values, { withinMs: WITHIN_MS }).catch(() => []);
  if (row === undefined) return undefined;
  const { fingerprintKey, facts, report, ...last } = row;
  return {
    ...last,
    facts: JSON.parse(facts) as PredictionFacts,
    report: JSON.parse(report) as PredictionReport,
    hashOf: (draft) => fingerprint(fingerprintKey, draft).toString('base64url'),
  };
}
