-- Operators have roles: an admin may do everything, support reads and acts with a reason. Who is an operator today may do everything. Acts name
-- why they were done, where the person says so or must. Between this migration and the end of its last process, an earlier version refuses
-- operators in the portal.

alter table audit_event add column reason text;

alter table membership
  drop constraint membership_operator_check,
  drop constraint membership_role_check;

update membership set role = 'admin' where side = 'operator';

alter table membership add constraint membership_role_check check (
  case side when 'operator' then role in ('admin', 'support') else role in ('owner', 'admin', 'member') end
);
