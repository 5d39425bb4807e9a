-- Every disclosure that there was before the counts has at least one record. Reads the table once; reads and writes go on meanwhile.
alter table disclosure
  validate constraint disclosure_counted_check,
  validate constraint disclosure_digested_check,
  validate constraint disclosure_records_check;
