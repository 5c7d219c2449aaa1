import type { AccessDay } from '../../shared/db/entities/access.ts';
import type { Account, RefreshToken, ServiceKey } from '../../shared/db/entities/account.ts';
import type { Grant } from '../../shared/db/entities/grant.ts';
import type { Passkey } from '../../shared/db/entities/passkey.ts';
import type { Webhook } from '../../shared/db/entities/webhook.ts';
import { AccessEntry } from '../../shared/schemas/accesses.ts';
import { GrantResponse, KeyResponse, LogInResponse, UserResponse } from '../../shared/schemas/accounts.ts';
import { PasskeyResponse } from '../../shared/schemas/passkeys.ts';
import { present } from '../../shared/schemas/present.ts';
import { WebhookResponse } from '../../shared/schemas/webhooks.ts';

export function presentUser(account: Account): UserResponse {
  return present(UserResponse, account);
}

export function presentKey(key: ServiceKey): KeyResponse {
  return present(KeyResponse, key);
}

export function presentLogIn(logIn: RefreshToken, currentId?: string): LogInResponse {
  return present(LogInResponse, logIn, { current: logIn.id === currentId });
}

export function presentPasskey(passkey: Passkey): PasskeyResponse {
  return present(PasskeyResponse, passkey);
}

export function presentAccess(row: AccessDay): AccessEntry {
  return present(AccessEntry, row);
}

export function presentGrant(grant: Grant): GrantResponse {
  const { clientId } = grant;
  return present(GrantResponse, grant, { client_url: /^https?:/.test(clientId) ? clientId : null });
}

export function presentWebhook(webhook: Webhook): WebhookResponse {
  return present(WebhookResponse, webhook, { app_id: webhook.app?.id ?? null });
}
