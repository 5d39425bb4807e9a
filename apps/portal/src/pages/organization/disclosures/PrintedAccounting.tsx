import type { PatientAccounting } from '@bridgework/contract/portal'
import { useEffect } from 'react'
import { createPortal } from 'react-dom'
import { formatCount, locale } from '../../../ui/format/locale.ts'
import { datasetTitle } from '../access/dataset-title.ts'
import classes from './PrintedAccounting.module.css'

/** What the report is about. `timeZone`: the practice's, in which every time is written. */
export type AccountingReport = {
  accounting: PatientAccounting
  organization: { name: string; time_zone: string | null }
  patientNumber: string
  printedBy: string
}

/** Opens the browser's print dialog with a report on paper alone, and calls `onDone` when the dialog closes. */
export function PrintedAccounting({ report, onDone }: { report: AccountingReport; onDone: () => void }) {
  useEffect(() => {
    addEventListener('afterprint', onDone)
    print()
    return () => removeEventListener('afterprint', onDone)
  }, [onDone])
  const { accounting, organization, patientNumber, printedBy } = report
  const zone = organization.time_zone ?? 'UTC'
  const time = (instant: string) => inZone(instant, zone, { dateStyle: 'medium', timeStyle: 'medium' })
  const day = (instant: string) => inZone(instant, zone, { dateStyle: 'long' })
  return createPortal(
    <article className={classes.report}>
      <h1>Accounting of disclosures (45 CFR 164.528)</h1>
      <dl className={classes.facts}>
        <dt>Practice</dt>
        <dd>{organization.name}</dd>
        <dt>Patient number</dt>
        <dd>{patientNumber}</dd>
        <dt>Period</dt>
        <dd>
          {day(accounting.from)} to {day(accounting.to)}
        </dd>
        <dt>Generated</dt>
        <dd>
          {time(accounting.to)} by {printedBy}. All times: {zone}.
        </dd>
        <dt>Disclosures</dt>
        <dd>
          {formatCount(accounting.data.length)}
          {accounting.is_cut && ', the newest; there are more'}
        </dd>
      </dl>
      <p>
        Software vendors to which the practice granted access received these records of the patient through Bridgework.
        “Sent”: the vendor received records. “Counted”: it learned how many records matched. “Compared”: it checked its
        copy against them.
      </p>
      {accounting.data.length === 0 ? (
        <p>No vendor received anything of this patient.</p>
      ) : (
        <table>
          <caption>Newest first</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Vendor</th>
              <th scope="col">Location</th>
              <th scope="col">Records</th>
              <th scope="col">How</th>
            </tr>
          </thead>
          <tbody>
            {accounting.data.map((each) => (
              <tr key={each.id}>
                <td>{time(each.disclosed_at)}</td>
                <td>{each.company_name}</td>
                <td>{each.location_name}</td>
                <td>{datasetTitle(each.dataset)}</td>
                <td>{each.kind}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </article>,
    document.body,
  )
}

function inZone(instant: string, timeZone: string, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, { ...style, timeZone }).format(new Date(instant))
}
