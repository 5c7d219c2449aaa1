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
  name: 'last_suggestion_v2',
  text: `
    select q.place::int, a.id, a.answer, h.facts, h.report,
           (select p.fingerprint_key from apps p where p.id = h.party) as "fingerprintKey",
           exists (
             select from prediction_events e
              where e.prediction_id in (a.id, (h.report::json ->> 'continues')::uuid) and e.kind = 'dismissed')
             as dismissed
      from unnest($1::uuid[], $2::uuid[]) with ordinality as q (line, party, place)
     cross join lateral (select * from answers where line = q.line order by id desc limit 1) a
     cross join lateral (
       select h.* from history h
        where h.key = a.key and h.id = a.id and h.state = 'suggested'
          and h.ended_at > now() - interval '${TOMBSTONE_DAYS} days'
        order by h.attempt desc limit 1) h
     where a.expires_at > now() and h.party = q.party
       and not exists (
         select from erasing_grants g
          where g.connection_id = h.connection_id and h.admitted_at <= g.ended_at
            and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int))`,
};

interface Row {
  place: number;
  id: string;
  answer: string;
  facts: string;
  report: string;
  fingerprintKey: Buffer;
  dismissed: boolean;
}

/** A person's session in an app. */
export interface Session extends Pick<PredictionFacts, 'userId' | 'sessionId'> {
  appId: string;
}

/** The latest suggestion in each of the sessions, while its answer is kept. Never rejects: none is found then. */
export async function lastSuggestions(
  pool: Pool,
  sessions: readonly Session[],
): Promise<(Suggestion | undefined)[]> {
  const lines = sessions.map(({ appId, userId, sessionId }) => lineKey(appId, userId, sessionId));
  const apps = sessions.map(({ appId }) => appId);
  const rows = await query<Row>(pool, LAST, [lines, apps], { withinMs: WITHIN_MS }).catch(() => []);
  const found = new Map(rows.map((row) => [row.place, suggestionIn(row)]));
  return sessions.map((_, n) => found.get(n + 1));
}

function suggestionIn({ fingerprintKey, facts, report, id, answer, dismissed }: Row): Suggestion {
  return {
    id,
    answer,
    dismissed,
    facts: JSON.parse(facts) as PredictionFacts,
    report: JSON.parse(report) as PredictionReport,
    hashOf: (draft) => fingerprint(fingerprintKey, draft).toString('base64url'),
  };
}
