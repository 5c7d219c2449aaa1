import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { AutomationTerms } from '../../domain/automation.ts';
import type { Witness } from '../../domain/witness.ts';
import { AppError } from '../../errors/app-error.ts';
import { LOWEST_ID } from '../../ids.ts';
import {
  DECISION_TEXT_MAX,
  type Decision,
  DecisionSettings,
  type DecisionSettingsChange,
} from '../../schemas/decisions.ts';
import { columnsOf, present } from '../../schemas/present.ts';
import { Account } from '../entities/account.ts';
import { PermissionDecision } from '../entities/permission.ts';
import { oneRow, unixMs } from '../rows.ts';
import type { ListOptions, Page } from './memory/list.ts';
import { recordFeedback } from './replies/rows.ts';
import { endEscalationMail, readEscalationMail } from './webhooks/mails.ts';

/** What was decided for a person, with the names of the published fields; times are in milliseconds since 1970. */
export type DecisionRow = Omit<Decision, 'decided_at' | 'objected_at'> & {
  decided_at: number;
  objected_at: number | null;
};

const LATEST_DAY = `now() - interval '1 day'`;
const DAY_MS = 24 * 60 * 60_000;

/** Replies that were acted on, and permissions that were given or denied. */
const OF_REPLIES = `
  select id, 'reply' as kind, ${unixMs('acted_at')} as decided_at, agent, session_id, project, null as tool, null as action,
         right(agent_input, ${DECISION_TEXT_MAX}) as asked, left(response, ${DECISION_TEXT_MAX}) as answer,
         confidence, threshold, null::int as required,
         json_build_object('agreeing', coalesce((context #>> '{support,agreeing}')::int, 0),
                           'similar', coalesce((context #>> '{support,similar}')::int, 0)) as evidence,
         key_id, case when status = 'rejected' or not label then ${unixMs('feedback_at')} end as objected_at
    from replies where account_id = ? and acted_at is not null`;
const OF_PERMISSIONS = `
  select id, 'permission' as kind, ${unixMs('created_at')} as decided_at, agent, session_id, project, tool, action,
         left(target, ${DECISION_TEXT_MAX}) as asked, decision as answer,
         confidence, null::float8 as threshold, required,
         json_build_object('agreeing', case decision when 'deny' then refused else allowed end, 'similar', allowed + refused) as evidence, key_id,
         ${unixMs('objected_at')} as objected_at
    from permission_decisions where account_id = ? and decision <> 'ask' and not shadow`;

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export async function listDecisions(
  em: EntityManager,
  accountId: string,
  { limit, after, since, until }: Pick<ListOptions, 'limit' | 'after' | 'since' | 'until'>,
): Promise<Page<DecisionRow>> {
  const part = (from: string, time: string) => ({
    sql: `(${from} and ${time} >= coalesce(?::timestamptz, '-infinity') and ${time} < coalesce(?::timestamptz, 'infinity')
             and (${time}, id) < (coalesce(?::timestamptz, 'infinity'), ?::uuid)
           order by ${time} desc, id desc limit ?)`,
    values: [accountId, since ?? null, until ?? null, after?.at ?? null, after?.id ?? LAST_ID, limit + 1],
  });
  const parts = [part(OF_REPLIES, 'acted_at'), part(OF_PERMISSIONS, 'created_at')];
  const found = await em.execute<DecisionRow[]>(
    `${parts.map(({ sql }) => sql).join(' union all ')} order by decided_at desc, id desc limit ?`,
    [...parts.flatMap(({ values }) => values), limit + 1],
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows };
  return { rows, end: { at: new Date(last.decided_at), id: last.id, relevance: 0 } };
}

/** Counts what was decided for a person in the last 24 hours. */
export async function countLatestDay(em: EntityManager, accountId: string): Promise<number> {
  const counted = em.execute<{ count: number }[]>(
    `select (select count(*) from replies where account_id = ? and acted_at > ${LATEST_DAY})::int
          + (select count(*) from permission_decisions
              where account_id = ? and decision <> 'ask' and not shadow and created_at > ${LATEST_DAY})::int
            as count`,
    [accountId, accountId],
  );
  return (await oneRow(counted)).count;
}

/** What the person was asked to check, and how they answered. */
export interface CheckCounts {
  asked: number;
  answered: number;
  right: number;
}

/** Checks that are counted, the latest; and how long after a request the person's answer to it is looked for. */
const CHECKS_MAX = 1000;
const ANSWERED_WITHIN = `interval '1 day'`;

/** Counts the checks of replies since a time. A check that the person dismissed without a reply is not answered. */
export function countReplyChecks(em: EntityManager, accountId: string, since: Date): Promise<CheckCounts> {
  return oneRow(
    em.execute<CheckCounts[]>(
      `select count(*)::int as asked, count(label)::int as answered, (count(*) filter (where label))::int as right
         from (select label from replies where account_id = ? and blind and created_at >= ?
                order by created_at desc limit ${CHECKS_MAX}) checks`,
      [accountId, since],
    ),
  );
}

/**
 * Counts the checks of permissions since a time: what would have been allowed, by the person's next decision on the very
 * same. Where the answer is only noted (`shadow`), each is one.
 */
export function countPermissionChecks(
  em: EntityManager,
  accountId: string,
  since: Date,
): Promise<CheckCounts> {
  return oneRow(
    em.execute<CheckCounts[]>(
      `select count(*)::int as asked, count(answer)::int as answered,
              (count(*) filter (where (answer = 'refused') = (allowed < refused)))::int as right
         from (select * from permission_decisions
                where account_id = ? and (blind or (shadow and decision <> 'ask')) and created_at >= ?
                order by created_at desc limit ${CHECKS_MAX}) d
         left join lateral (
           select e.body::json ->> 'outcome' as answer from recording_events e
            where e.account_id = d.account_id and e.type = 'agent.permission' and not e.reported
              and e.occurred_at between d.created_at and d.created_at + ${ANSWERED_WITHIN}
              and e.body::json ->> 'target' = d.target and e.body::json ->> 'tool' = d.tool
              and e.body::json ->> 'cwd' = d.cwd
            order by e.occurred_at limit 1) e on true`,
      [accountId, since],
    ),
  );
}

const NOTES_AT_ONCE = 100;

/** Takes the notes that are due: one a day for each person for whom anything was decided since. Yields each once. */
export async function* takeDueNotes(
  em: () => EntityManager,
): AsyncGenerator<{ email: string; count: number }> {
  let after = LOWEST_ID;
  let due: { id: string; email: string }[];
  do {
    due = await em().execute<{ id: string; email: string }[]>(
      `select a.id, a.email from accounts a
        where a.id > ? and a.active and a.daily_note and coalesce(a.noted_at, '-infinity') <= ${LATEST_DAY} and (
          exists (select from replies r where r.account_id = a.id and r.acted_at > ${LATEST_DAY})
          or exists (select from permission_decisions d
                      where d.account_id = a.id and d.decision <> 'ask' and not d.shadow and d.created_at > ${LATEST_DAY}))
        order by a.id limit ${NOTES_AT_ONCE}`,
      [after],
    );
    for (const { id, email } of due) {
      const isDue = { $or: [{ notedAt: null }, { notedAt: { $lte: new Date(Date.now() - DAY_MS) } }] };
      const taken = await em().nativeUpdate(Account, { id, ...isDue }, { notedAt: raw('now()') });
      if (taken > 0) yield { email, count: await countLatestDay(em(), id) };
    }
    after = due.at(-1)?.id ?? LAST_ID;
  } while (due.length === NOTES_AT_ONCE);
}

/** Throws `not_found` if nothing of that id was decided for the person. */
async function findDecision(em: EntityManager, accountId: string, id: string): Promise<DecisionRow> {
  const [row] = await em.execute<DecisionRow[]>(
    `${OF_REPLIES} and id = ? union all ${OF_PERMISSIONS} and id = ?`,
    [accountId, id, accountId, id],
  );
  if (row === undefined) throw new AppError('not_found');
  return row;
}

/**
 * Stores that the person would not have decided so. What rests on their earlier approvals of the like ends at once.
 * Throws `not_found` if nothing of that id was decided for the person.
 */
export async function objectTo(
  em: EntityManager,
  accountId: string,
  id: string,
  witness: Witness,
): Promise<DecisionRow> {
  const { kind, objected_at } = await findDecision(em, accountId, id);
  if (objected_at === null && kind === 'reply')
    await recordFeedback(em, accountId, id, { status: 'rejected' }, witness);
  else if (objected_at === null)
    await em.nativeUpdate(
      PermissionDecision,
      { id, accountId, objectedAt: null },
      { objectedAt: raw('now()') },
    );
  return findDecision(em, accountId, id);
}

export async function readAutomationTerms(
  em: EntityManager,
  accountId: string,
): Promise<(AutomationTerms & Pick<Account, 'deny'>) | null> {
  return em.findOne(Account, { id: accountId }, { fields: ['automatic', 'checkShare', 'deny'] });
}

export async function readDecisionSettings(em: EntityManager, accountId: string): Promise<DecisionSettings> {
  const account = await em.findOneOrFail(Account, { id: accountId });
  const escalation_mail = await readEscalationMail(em, accountId);
  return present(DecisionSettings, account, { escalation_mail });
}

export async function changeDecisionSettings(
  em: EntityManager,
  accountId: string,
  { escalation_mail, ...settings }: DecisionSettingsChange,
): Promise<DecisionSettings> {
  const change: Partial<Account> = columnsOf(DecisionSettings, settings);
  await em.nativeUpdate(Account, { id: accountId }, { ...change, updatedAt: raw('now()') });
  if (escalation_mail === 'off') await endEscalationMail(em, accountId);
  return readDecisionSettings(em, accountId);
}
