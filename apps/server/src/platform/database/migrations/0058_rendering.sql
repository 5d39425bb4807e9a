-- The number of the rendering (packages/contract: `rendering` of a dataset) that all documents of a location's dataset have. Where it is lower than the
-- contract's, a row of rerender_work without a target leads to all records of the dataset, which are rendered anew in slices.
alter table dataset_state add column rendering smallint not null default 1;
