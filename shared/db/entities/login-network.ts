import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';

/** A network from which an account logged in: strangers' wrong passwords do not shut it out. */
export const LoginNetwork = defineEntity({
  name: 'LoginNetwork',
  tableName: 'login_networks',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** A keyed hash over account and network; no address is stored. */
    hash: p.blob().primary(),
    expiresAt: p.datetime(3).index(),
  },
});
