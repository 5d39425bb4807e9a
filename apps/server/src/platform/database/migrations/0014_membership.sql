-- One table for everybody who acts for a company, for an organization or for the operator, in place of three. `tenant_id` is the company's or the
-- organization's id as text, or 'operator': the three never look alike, so what is unique within a tenant is unique by `tenant_id`.

-- The order in which the server takes these locks, so that a server that still runs makes the migration wait and nothing else. All of these tables
-- are small: the locks last for milliseconds.
lock table portal_user, organization, member, organization_member, operator_member, invitation in access exclusive mode;

-- The rows of companies stay where they are, and so do the foreign keys of key pairs and acceptances. The others are copied with their ids.
alter table member rename to membership;
alter table membership
  add column side text not null default 'company' check (side in ('company', 'organization', 'operator')),
  add column organization_id bigint references organization (id),
  alter column company_id drop not null;
alter table membership alter column side drop default;
insert into membership (id, side, organization_id, user_id, email, name, role, created_at, removed_at)
select id, 'organization', organization_id, user_id, email, name, role, created_at, removed_at from organization_member;
insert into membership (id, side, user_id, email, name, role, created_at, removed_at)
select id, 'operator', user_id, email, name, 'owner', created_at, removed_at from operator_member;
drop table organization_member, operator_member;

alter table membership
  add column tenant_id text not null generated always as (coalesce(company_id::text, organization_id::text, side)) stored,
  add constraint membership_tenant_check
    check ((side = 'company') = (company_id is not null) and (side = 'organization') = (organization_id is not null)),
  -- An operator has no other role.
  add constraint membership_operator_check check (side <> 'operator' or role = 'owner');
alter table membership rename constraint member_pkey to membership_pkey;
alter table membership rename constraint member_company_id_fkey to membership_company_id_fkey;
alter table membership rename constraint member_user_id_fkey to membership_user_id_fkey;
alter table membership rename constraint member_role_check to membership_role_check;

drop index member_email, member_one_owner, member_user, member_of_user;
create unique index membership_email on membership (tenant_id, lower(email)) where removed_at is null;
create unique index membership_one_owner on membership (tenant_id) where role = 'owner' and side <> 'operator';
create unique index membership_user on membership (tenant_id, user_id);
create index membership_of_user on membership (user_id);

-- An invitation belongs to one membership, whatever its side.
alter table invitation drop constraint invitation_pkey, drop column side;
alter table invitation add primary key (member_id), add foreign key (member_id) references membership (id);
