-- The key of a request among those of all parties, as `requestKey` in shared/domain/work.ts computes it.
create or replace function request_key_v1(_kind text, _party uuid, _request_id text) returns uuid
language sql immutable as $$
  select encode(substring(sha256(convert_to(_kind || ' ' || _party || ' ' || _request_id, 'UTF8')) for 16), 'hex')::uuid
$$;
