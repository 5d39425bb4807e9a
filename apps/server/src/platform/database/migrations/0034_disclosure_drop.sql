-- Which months of disclosures the operator has dropped, each as a signed text (docs/decisions/chain.md): what the seals of the entries that
-- are left are checked with. The owner writes it; the server's role may only read.
create table disclosure_drop (
  month text primary key,
  text text not null,
  signature bytea not null
);
