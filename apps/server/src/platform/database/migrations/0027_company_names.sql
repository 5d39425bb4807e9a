-- What a company's name looks like (see name.ts): two companies do not have names that people mistake for each other. Filled at the start.
alter table company add column name_key text;
create index company_name_key on company (name_key);
