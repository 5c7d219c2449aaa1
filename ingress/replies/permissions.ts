import type { EntityManager } from '@mikro-orm/postgresql';
import { decidedPermissions, storePermissionDecision } from '../../shared/db/stores/permissions.ts';
import { decidePermission, UNKNOWN } from '../../shared/domain/permissions/support.ts';
import { newId } from '../../shared/ids.ts';
import type { PermissionAnswer, PermissionRequest } from '../../shared/schemas/permissions.ts';
import { containsSecret, maskSecrets } from '../../shared/text/secrets.ts';

/** The agent's mode in which it decides by itself where nobody answers. */
const UNATTENDED_MODE = 'auto';

/**
 * Says whether the person allows what an agent asks for, by what they decided before. Asks no model. What has a secret
 * in it is the person's to decide, and is stored without it.
 */
export async function answerPermission(
  em: EntityManager,
  accountId: string,
  { shadow, session_id, mode, ...asked }: PermissionRequest,
): Promise<PermissionAnswer> {
  const verdict = containsSecret(asked.target)
    ? UNKNOWN
    : decidePermission(asked, await decidedPermissions(em, accountId), mode === UNATTENDED_MODE);
  const id = newId();
  const target = maskSecrets(asked.target);
  const row = { ...asked, target, sessionId: session_id ?? null, mode, shadow, createdAt: new Date() };
  await storePermissionDecision(em, { id, accountId, ...row, ...verdict });
  return { id, ...verdict };
}
