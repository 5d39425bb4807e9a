-- Notices (docs/decisions/notices.md): what the portal's list shows each member, how each wants to be mailed, which conditions are on, and
-- up to which act of the history notices were made. A mail names the page on which its kind is turned off.
create table notice (
  id bigint generated always as identity primary key,
  member_id uuid not null references membership(id),
  kind text not null,
  event text not null,
  title text not null,
  body text not null,
  path text not null,
  created_at timestamptz not null,
  read_at timestamptz,
  mailed_at timestamptz,
  is_for_digest boolean not null default false
);
create index notice_of_member on notice (member_id, id desc);
create index notice_for_digest on notice (member_id) where is_for_digest;

create table notice_setting (
  member_id uuid not null references membership(id),
  kind text not null,
  delivery text not null check (delivery in ('at_once', 'daily', 'off')),
  primary key (member_id, kind)
);

create table notice_condition (
  event text not null,
  tenant_id text not null,
  item text not null,
  about text not null,
  seen_at timestamptz not null,
  ended_at timestamptz,
  is_noticed boolean not null default false,
  noticed_at timestamptz,
  primary key (event, tenant_id, item)
);

create table notice_cursor (
  only_one boolean primary key default true check (only_one),
  last_act_id bigint not null
);
-- What happened before is in the histories.
insert into notice_cursor (last_act_id) select coalesce(max(id), 0) from audit_event;

alter table mail add column settings_url text;
