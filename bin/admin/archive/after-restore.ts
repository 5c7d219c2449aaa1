import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { limitKey } from '../../../shared/db/stores/rate-limits.ts';
import { EARLIER_SESSIONS, ENDED_SESSIONS } from '../../../shared/domain/board-session.ts';
import { AdminError, diagnose } from '../admin-error.ts';
import { copyErasures, ERASE_ACCOUNTS, hashOf, takeOverErasures } from './erasures.ts';
import { inTransaction } from './tables.ts';

interface AfterRestore {
  /** Address of the database that the restored one replaces. */
  replacedUrl: string | undefined;
  /** File of `admin erasures`. */
  erasuresFile: string | undefined;
  keepLogIns: boolean;
}

/** Numbers of rows changed because of what had happened in the replaced database since the backup. */
export type Ended = Record<keyof typeof REPLAYS, number>;

/**
 * Ends what must not work again in a restored database: what had ended in the replaced one, if that is known, and all
 * log-ins. Takes over what was erased since, as far as the replaced database or the file says it. Returns null if there
 * is no replaced database.
 */
export async function endAfterRestore(
  client: pg.Client,
  { replacedUrl, erasuresFile, keepLogIns }: AfterRestore,
): Promise<Ended | null> {
  const ended = replacedUrl === undefined ? null : await replay(client, replacedUrl);
  if (erasuresFile !== undefined) await copyErasures(client, erasuresFile);
  if ((replacedUrl ?? erasuresFile) !== undefined) await takeOverErasures(client);
  if (!keepLogIns) await endLogIns(client);
  return ended;
}

/**
 * A generation later than any of which an access token may still be valid: those that the account began within an hour,
 * and those that another restore of the same backup began, which is why it counts seconds.
 */
const NEXT_GENERATION = `greatest(login_generation + 1000, extract(epoch from now() - timestamptz '2026-01-01Z')::int)`;

async function endLogIns(client: pg.Client): Promise<void> {
  await client.query(`update accounts set login_generation = ${NEXT_GENERATION}`);
  await client.query(
    'truncate refresh_tokens, web_sessions, password_resets, email_changes, passkey_challenges, grant_codes',
  );
  await client.query(
    `insert into rate_limits (key, points, expire) values ($1, 1, extract(epoch from now()) * 1000 + $2)
     on conflict (key) do update set points = 1, expire = excluded.expire`,
    [limitKey(ENDED_SESSIONS.name, EARLIER_SESSIONS), ENDED_SESSIONS.windowS * 1000],
  );
}

/** Columns that are compared with those of the replaced database, by table. */
const COMPARED_COLUMNS = {
  accounts:
    'id, email, email_key, password_hash, active, automatic, login_generation, erasing_at, created_at',
  service_keys: 'id',
  passkeys: 'id, counter',
  grants: 'id, refreshes, scopes',
  refresh_tokens: 'hash',
  ended_log_ins: '*',
  web_sessions: 'hash',
  password_resets: 'hash',
  email_changes: 'hash',
  invites: 'id, used_at',
  apps: 'id, fingerprint_key, active, redirect_uris',
  app_keys: '*',
  connections: 'id, account_id, status, grant_revision, memory, projects, ends_at',
  connection_attempts: 'id, status',
  webhooks: 'id, url, secret, old_secret, old_secret_until, disabled',
  erasures: 'account_id, what, subject, erased_at',
};

/** Each statement ends what has ended in the replaced database since the backup; `r` is the row there. */
const REPLAYS = {
  erased_accounts: `
    ${ERASE_ACCOUNTS} and not exists (select from replaced_accounts r where r.id = a.id and r.erasing_at is null)`,
  disabled_accounts: `
    update accounts a set active = false from replaced_accounts r where r.id = a.id and a.active and not r.active`,
  stopped_automation: `
    update accounts a set automatic = false
      from replaced_accounts r where r.id = a.id and a.automatic and not r.automatic`,
  changed_emails: `
    update accounts a set email = r.email, email_key = r.email_key
      from replaced_accounts r where r.id = a.id and a.erasing_at is null and r.email_key <> a.email_key
       and not exists (select from accounts o where o.email_key = r.email_key)`,
  changed_passwords: `
    update accounts a set password_hash = r.password_hash
      from replaced_accounts r where r.id = a.id and a.erasing_at is null and r.password_hash <> a.password_hash`,
  ended_generations: `
    update accounts a set login_generation = r.login_generation
      from replaced_accounts r where r.id = a.id and r.login_generation > a.login_generation`,
  revoked_service_keys: `
    delete from service_keys k where not exists (select from replaced_service_keys r where r.id = k.id)`,
  removed_passkeys: `
    delete from passkeys k where not exists (select from replaced_passkeys r where r.id = k.id)`,
  used_passkeys: `
    update passkeys k set counter = r.counter from replaced_passkeys r where r.id = k.id and r.counter > k.counter`,
  revoked_grants: `
    delete from grants g where not exists (select from replaced_grants r where r.id = g.id)`,
  renewed_grants: `
    update grants g set refreshes = r.refreshes
      from replaced_grants r where r.id = g.id and r.refreshes > g.refreshes`,
  narrowed_grants: `
    update grants g set scopes = r.scopes from replaced_grants r where r.id = g.id and g.scopes <> r.scopes`,
  ended_refresh_tokens: `
    delete from refresh_tokens t where not exists (select from replaced_refresh_tokens r where r.hash = t.hash)`,
  ended_log_ins: `
    insert into ended_log_ins select r.* from replaced_ended_log_ins r
     where exists (select from accounts a where a.id = r.account_id) on conflict do nothing`,
  ended_web_sessions: `
    delete from web_sessions t where not exists (select from replaced_web_sessions r where r.hash = t.hash)`,
  used_password_links: `
    delete from password_resets t where not exists (select from replaced_password_resets r where r.hash = t.hash)`,
  used_email_links: `
    delete from email_changes t where not exists (select from replaced_email_changes r where r.hash = t.hash)`,
  used_invites: `
    update invites i set used_at = now() where used_at is null
       and not exists (select from replaced_invites r where r.id = i.id and r.used_at is null)`,
  changed_apps: `
    update apps a set active = a.active and r.active, redirect_uris = r.redirect_uris from replaced_apps r
     where r.id = a.id and (a.active > r.active or a.redirect_uris <> r.redirect_uris)`,
  ended_app_keys: `
    update app_keys k set expires_at = least(k.expires_at, case when r.id is null then now() else r.expires_at end)
      from app_keys o left join replaced_app_keys r using (id)
     where o.id = k.id and least(k.expires_at, case when r.id is null then now() else r.expires_at end)
                             is distinct from k.expires_at`,
  new_app_keys: `
    insert into app_keys select r.* from replaced_app_keys r where exists (select from apps a where a.id = r.app_id)
    on conflict do nothing`,
  ended_connections: `
    with ended as (
      update connections c set status = 'revoked', revoked_at = now()
       where status = 'connected' and not exists (
         select from replaced_connections r
          where r.id = c.id and r.status = 'connected' and r.account_id is not distinct from c.account_id)
      returning c.id)
    insert into ending_connections (connection_id, ended_at) select id, now() from ended
    on conflict (connection_id) do update set ended_at = excluded.ended_at`,
  changed_consents: `
    update connections c set memory = r.memory, projects = r.projects, ends_at = r.ends_at
      from replaced_connections r where r.id = c.id and c.status = 'connected'
       and (c.memory, c.projects, c.ends_at) is distinct from (r.memory, r.projects, r.ends_at)`,
  later_grants: `
    update connections c set grant_revision = r.grant_revision
      from replaced_connections r where r.id = c.id and r.grant_revision > c.grant_revision`,
  decided_attempts: `
    update connection_attempts a set status = 'burned' where status in ('pending', 'approved')
       and not exists (select from replaced_connection_attempts r where r.id = a.id and r.status = a.status)`,
  removed_webhooks: `
    delete from webhooks w where not exists (select from replaced_webhooks r where r.id = w.id)`,
  changed_webhooks: `
    update webhooks w
       set url = r.url, secret = r.secret, old_secret = r.old_secret, old_secret_until = r.old_secret_until,
           disabled = r.disabled
      from replaced_webhooks r
     where r.id = w.id and (w.url, w.secret, w.disabled) is distinct from (r.url, r.secret, r.disabled)`,
} as const;

async function replay(client: pg.Client, replacedUrl: string): Promise<Ended> {
  await inTransaction(replacedUrl, 'begin isolation level repeatable read read only', async (replaced) => {
    for (const [table, columns] of Object.entries(COMPARED_COLUMNS)) {
      await client.query(
        `create temporary table replaced_${table} on commit drop as select ${columns} from ${table} with no data`,
      );
      const rows = replaced.query(to(`copy (select ${columns} from ${table}) to stdout`));
      await pipeline(rows, client.query(from(`copy replaced_${table} from stdin`)));
    }
  }).catch((error: unknown) => {
    const { what, toDo } = diagnose(error, '--replaces');
    throw new AdminError(`--replaces: ${what}: ${toDo}`);
  });
  await assertReplaced(client);
  const counts: [string, number][] = [];
  for (const [what, statement] of Object.entries(REPLAYS))
    counts.push([what, (await client.query(statement)).rowCount ?? 0]);
  // The cast is safe: the entries have the keys of `REPLAYS`.
  return Object.fromEntries(counts) as Ended;
}

/**
 * Throws for a database of another installation, with which all accounts would count as erased (apps are never
 * deleted), and for a restored one that serves people again, with which those who are new would.
 */
async function assertReplaced(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ known: boolean; hasNew: boolean }>(
    `select coalesce(bool_and(r.id is not null),
                     not exists (select from accounts)
                     or exists (select from accounts join replaced_accounts using (id))) as known,
            exists (select from accounts n
                     where n.created_at > (select max(created_at) from replaced_accounts)
                       and n.id not in (select id from replaced_accounts)
                       and ${hashOf('n.id')} not in (select subject from replaced_erasures where what = 'account'))
              as "hasNew"
       from apps a left join replaced_apps r using (id, fingerprint_key)`,
  );
  if (rows[0]?.known !== true)
    throw new AdminError(
      '--replaces names another database than that of the backup: it lacks an app or all accounts of it',
    );
  if (rows[0].hasNew)
    throw new AdminError(
      'people have signed up since the restore, and --replaces would erase them: use --erasures, or restore once more into a new database',
    );
}
