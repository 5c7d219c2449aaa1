-- Checks whether a process whose lease ends at `_until` is alive, or was within the last `_grace_ms`. A lease takes a
-- minute at most: one that ends much later was renewed before the clock was set back.
create or replace function is_alive(_until timestamptz, _grace_ms int default 0) returns boolean language sql stable as
$$ select _until > now() - make_interval(secs => _grace_ms / 1000.0) and _until <= now() + 2 * clock_slack() $$;
