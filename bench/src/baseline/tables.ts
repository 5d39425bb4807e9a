import pg from 'pg'

/**
 * The same records as rows of normalised tables, as one would lay them out by hand: keys led by the location, an index for the page and one
 * for the delta. Filled from what the server stored, so that both sides hold the same ids and instants.
 */
export async function fillBaseline(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    await client.query(tables)
    await client.query('analyze baseline.insurance_plan, baseline.carrier, baseline.fee_schedule')
  } finally {
    await client.end()
  }
}

const tables = `
  drop schema if exists baseline cascade;
  create schema baseline;

  create table baseline.fee_schedule (
    location_id bigint not null, id bigint not null, source_id text not null, name text not null, is_hidden boolean not null,
    primary key (location_id, id)
  );
  insert into baseline.fee_schedule
  select location_id, id, source_id, document::json #>> '{attributes,name}', is_hidden from record where dataset = 'fee_schedules';

  create table baseline.carrier (
    location_id bigint not null, id bigint not null, name text not null, payer_id text,
    primary key (location_id, id)
  );
  insert into baseline.carrier
  select location_id, row_number() over (partition by location_id order by name, payer_id), name, payer_id
    from (select distinct location_id, document::json #>> '{attributes,carrier_name}' as name,
                 document::json #>> '{attributes,payer_id}' as payer_id
            from record where dataset = 'insurance_plans') as plan;

  create table baseline.insurance_plan (
    location_id bigint not null, id bigint not null, source_id text not null, plan_name text not null, group_number text,
    carrier_id bigint, fee_schedule_id bigint, employer_name text, plan_type text, renewal_month integer, is_hidden boolean not null,
    updated_at timestamptz not null
  );
  insert into baseline.insurance_plan
  select r.location_id, r.id, r.source_id, p.plan_name, p.group_number, c.id, (p.fee_schedule #>> '{data,id}')::bigint,
         p.employer_name, p.plan_type, p.renewal_month, r.is_hidden,
         timestamptz 'epoch' + r.modified_at * interval '1 microsecond'
    from record r
   cross join json_to_record(r.document::json -> 'attributes') as p (
           plan_name text, group_number text, carrier_name text, payer_id text, employer_name text, plan_type text, renewal_month integer,
           fee_schedule json)
    left join baseline.carrier c on c.location_id = r.location_id and c.name = p.carrier_name and c.payer_id = p.payer_id
   where r.dataset = 'insurance_plans'
   order by r.location_id, r.id;
  alter table baseline.insurance_plan add primary key (location_id, id);
  create index on baseline.insurance_plan (location_id, updated_at, id);
`
