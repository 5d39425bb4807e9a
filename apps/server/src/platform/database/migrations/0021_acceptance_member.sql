-- A member who accepted the agreement is deleted by erasing alone, which empties the acceptance first (0020 let every delete do it).
alter table agreement_acceptance
  drop constraint agreement_acceptance_member_id_fkey,
  add foreign key (member_id) references membership (id);
