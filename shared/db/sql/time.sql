create or replace function month_of(_moment timestamptz) returns text language sql stable as
$$ select to_char(_moment at time zone 'UTC', 'YYYY-MM') $$;

-- Returns the end of a window of `_window_s` seconds that starts now, rounded up to a whole second.
create or replace function window_end(_window_s int) returns timestamptz language sql stable as
$$ select date_trunc('second', now() + make_interval(secs => _window_s) + interval '999999 microseconds') $$;

create or replace function ms_since(_moment timestamptz) returns float8 language sql volatile as
$$ select (extract(epoch from clock_timestamp() - _moment) * 1000)::float8 $$;
