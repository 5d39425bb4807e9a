-- A practice or a vendor that leaves: `operator organization erase` and `company erase` take everything but what the law asks to keep. The row
-- itself stays, with its name, because disclosures and the history of grants refer to it. `erased_at`: its erasing began then.
alter table organization add column erased_at timestamptz;
alter table company add column erased_at timestamptz;

-- Who accepted the agreement for a company is in the history of acts, with name and address; the acceptance outlives the member.
alter table agreement_acceptance
  alter column member_id drop not null,
  drop constraint agreement_acceptance_member_id_fkey,
  add foreign key (member_id) references membership (id) on delete set null;

-- A person's account and membership end in one transaction; which accounts end is known only while the memberships are there.
alter table membership alter constraint membership_user_id_fkey deferrable initially immediate;
