import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import Fastify from 'fastify'
import pg from 'pg'

// The same answers as one would serve them by hand: Fastify, pg, a join and JSON.stringify, without token, permit, slot or disclosure.
// main.ts <database url>; prints the port that it listens on.
const pool = new pg.Pool({ connectionString: process.argv[2], max: 20 })
const gzip = promisify(gzipWithCallback)
const app = Fastify({ logger: false })

type ListRequest = {
  Params: { location_id: string }
  Querystring: { items?: string; after?: string; 'q[fetch_modified_since]'?: string }
}

app.get<ListRequest>('/locations/:location_id/insurance_plans', async (request, reply) => {
  const { location_id: locationId } = request.params
  const { items = '100', after = '0', 'q[fetch_modified_since]': since } = request.query
  const limit = Math.min(Number(items), 5000)
  const { rows } =
    since === undefined
      ? await pool.query<PlanRow>({ name: 'page', text: pageText, values: [locationId, after, limit + 1] })
      : await pool.query<PlanRow>({ name: 'delta', text: deltaText, values: [locationId, after, limit + 1, since] })
  const hasMore = rows.length > limit
  const data = rows.slice(0, limit).map(toRecord)
  const meta = { has_more: hasMore, next_after: hasMore ? data.at(-1)?.id : null, request_id: request.id }
  const body = JSON.stringify({ data, pagy: { items: limit }, meta })
  reply.type('application/json; charset=utf-8')
  if (body.length <= 1024 || !/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(body)
  return reply.header('Content-Encoding', 'gzip').send(await gzip(body))
})

// The technique of PostgREST: one statement that answers the body, without a row in JavaScript.
app.get<ListRequest>('/json_agg/locations/:location_id/insurance_plans', async (request, reply) => {
  const { location_id: locationId } = request.params
  const { items = '100', after = '0', 'q[fetch_modified_since]': since } = request.query
  const values = [locationId, after, Math.min(Number(items), 5000), ...(since === undefined ? [] : [since])]
  const [name, text] = since === undefined ? ['json page', jsonPageText] : ['json delta', jsonDeltaText]
  const { rows } = await pool.query<{ data: string }>({ name, text, values })
  const body = `{"data":${rows[0]?.data ?? '[]'}}`
  reply.type('application/json; charset=utf-8')
  if (body.length <= 1024 || !/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(body)
  return reply.header('Content-Encoding', 'gzip').send(await gzip(body))
})

console.log(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
process.once('SIGTERM', async () => {
  await app.close()
  await pool.end()
})

type PlanRow = {
  id: string
  source_id: string
  plan_name: string
  group_number: string | null
  carrier_name: string | null
  payer_id: string | null
  employer_name: string | null
  plan_type: string | null
  renewal_month: number | null
  is_hidden: boolean
  updated_at: Date
  fee_schedule_id: string | null
  fee_schedule_name: string | null
  fee_schedule_is_hidden: boolean | null
}

function toRecord(row: PlanRow) {
  return {
    id: row.id,
    type: 'insurance_plan',
    attributes: {
      plan_name: row.plan_name,
      group_number: row.group_number,
      carrier_name: row.carrier_name,
      is_hidden: row.is_hidden,
      fee_schedule: {
        data:
          row.fee_schedule_id === null
            ? null
            : {
                id: row.fee_schedule_id,
                type: 'fee_schedule',
                attributes: { name: row.fee_schedule_name, is_hidden: row.fee_schedule_is_hidden },
              },
      },
      payer_id: row.payer_id,
      employer_name: row.employer_name,
      plan_type: row.plan_type,
      renewal_month: row.renewal_month,
      source_id: row.source_id,
      updated_at: row.updated_at,
    },
  }
}

const columns = `
  p.id, p.source_id, p.plan_name, p.group_number, c.name as carrier_name, c.payer_id, p.employer_name, p.plan_type, p.renewal_month,
  p.is_hidden, p.updated_at, f.id as fee_schedule_id, f.name as fee_schedule_name, f.is_hidden as fee_schedule_is_hidden`
const joins = `
    from baseline.insurance_plan p
    left join baseline.carrier c on c.location_id = p.location_id and c.id = p.carrier_id
    left join baseline.fee_schedule f on f.location_id = p.location_id and f.id = p.fee_schedule_id`
const pageText = `select ${columns} ${joins} where p.location_id = $1 and p.id > $2 order by p.id limit $3`
const deltaText = `select ${columns} ${joins}
   where p.location_id = $1 and p.id > $2 and p.updated_at > $4::timestamptz - interval '5 minutes'
   order by p.id limit $3`

const jsonPlan = `
  select p.id, p.source_id, p.plan_name, p.group_number, p.employer_name, p.plan_type, p.renewal_month, p.is_hidden, p.updated_at,
         (select row_to_json(c) from (select c.name, c.payer_id from baseline.carrier c
           where c.location_id = p.location_id and c.id = p.carrier_id) c) as carrier,
         (select row_to_json(f) from (select f.id, f.name, f.is_hidden from baseline.fee_schedule f
           where f.location_id = p.location_id and f.id = p.fee_schedule_id) f) as fee_schedule
    from baseline.insurance_plan p`
const aggregated = (from: string) => `select coalesce(json_agg(plan), '[]')::text as data from (${from}) plan`
const jsonPageText = aggregated(`${jsonPlan} where p.location_id = $1 and p.id > $2 order by p.id limit $3`)
const jsonDeltaText = aggregated(`${jsonPlan}
   where p.location_id = $1 and p.id > $2 and p.updated_at > $4::timestamptz - interval '5 minutes'
   order by p.id limit $3`)
