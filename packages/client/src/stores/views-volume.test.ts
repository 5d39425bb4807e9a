import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { openMirror } from '../sync/testing/test-typed-rows.ts'
import { views } from './views.ts'

/** Of all datasets together; the soak sets it to a million. */
const records = Number(process.env.BRIDGEWORK_TEST_RECORDS ?? 20_000)
const durationMaxMs = 2_000

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: each view answers a copy of ${records} records in two seconds`, { timeout: 600_000 }, async (t) => {
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    t.after(() => store.close())
    const { select, exec, close } = await openMirror(kind, target)
    t.after(close)
    const numbers = (count: number) =>
      kind === 'postgres'
        ? `generate_series(1, ${count}) as number (n)`
        : `(with recursive number (n) as (select 1 union all select n + 1 from number where n < ${count}) select n from number) as number`
    const day = (expression: string) =>
      kind === 'postgres' ? `(current_date - ${expression}::integer)` : `date('now', '-' || (${expression}) || ' days')`
    const isFalse = kind === 'postgres' ? 'false' : '0'
    const [patients, appointments, treatments, lines] = [0.05, 0.2, 0.35, 0.4].map((part) => Math.round(records * part))
    await exec(
      `insert into organizations (id, name) values (1, 'Practice');
      insert into locations (id, name, organization_id) select n, 'Location', 1 from ${numbers(10)};
      insert into insurance_plans (id, location_id, carrier_name, is_hidden)
        select n, 1, 'Carrier ' || (n % 20), ${isFalse} from ${numbers(200)};
      insert into patients (id, location_id, source_id, last_name, first_name, status, guarantor_id, first_visit_on,
                            primary_insurance_plan_id, is_hidden)
        select n, n % 10 + 1, 'p' || n, 'Last', 'First', 'active', n - n % 3 + 1, ${day('n % 3000')}, n % 200 + 1, ${isFalse}
          from ${numbers(patients ?? 0)};
      insert into patient_referrals (id, location_id, patient_id, direction, attribution_role, source_type, source_name, is_hidden)
        select n, n % 10 + 1, n, 'incoming', 'primary', 'marketing', 'Source ' || (n % 50), ${isFalse} from ${numbers(patients ?? 0)};
      insert into appointments (id, location_id, patient_id, provider_name, operatory_name, status, local_starts_at, is_hygiene, is_block, is_hidden)
        select n, n % 10 + 1, n % ${patients} + 1, 'Provider ' || (n % 8), 'Chair ' || (n % 6), case n % 12 when 0 then 'no_show' when 1 then 'scheduled' else 'completed' end,
               ${kind === 'postgres' ? `${day('(n % 2000 - 100)')}::timestamp` : `${day('n % 2000')} || 'T09:00:00'`},
               ${kind === 'postgres' ? 'n % 3 = 0' : '(n % 3 = 0)'}, ${isFalse}, ${isFalse}
          from ${numbers(appointments ?? 0)};
      insert into treatments (id, location_id, patient_id, provider_name, status, fee, planned_on, completed_on, is_hidden)
        select n, n % 10 + 1, n % ${patients} + 1, 'Provider ' || (n % 8), case n % 3 when 0 then 'planned' else 'completed' end,
               n % 900 + 0.25, ${day('n % 2000')}, ${day('n % 1900')}, ${isFalse}
          from ${numbers(treatments ?? 0)};
      insert into ledger_transactions (id, location_id, patient_id, guarantor_id, provider_name, transaction_type, amount,
                                       transaction_on, is_hidden)
        select n, n % 10 + 1, n % ${patients} + 1, n % ${patients} - n % ${patients} % 3 + 1, 'Provider ' || (n % 8),
               case n % 2 when 0 then 'charge' else 'patient_payment' end,
               case n % 2 when 0 then n % 700 + 0.5 else -(n % 690) - 0.5 end, ${day('n % 2000')}, n % 100 = 0
          from ${numbers(lines ?? 0)};`,
    )
    await store.finish?.()
    for (const { name } of views) {
      const beganAt = performance.now()
      const [row] = await select(`select count(*) as n from (select * from ${name}) as answer`)
      const durationMs = Math.round(performance.now() - beganAt)
      t.diagnostic(`${name}: ${row?.n} rows in ${durationMs} ms`)
      assert.ok(Number(row?.n) > 0, name)
      if (records >= 1_000_000) assert.ok(durationMs < durationMaxMs, `${name}: ${durationMs} ms`)
    }
  })
}
