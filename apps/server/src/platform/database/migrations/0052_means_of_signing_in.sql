-- Every means of signing in has the moment since when it counts, so that what a stranger added can be told from what a person had before: the
-- undo of an e-mail change removes by it. An authenticator app and its recovery codes had none. The history knows it for those that there are;
-- one that it does not know counts as added today, which removes too much rather than too little. Null: there are no codes.
alter table portal_two_factor add column added_at timestamptz, add column codes_made_at timestamptz;
update portal_two_factor t
   set added_at = coalesce((select max(occurred_at) from audit_event e
                             where e.user_id = t.user_id and e.action = 'account.two_factor_enable'), clock_timestamp()),
       codes_made_at = coalesce((select max(occurred_at) from audit_event e
                                  where e.user_id = t.user_id
                                    and e.action in ('account.two_factor_enable', 'account.recovery_codes_renew')), clock_timestamp());
alter table portal_two_factor
  alter column added_at set default clock_timestamp(),
  alter column added_at set not null,
  alter column codes_made_at set default clock_timestamp();

update portal_passkey set created_at = clock_timestamp() where created_at is null;
alter table portal_passkey alter column created_at set not null;

-- The transaction that last gave the account back to its person. A request that began before it must not add a means or a session after it.
alter table portal_user add column recovered_in xid8;
