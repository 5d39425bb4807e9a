import type { practiceFacts } from './test-practice-facts.ts'

/** What is known from elsewhere of the practice of 600 patients, which is a file: figures of `practiceFacts`, in their order. */
export const fileFacts: Readonly<Record<keyof typeof practiceFacts, unknown>> = {
  // 10 of the visible plans say that they have none, and 2 name one that is not there.
  'visible and hidden plans by their fee schedule': {
    'visible,none': 12,
    'visible,hidden': 4,
    'visible,visible': 31,
    'hidden,none': 2,
    'hidden,visible': 10,
  },
  'plans under a hidden carrier: all, visible': [10, 0],
  'fee schedules: all, hidden': [9, 2],
  'fees: all, blank, sum': [202, 4, 5_371_785],
  'patients by state': {
    Patient: 552,
    NonPatient: 18,
    Inactive: 26,
    Archived: 18,
    Deleted: 6,
    Deceased: 8,
    Prospective: 12,
  },
  'patients by where they are registered': { 0: 69, 1: 388, 2: 183 },
  'patients: hidden, guarantors': [6, 519],
  'appointments by location': { 0: 4, 1: 2331, 2: 1396 },
  'appointments by state': {
    Scheduled: 111,
    Complete: 3445,
    UnschedList: 30,
    Broken: 101,
    Planned: 34,
    PtNote: 5,
    PtNoteCompleted: 5,
  },
  'appointments: without a date, deleted': [49, 12],
  // Of 13,321 procedures ten are group notes.
  'treatments: all, deleted, completed, what those cost, what their units cost': [
    13_311, 50, 11_750, 164_278_881, 163_774_115,
  ],
  'charges: count, sum': [11_750, 164_278_881],
  'adjustments: count, sum': [404, -185_079],
  // Of 3008 splits 13 are prepayments that do not show.
  'splits without prepayments that do not show: count, sum': [2995, -101_217_168 + 260_130],
  'transfers: count, sum': [20, 0],
  'insurance payments: count, sum, with a number': [1710, -14_891_156, 1512],
  'write-offs: count, sum': [1687, -1_208_818],
  // Of 60 debits ten are due later; six more are of a plan that tracks insurance.
  'payment plans: credits, their sum, debits': [11, -660_000, 50],
  'dynamic payment plans: lines, sum': [1, -16_758],
  // The known balances leave the dynamic payment plan's credit out; with it a guarantor who owed nothing has a credit.
  'balances by guarantor: owing, their sum, in credit, their sum, the highest': [
    205,
    46_957_921,
    3 + 1,
    -74_881 - 16_758,
    767_127,
  ],
  'referrals by direction': { incoming: 465 + 6, outgoing: 75 },
  'referrals by who referred': {
    patient: 103,
    provider: 102 + 75,
    marketing: 246,
    organization: 6,
    other: 13,
    null: 1,
  },
}

/** Its references that lead nowhere: a patient who never was, and lines whose treatment was done at another location. */
export const danglingInFile = [
  'appointments to patients 999999',
  'ledger_transactions to treatments 12029',
  'ledger_transactions to treatments 18189',
  'ledger_transactions to treatments 23090',
  'patient_referrals to treatments 15091',
]
