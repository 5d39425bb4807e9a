-- Practices whose owner gets each new seal by mail (docs/decisions/chain.md), up to which one they were sent: off without a row. The seal is
-- also attached, as the file that the practice's own program compares with.
create table seal_mail (
  organization_id bigint primary key references organization(id),
  mailed_entries bigint not null default 0
);

alter table mail
  add column attachment_name text,
  add column attachment text;
