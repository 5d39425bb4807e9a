-- A record's document has most of its source, unchanged. Stored beside it whole, the source was a third of the table and of its log.
-- New and changed records keep only what their documents lack of it, in source_kept; the source is null there. Both changes touch no row, so the
-- table is locked for a moment only. Rows of earlier releases have their whole source until they are written again.
alter table record add column source_kept text, alter column source drop not null;
