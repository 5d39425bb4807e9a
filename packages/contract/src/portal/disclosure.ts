import type { Instant } from './answer.ts'

export type DisclosureEntry = {
  id: string
  disclosed_at: Instant
  company_id: string
  company_name: string
  location_id: string
  location_name: string
  dataset: string
  /** Whether the answer could contain notes. */
  notes: boolean
  /** How many were sent. */
  records: number
  /** How many the answer said that a filter by patient or start matches; null: it had no such filter. */
  counted: number | null
  /** How many the answer was a digest of; null: it was none. */
  digested: number | null
  /** Names of the filters, never their values. */
  filters: string[]
  client_id: string
  request_id: string
  ip: string
}

/** A patient as the practice knows the person; `number`: of the practice management system. */
export type PatientName = { number: string; name: string; date_of_birth: string | null }

/**
 * A page of the records that a disclosure sent or compared, by id. `interval`: all ids above the first and up to the last were in it; null:
 * each record is listed in the disclosure. `patient`: null where the record is no patient's, or patients were not asked for.
 */
export type DisclosedRecords = {
  interval: { after_id: string; last_id: string } | null
  data: { id: string; patient: PatientName | null }[]
  next_after: string | null
}

/** `searched`: how many of the locations were looked through, when all of them took too long. */
export type FoundPatients = {
  data: (PatientName & { locations: string[] })[]
  is_cut: boolean
  searched: number
  locations: number
}

export type DisclosureDay = { day: string; company_id: string; reads: number; records: number }

/** What a vendor read on a day of the practice. `locations`: how many, with the names of the first few of them. */
export type DisclosureGroup = {
  day: string
  company_id: string
  company_name: string
  reads: number
  /** How many were sent. */
  records: number
  last_at: Instant
  /** The one of which most was read first. */
  datasets: { dataset: string; reads: number; records: number }[]
  locations: { count: number; names: string[] }
}

export type DisclosureSummary = {
  total_reads: number
  total_records: number
  /** By the organization's days, oldest first. */
  days: DisclosureDay[]
  vendors: { company_id: string; name: string; reads: number; records: number }[]
}

/**
 * The disclosures that told a vendor something of one patient's records of one kind: `sent` records, or only `counted` or `compared` them. With what
 * 45 CFR 164.528(b)(2) and (3) ask for; address and purpose null: not known.
 */
export type PatientDisclosureEntry = {
  company_id: string
  /** In law, where the vendor says so. */
  recipient: string
  postal_address: string | null
  purpose: string | null
  location_id: string
  location_name: string
  dataset: string
  kind: 'sent' | 'counted' | 'compared'
  /** What records of this kind say. */
  description: string
  first_at: Instant
  last_at: Instant
  count: number
}

/**
 * Of the disclosures between `from` and `to`, the moment of the answer; the newest first. `locations`: at how many the number is a patient's;
 * `patients`: the names that it has there.
 */
export type PatientAccounting = {
  locations: number
  patients: string[]
  data: PatientDisclosureEntry[]
  from: Instant
  to: Instant
}
