import type { EntityManager } from '@mikro-orm/postgresql';

/** Which predictions an erasure erases: those of a connection, of one grant or (0) of all, admitted before its end. */
export interface EndedGrant {
  connectionId: string;
  grantRevision: number;
}

/** Rows in one statement: few, so that a request for one of them hardly waits. */
const AT_ONCE = 500;
/** Ids in one read: many, because each read walks past all that is erased already. */
const READ_AT_ONCE = 20_000;

/**
 * Erases the texts and the use of the profile in predictions made with an ended grant of the account, in short steps.
 * Their recovery window ends too, as there is nothing left to recover. Usage and tombstones stay with the app.
 */
export async function* eraseMadeWith(
  em: EntityManager,
  accountId: string,
  { connectionId, grantRevision }: EndedGrant,
): AsyncGenerator<void> {
  const grant = [accountId, connectionId, grantRevision, READ_AT_ONCE];
  for (;;) {
    const made = await em.execute<{ id: string }[]>(FOUND, grant);
    if (made.length === 0) return;
    for (let first = 0; first < made.length; first += AT_ONCE) {
      const ids = made.slice(first, first + AT_ONCE).map(({ id }) => id);
      await em.execute(ERASE, [JSON.stringify(ids)]);
      yield;
    }
  }
}

/**
 * By key and attempt: a request that ran again has a row for each end, and each may belong to another grant. Its answer
 * is that of the end that suggested it.
 */
const FOUND = `
  select h.key || ' ' || h.attempt as id from erasing_grants g join history h on h.connection_id = g.connection_id
   where g.account_id = ? and g.connection_id = ? and g.grant_revision = ?
     and h.admitted_at <= g.ended_at
     and g.grant_revision in (0, (h.report::json ->> 'grantRevision')::int)
     and (h.expires_at > now() or coalesce(h.report::json ->> 'profileRevision', 'none') <> 'none'
          or h.state = 'suggested' and exists (select from answers a where a.id = h.id))
   limit ?`;

const ERASE = `
  with named as (
    select split_part(n, ' ', 1)::uuid as key, split_part(n, ' ', 2)::int as attempt
      from json_array_elements_text(?::json) n
  ), made as (
    update history h
       set report = (h.report::jsonb || '{"profileRevision": "none"}')::text, expires_at = least(h.expires_at, now())
      from named where h.key = named.key and h.attempt = named.attempt
    returning h.id, h.state
  )
  delete from answers a using made where a.id = made.id and made.state = 'suggested'`;
