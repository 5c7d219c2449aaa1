import type { Account, ServiceKey } from '../../shared/db/entities/account.ts';
import { KeyResponse, UserResponse } from '../../shared/schemas/accounts.ts';
import { present } from '../../shared/schemas/present.ts';

export function presentUser(account: Account): UserResponse {
  return present(UserResponse, account);
}

export function presentKey(key: ServiceKey): KeyResponse {
  return present(KeyResponse, key);
}
