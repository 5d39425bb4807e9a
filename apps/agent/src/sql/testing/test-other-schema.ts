import { type Practice, type simulatedDatasets, sourceRecords } from '@bridgework/practice-simulator'
import type { JsonValue } from '../../connector.ts'
import type { TestSqlDatabase } from './test-database.ts'

type Row = readonly (JsonValue | undefined)[]
type Attributes = Readonly<Record<string, JsonValue>>

/** Columns as a maker would name them, with their types in the words of all engines, and keys of other tables where they are declared. */
const schema: Readonly<Record<string, readonly string[]>> = {
  office: ['office_id integer primary key', 'office_name text', 'phone text'],
  provider: ['provider_id integer primary key', 'first_name text', 'last_name text'],
  carrier: ['carrier_id integer primary key', 'name text'],
  room: ['room_id integer primary key', 'name text'],
  patient: [
    ...['patient_id integer primary key', 'office_id integer references office', 'last_name text', 'first_name text'],
    ...[
      'middle_name text',
      'birth_date date',
      'sex text',
      'status text',
      'email text',
      'cell_phone text',
      'home_phone text',
    ],
    ...[
      'street text',
      'city text',
      'state text',
      'zip text',
      'guarantor_id integer',
      'provider_id integer references provider',
    ],
    'modified_at timestamp',
  ],
  patient_note: ['note_id integer primary key', 'patient_id integer', 'note text', 'date date'],
  visit: [
    ...['visit_id integer primary key', 'office_id integer references office', 'patient_id integer references patient'],
    ...[
      'provider_id integer references provider',
      'room_id integer',
      'reason text',
      'status text',
      'start_time timestamp',
    ],
    ...['duration integer', 'modified_at timestamp'],
  ],
  procedure_log: [
    ...['proc_id integer primary key', 'office_id integer references office', 'patient_id integer references patient'],
    ...['provider_id integer references provider', 'visit_id integer', 'code text', 'description text', 'status text'],
    ...['quantity integer', 'fee numeric(12, 2)', 'date_planned date', 'date_completed date', 'modified_at timestamp'],
  ],
  ledger: [
    ...[
      'entry_id varchar(40) primary key',
      'office_id integer references office',
      'patient_id integer',
      'account_id integer',
    ],
    ...[
      'provider_id integer references provider',
      'entry_type text',
      'amount numeric(12, 2)',
      'entry_date date',
      'code text',
    ],
    ...['description text', 'voided integer', 'version integer'],
  ],
  insurance_plan: [
    ...['plan_id integer primary key', 'office_id integer references office', 'plan_name text', 'group_number text'],
    'carrier_id integer references carrier',
    'modified_at timestamp',
  ],
  audit_log: ['id integer primary key', 'table_name text', 'at timestamp', 'who text'],
}

/** Keeps the practice in a database whose tables are none that we know. */
export async function writeOtherSchema(database: TestSqlDatabase, practice: Practice): Promise<void> {
  const changedAt = '2026-11-01 08:00:00'
  const people = new Map<string, number>()
  const named = (list: Map<string, number>, name: JsonValue | undefined) => {
    if (typeof name !== 'string') return null
    if (!list.has(name)) list.set(name, list.size + 1)
    return list.get(name) ?? null
  }
  const [carriers, rooms] = [new Map<string, number>(), new Map<string, number>()]
  const rowsOf = (
    dataset: (typeof simulatedDatasets)[number],
    row: (id: string, office: string, of: Attributes) => Row,
  ) => {
    const rows = new Map<string, Row>()
    for (const office of practice.locations.keys())
      for (const { source_id, attributes } of sourceRecords(practice, dataset, office))
        rows.set(source_id, row(source_id, office, attributes as Attributes))
    return [...rows.values()]
  }
  const upper = (text: JsonValue | undefined) => (typeof text === 'string' ? text.toUpperCase() : null)
  const tables: Record<string, Row[]> = {
    patient: rowsOf('patients', (id, office, of) => [
      ...[
        id,
        office,
        of.last_name,
        of.first_name,
        of.middle_name,
        of.date_of_birth,
        String(of.gender)[0],
        upper(of.status),
      ],
      ...[of.email, of.mobile_phone, of.home_phone, of.address_line_1, of.city, of.state, of.postal_code],
      ...[of.guarantor_source_id, named(people, of.primary_provider_name), changedAt],
    ]),
    visit: rowsOf('appointments', (id, office, of) => [
      ...[id, office, of.patient_source_id, named(people, of.provider_name), named(rooms, of.operatory_name)],
      ...[
        of.appointment_type,
        upper(of.status),
        String(of.local_starts_at).replace('T', ' '),
        of.duration_minutes,
        changedAt,
      ],
    ]),
    procedure_log: rowsOf('treatments', (id, office, of) => [
      ...[
        id,
        office,
        of.patient_source_id,
        named(people, of.provider_name),
        of.appointment_source_id,
        of.procedure_code,
      ],
      ...[of.description, upper(of.status), of.quantity, of.fee, of.planned_on, of.completed_on, changedAt],
    ]),
    ledger: rowsOf('ledger_transactions', (id, office, of) => [
      ...[id, office, of.patient_source_id, of.guarantor_source_id, named(people, of.provider_name)],
      ...[upper(of.transaction_type), of.amount, of.transaction_on, of.procedure_code, of.description, 0, 1],
    ]),
    insurance_plan: rowsOf('insurance_plans', (id, office, of) => [
      ...[id, office, of.plan_name, of.group_number, named(carriers, of.carrier_name), changedAt],
    ]),
  }
  tables.office = [...practice.locations.values()].map(({ key, name, phone }) => [key, name, phone])
  tables.provider = [...people].map(([name, id]) => [id, ...name.split(' ')])
  tables.carrier = [...carriers].map(([name, id]) => [id, name])
  tables.room = [...rooms].map(([name, id]) => [id, name])
  for (const [name, columns] of Object.entries(schema)) {
    await database.execute(`create table ${name} (${columns.join(', ')})`)
    const rows = (tables[name] ?? []).map((row) => `(${row.map(literal).join(', ')})`)
    if (rows.length > 0) await database.execute(`insert into ${name} values ${rows.join(', ')}`)
  }
}

function literal(value: JsonValue | undefined): string {
  return value === null || value === undefined ? 'null' : `'${String(value).replaceAll("'", "''")}'`
}
