-- The request log of a company: 30 days, within a bound for each outcome, so that a caller who only fails cannot displace what succeeded. The
-- table has at most a few hundred rows of each company when this runs (docs/decisions/request-log.md), so a new primary key takes moments.
alter table vendor_request
  add column key_pair_id uuid,
  add column because text,
  add column outcome text not null default 'ok' check (outcome in ('ok', 'throttled', 'error', 'unauthenticated'));
update vendor_request set outcome = case when status = 429 then 'throttled' else 'error' end where status >= 400;
alter table vendor_request
  drop constraint vendor_request_pkey,
  add primary key (company_id, outcome, id);

-- How many requests of the bucket took how long: a histogram with the bounds of modules/usage/durations.ts. Empty before this release.
alter table vendor_usage add column durations integer[] not null default '{}';
