-- A vendor's page of connections shows which access ended. The table holds the grants of all practices, and only a live one was found by its
-- company. It is small, and changes only when people grant or revoke, so it may be locked for a moment.
create index access_grant_ended on access_grant (company_id, revoked_at desc) where revoked_at is not null;
