-- What a company may read changes in one transaction that locks no dataset: an upload never waits for it, nor it for an upload. A grant's
-- stamp is therefore drawn at the company's first read; null until then, and every delta returns the whole dataset.

alter table dataset_grant alter column granted_stamp drop not null;
