import type { Account, ServiceKey } from '../../shared/db/entities/account.ts';
import type { KeyResponse, UserResponse } from '../../shared/schemas/accounts.ts';

export function presentUser({ id, email, name, createdAt }: Account): UserResponse {
  return { id, email, name, created_at: createdAt.toISOString() };
}

export function presentKey({ id, label, scopes, prefix, createdAt, lastUsedAt }: ServiceKey): KeyResponse {
  return {
    id,
    label,
    ...(scopes && { scopes }),
    prefix,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}
