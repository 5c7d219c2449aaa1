import type { EntityManager } from '@mikro-orm/postgresql';
import type { DecidedPermission } from '../../domain/permissions/support.ts';
import { PermissionDecision } from '../entities/permission.ts';

/** Latest decisions of the person that are compared, and the bytes of an event that may be one. */
const EVIDENCE_MAX = 500;
const EVIDENCE_BYTES_MAX = 16_384;

/**
 * Reads what the person decided by hand or objected to, the latest first, without what a key reported that vouches for
 * nobody. The only place that says which events are evidence of what a person allows.
 */
export async function decidedPermissions(em: EntityManager, accountId: string): Promise<DecidedPermission[]> {
  const rows = await em.execute<{ body: string; isObjection: boolean }[]>(
    `(select body, false as "isObjection", occurred_at from recording_events
       where account_id = ? and type = 'agent.permission' and not reported
         and octet_length(body) <= ${EVIDENCE_BYTES_MAX}
       order by occurred_at desc limit ${EVIDENCE_MAX})
     union all
     (select to_json(d)::text, true, objected_at from permission_decisions d
       where account_id = ? and objected_at is not null order by objected_at desc limit ${EVIDENCE_MAX})
     order by occurred_at desc limit ${EVIDENCE_MAX}`,
    [accountId, accountId],
  );
  return rows.map(({ body, isObjection }) => {
    const { tool, action, target, cwd, project, outcome, decision } = JSON.parse(body);
    const isAllowed = isObjection ? decision === 'deny' : outcome === 'allowed';
    return { tool, action, target, cwd, project, isAllowed, isObjection };
  });
}

export async function storePermissionDecision(
  em: EntityManager,
  decision: PermissionDecision,
): Promise<void> {
  await em.insert(PermissionDecision, decision);
}
