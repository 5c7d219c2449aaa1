-- Publishes the snapshot of a pool's queue that all ingresses read, and moves the floor of its priorities. Only the
-- leader calls it, several times a second while there is work; nobody else scans the live work. Returns whether there
-- is any.
create or replace function publish_v1(_kinds text[]) returns boolean
language plpgsql
as $$
declare
  old_floor bigint := coalesce((select min(q.floor) from queues q where q.kind = any (_kinds)), 0);
  mark queues%rowtype;
  due boolean;
  reached bigint := virtual_time_v1(_kinds, old_floor);
  lowest bigint;
  live record;
begin
  insert into queues (kind, floor, next_floor, next_floor_at)
  select k, 0, 0, now() from unnest(_kinds) k where not exists (select from queues q where q.kind = k)
  on conflict do nothing;
  select * into strict mark from queues q where q.kind = _kinds[1];
  -- An admission in progress may use a slightly older virtual time, but not one that is two seconds old. If one does
  -- anyway, the next move finds its work, because that scans everything.
  due := mark.next_floor_at < now() - interval '2 seconds';

  select coalesce(sum(p.queued), 0)::int as queued, coalesce(sum(p.running), 0)::int as running,
         coalesce(json_object_agg(p.party, p.queued) filter (where p.queued > 0), '{}') as queued_by_party,
         coalesce(extract(epoch from now() - min(p.oldest)) * 1000, 0)::float8 as oldest_ms,
         (extract(epoch from now() - max(p.latest_claim)) * 1000)::float8 as last_claim_ms,
         min(p.lowest) as lowest
    into live
    from (
      select f.party, count(*) filter (where w.state = 'queued') as queued,
             count(*) filter (where w.state = 'running') as running,
             min(w.admitted_at) filter (where w.state = 'queued') as oldest,
             max(w.started_at) as latest_claim, min(w.priority) as lowest
        from flows f
       cross join lateral (
         select l.* from work l
          where l.kind = f.kind and l.party = f.party
            and l.priority >= case when due then 0 else old_floor end offset 0) w
       where f.kind = any (_kinds)
       group by f.party) p;

  update queues q
     set floor = case when due then least(q.next_floor, live.lowest) else q.floor end,
         next_floor = case when due then reached else q.next_floor end,
         next_floor_at = case when due then now() else q.next_floor_at end,
         published_at = clock_timestamp(),
         snapshot = json_build_object(
           'queuedByParty', live.queued_by_party, 'oldestMs', live.oldest_ms, 'lastClaimMs', live.last_claim_ms,
           'queued', live.queued, 'running', live.running)
   where q.kind = any (_kinds);
  return live.queued + live.running > 0;
end $$;
