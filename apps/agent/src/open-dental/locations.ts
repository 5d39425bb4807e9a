import type { SourceLocation } from '../connector.ts'
import { keyList } from './changes/keys.ts'
import { clinicTables } from './changes/tables-read.ts'
import { withReadable } from './changes/unreadable.ts'
import type { Database, Row } from './database/connection.ts'
import type { Guard, Session } from './database/session.ts'
import { isTrue, text, textOrNull } from './records/values.ts'
import { type LocationZone, type ZoneSources, zoneOfLocation } from './time/location-zone.ts'

/** What `readLocations` reads. */
export const locationTables = ['preference', 'clinic', ...clinicTables] as const

/** Stands for no clinic. */
const headquarters = '0'

/** A location, and where its zone comes from or why it has none. */
export type FoundLocation = { readonly location: SourceLocation; readonly zone: LocationZone }

/**
 * The practice's locations. Without clinics the whole practice is one, '0'. With clinics, 0 stands for headquarters,
 * which is a location too as long as any row carries it; while a table cannot be read, also when it was one before (`known`). Clinics and
 * preferences have no change stamp: read whole.
 */
export async function readLocations(
  { database, columns }: Session,
  guard: Guard,
  zones: ZoneSources,
  known: ReadonlySet<string> = new Set(),
): Promise<FoundLocation[]> {
  const practice = await readPractice(database)
  const clinics = isTrue(practice.EasyNoClinics) ? [] : await readClinics(database, columns)
  const country = /(^|-)CA$/i.test(text(practice.LanguageAndRegion)) ? 'CA' : 'US'
  const common = {
    country,
    email: null,
    website_url: null,
    currency: country === 'CA' ? 'CAD' : 'USD',
    practice_management_system: { name: 'Open Dental', version: guard.programVersion },
  }
  const found = (location: Omit<SourceLocation, 'time_zone'>, clinicZone: string | null): FoundLocation => {
    // A clinic without an address of its own is where the practice is; one in another city is not.
    const isThere = [location.city, location.state].every(
      (name) => name === null || [whole.city, whole.state].includes(name),
    )
    const postalCode = location.postal_code ?? (isThere ? whole.postal_code : null)
    const zone = zoneOfLocation({ sourceId: location.source_id, clinicZone, postalCode, country }, zones)
    return { location: { ...location, time_zone: zone.zone }, zone }
  }
  const whole = {
    ...common,
    source_id: headquarters,
    name: text(practice.PracticeTitle) || 'Practice',
    address_line_1: textOrNull(practice.PracticeAddress),
    address_line_2: textOrNull(practice.PracticeAddress2),
    city: textOrNull(practice.PracticeCity),
    state: textOrNull(practice.PracticeST),
    postal_code: textOrNull(practice.PracticeZip),
    phone: textOrNull(practice.PracticePhone),
    is_active: true,
  }
  if (clinics.length === 0) return [found(whole, null)]
  const locations = clinics.map((clinic) =>
    found(
      {
        ...common,
        source_id: clinic.ClinicNum ?? '',
        name: text(clinic.Description) || text(clinic.Abbr) || `Clinic ${clinic.ClinicNum}`,
        address_line_1: textOrNull(clinic.Address),
        address_line_2: textOrNull(clinic.Address2),
        city: textOrNull(clinic.City),
        state: textOrNull(clinic.State),
        postal_code: textOrNull(clinic.Zip),
        phone: textOrNull(clinic.Phone),
        is_active: !isTrue(clinic.IsHidden),
      },
      textOrNull(clinic.TimeZone),
    ),
  )
  return (await hasHeadquarters(database, clinics, known)) ? [found(whole, null), ...locations] : locations
}

async function readPractice(database: Database): Promise<Row> {
  const rows = await database.query(
    `select PrefName as name, ValueString as value
       from preference
      where PrefName in ('PracticeTitle', 'PracticeAddress', 'PracticeAddress2', 'PracticeCity', 'PracticeST',
                         'PracticeZip', 'PracticePhone', 'EasyNoClinics', 'LanguageAndRegion')`,
  )
  // A preference may be a text of any length, a clinic's column 255 characters.
  return Object.fromEntries(rows.map((row) => [row.name ?? '', row.value?.slice(0, 255).toWellFormed() ?? null]))
}

async function readClinics(database: Database, columns: ReadonlySet<string>): Promise<Row[]> {
  const optional = (name: string, otherwise: string) =>
    columns.has(`clinic.${name}`) ? name : `${otherwise} as ${name}`
  return await database.query(
    `select ClinicNum, Description, Address, Address2, City, State, Zip, Phone,
            ${optional('Abbr', "''")}, ${optional('IsHidden', '0')}, ${optional('TimeZone', "''")}
       from clinic
      order by ClinicNum`,
  )
}

/** Also when a row names a clinic that is gone: it has to be somewhere. */
async function hasHeadquarters(
  database: Database,
  clinics: readonly Row[],
  known: ReadonlySet<string>,
): Promise<boolean> {
  const ids = keyList(clinics.map((clinic) => clinic.ClinicNum ?? ''))
  return await withReadable(database, clinicTables, async (readable) => {
    const carried = readable.map((table) => `exists (select 1 from ${table} where ClinicNum not in (${ids}))`)
    const [row] = await database.query(`select ${['0', ...carried].join(' or ')} as found`)
    return isTrue(row?.found) || (readable.length < clinicTables.length && known.has(headquarters))
  })
}
