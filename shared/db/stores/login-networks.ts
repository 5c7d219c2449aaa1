import type { EntityManager } from '@mikro-orm/postgresql';

const KEPT_DAYS = 90;

/** Remembers that the account logged in from the network with this hash, for 90 days. At most one write a day for each. */
export async function rememberNetwork(em: EntityManager, accountId: string, hash: Buffer): Promise<void> {
  await em.execute(
    `insert into login_networks as n (account_id, hash, expires_at)
     select a.id, ?, now() + make_interval(days => ?) from accounts a where a.id = ? and a.active for key share of a
     on conflict (account_id, hash) do update set expires_at = excluded.expires_at
       where n.expires_at < excluded.expires_at - interval '1 day'`,
    [hash, KEPT_DAYS, accountId],
  );
}

/** Whether the account with this e-mail address logged in from the network with this hash. */
export async function isKnownNetwork(em: EntityManager, emailKey: string, hash: Buffer): Promise<boolean> {
  const known = await em.execute<object[]>(
    `select from login_networks n join accounts a on a.id = n.account_id
      where a.email_key = ? and n.hash = ? and n.expires_at > now()`,
    [emailKey, hash],
  );
  return known.length > 0;
}
