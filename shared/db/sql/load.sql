-- Returns the load of kinds of work and of their pools. Reads a bounded number of rows: of each kind the `_most` most
-- urgent pieces, and one more for each slot of its pool, in which pieces may run. `standing` is the number of parties
-- whose oldest queued piece has waited for at least `_standing_ms`, `queues` the queue length of each other party.
create or replace function load_v1(_kinds text[], _pools text[], _most int, _standing_ms int)
returns table (
  kind text, queued int, standing int, queues int[], running int, oldest_ms float8, last_claim_ms float8, workers int,
  slots int, claimed float8)
language plpgsql
as $$
#variable_conflict use_column
declare
  long_ago timestamptz := now() - make_interval(secs => _standing_ms / 1000.0);
begin
  return query
  with living as (
    select e.key as pool, count(*)::int as workers, sum((e.value ->> 'slots')::int)::int as slots,
           sum((e.value ->> 'claimed')::bigint)::float8 as claimed
      from processes a cross join lateral jsonb_each(a.pools) e
     where a.alive_until > now() and a.pools is not null
     group by e.key
  )
  select k.kind, coalesce(l.queued, 0), coalesce(l.standing, 0), coalesce(l.queues, '{}'), coalesce(l.running, 0),
         coalesce(l.oldest_ms, 0), l.last_claim_ms,
         coalesce(p.workers, 0), coalesce(p.slots, 0), coalesce(p.claimed, 0)
    from unnest(_kinds, _pools) as k (kind, pool)
    left join living p on p.pool = k.pool
   cross join lateral (
     select sum(o.queued)::int as queued, (count(*) filter (where o.oldest <= long_ago))::int as standing,
            array_agg(o.queued) filter (where o.oldest > long_ago) as queues, sum(o.running)::int as running,
            (extract(epoch from now() - min(o.oldest)) * 1000)::float8 as oldest_ms,
            (extract(epoch from now() - max(o.latest_claim)) * 1000)::float8 as last_claim_ms
       from (
         select u.party, (count(*) filter (where u.state = 'queued'))::int as queued,
                count(*) filter (where u.state = 'running') as running,
                min(u.admitted_at) filter (where u.state = 'queued') as oldest, max(u.started_at) as latest_claim
           from (
             select w.party, w.state, w.admitted_at, w.started_at from work w
              where w.kind = k.kind and w.deadline_at > now()
              order by w.deadline_at limit _most + coalesce(p.slots, 0)) u
          group by u.party) o) l;
end $$;
