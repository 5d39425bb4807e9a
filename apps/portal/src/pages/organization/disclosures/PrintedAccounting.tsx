import type { PatientAccounting } from '@bridgework/contract/portal'
import { useEffect } from 'react'
import { createPortal } from 'react-dom'
import { formatCount, locale } from '../../../ui/format/locale.ts'
import { datasetTitle } from '../access/dataset-title.ts'
import classes from './PrintedAccounting.module.css'
import { rowKey } from './patient-accounting.ts'

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
        <dt>Patient</dt>
        <dd>{accounting.patients.join('; ')}</dd>
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
        <dd>{formatCount(accounting.data.reduce((total, { count }) => total + count, 0))}</dd>
      </dl>
      <p>
        Software vendors to which the practice granted access received these records of the patient through Bridgework.
        Disclosures of one kind of record to one recipient are one row, with the first, the last and their number.
        “Sent”: the vendor received records. “Counted”: it learned how many records matched. “Compared”: it checked its
        copy against them.
      </p>
      {accounting.data.length === 0 ? (
        <p>No vendor received anything of this patient.</p>
      ) : (
        <>
          <table>
            <caption>Newest first</caption>
            <thead>
              <tr>
                <th scope="col">Recipient and address</th>
                <th scope="col">Purpose</th>
                <th scope="col">Location</th>
                <th scope="col">Records</th>
                <th scope="col">How</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {accounting.data.map((each) => (
                <tr key={rowKey(each)}>
                  <td>
                    {each.recipient}, {each.postal_address ?? 'address not known'}
                  </td>
                  <td>{each.purpose ?? 'not stated'}</td>
                  <td>{each.location_name}</td>
                  <td>{datasetTitle(each.dataset)}</td>
                  <td>{each.kind}</td>
                  <td>
                    {each.count === 1
                      ? time(each.first_at)
                      : `${formatCount(each.count)} times, first ${time(each.first_at)}, last ${time(each.last_at)}`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <h2>What the records say</h2>
          <dl>
            {[...new Map(accounting.data.map(({ dataset, description }) => [dataset, description]))].map(
              ([dataset, description]) => (
                <div key={dataset}>
                  <dt>{datasetTitle(dataset)}</dt>
                  <dd>{description}</dd>
                </div>
              ),
            )}
          </dl>
        </>
      )}
    </article>,
    document.body,
  )
}

function inZone(instant: string, timeZone: string, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, { ...style, timeZone }).format(new Date(instant))
}
