-- An export sends the segments with newlines between the documents, in the place of commas: docs/decisions/export.md. `lines_at`: the byte of
-- `data` that says which of the two it is; `lines_crc32`: of the text in lines. They are those of these bytes when `lines_stamp` is `stamp`: a
-- process of an earlier release writes a segment without them.
alter table segment add column lines_stamp bigint, add column lines_at integer, add column lines_crc32 bigint;
