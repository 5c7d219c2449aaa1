import type { EntityManager } from '@mikro-orm/postgresql';
import { readAutomationTerms } from '../../shared/db/stores/decisions.ts';
import { decidedPermissions, storePermissionDecision } from '../../shared/db/stores/permissions.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import { type AutomationTerms, automationOf } from '../../shared/domain/automation.ts';
import type { Permission } from '../../shared/domain/permissions/permission.ts';
import {
  type DecidedPermission,
  decidePermission,
  denyPermission,
  type PermissionVerdict,
  UNKNOWN,
} from '../../shared/domain/permissions/support.ts';
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
  { id: accountId, keyId }: Pick<UserPrincipal, 'id' | 'keyId'>,
  { shadow, session_id, mode, ...asked }: PermissionRequest,
): Promise<PermissionAnswer> {
  const isUnattended = mode === UNATTENDED_MODE;
  const [terms, decided] = await Promise.all([
    readAutomationTerms(em, accountId),
    decidedPermissions(em, accountId),
  ]);
  const verdict = containsSecret(asked.target)
    ? UNKNOWN
    : verdictOn(asked, decided, { isUnattended, deny: terms?.deny ?? false });
  const outcome = outcomeOf(verdict, terms, !shadow && !isUnattended);
  const id = newId();
  const target = maskSecrets(asked.target);
  const { decision, reason } = outcome;
  await storePermissionDecision(em, {
    ...asked,
    ...verdict,
    id,
    accountId,
    target,
    sessionId: session_id ?? null,
    mode,
    shadow,
    decision,
    keyId: keyId ?? null,
    blind: reason === 'check',
    objectedAt: null,
    createdAt: new Date(),
  });
  return { id, ...verdict, ...outcome };
}

function verdictOn(
  asked: Permission,
  decided: readonly DecidedPermission[],
  { isUnattended, deny }: { isUnattended: boolean; deny: boolean },
): PermissionVerdict {
  const verdict = decidePermission(asked, decided, isUnattended);
  if (verdict.decision === 'allow' || !deny) return verdict;
  return denyPermission(asked, decided, isUnattended) ?? verdict;
}

/** `isCheckable`: the person is asked where we are silent, and would not be otherwise. */
function outcomeOf(
  { decision, required }: PermissionVerdict,
  terms: AutomationTerms | null,
  isCheckable: boolean,
): Pick<PermissionAnswer, 'decision' | 'reason'> {
  if (decision === 'ask') return { decision, reason: required === null ? 'never' : 'unsupported' };
  const automation = automationOf(terms, isCheckable);
  if (automation === 'act') return { decision, reason: 'supported' };
  return { decision: 'ask', reason: automation === 'check' ? 'check' : 'off' };
}
