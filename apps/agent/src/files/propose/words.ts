import type { DatasetName } from '../../connector.ts'

// What columns, files and codes are called in exports, in English and German, as `wordOf` writes them. The first word that a file has wins, so the
// plainest words come first.

type Words = Readonly<Record<string, readonly string[]>>

/** Words in the name of a file. */
export const fileWords: Readonly<Record<DatasetName, readonly string[]>> = {
  patients: ['patient', 'guarantor', 'patienten'],
  appointments: ['appointment', 'appt', 'schedule', 'visit', 'termin'],
  ledger_transactions: ['ledger', 'transaction', 'charge', 'payment', 'adjustment', 'konto', 'buchung', 'receipt'],
  treatments: ['treatment', 'procedure', 'proclog', 'leistung', 'behandlung'],
  insurance_plans: ['insurance', 'plan', 'carrier', 'versicherung'],
  patient_referrals: ['referral', 'ueberweisung'],
  fee_schedules: ['fee', 'gebuehr'],
}

const plainKey = ['id', 'no', 'nr']
const patientKey = ['patientid', 'patid', 'patno', 'patnum', 'patientno', 'patientnumber', 'patnr', 'patientennr']

/** The column with a record's key. */
export const keyWords: Readonly<Record<DatasetName, readonly string[]>> = {
  patients: [...patientKey, ...plainKey],
  appointments: [
    'appointmentid',
    'apptid',
    'aptnum',
    'apptno',
    'visitid',
    'visitno',
    'terminnr',
    'terminid',
    ...plainKey,
  ],
  ledger_transactions: [
    'transactionid',
    'transid',
    'transno',
    'entryid',
    'entryno',
    'chargeid',
    'chargeno',
    'paymentid',
    'paymentno',
    'adjustmentid',
    'adjno',
    'buchungsnr',
    'belegnr',
    ...plainKey,
  ],
  treatments: ['treatmentid', 'procedureid', 'procid', 'procnum', 'procno', 'leistungsnr', ...plainKey],
  insurance_plans: ['planid', 'planno', 'insplanid', 'plannum', 'vertragsnr', ...plainKey],
  patient_referrals: ['referralid', 'refid', 'refno', ...plainKey],
  fee_schedules: ['feescheduleid', 'scheduleid', 'scheduleno', ...plainKey],
}

export const locationWords = [
  'office',
  'location',
  'clinic',
  'site',
  'branch',
  'officeid',
  'locationid',
  'clinicid',
  'standort',
  'filiale',
]

const patient = [...patientKey, 'patient', 'pat']
const provider = ['provider', 'providername', 'doctor', 'dr', 'dentist', 'behandler', 'arzt', 'zahnarzt', 'prov']
const note = ['note', 'notes', 'comment', 'comments', 'memo', 'bemerkung', 'notiz']

/** Columns by attribute; a point leads to a member. Where one column holds two attributes, as "Last, First", see `fullNameWords`. */
export const columnWords: Readonly<Record<DatasetName, Words>> = {
  patients: {
    title: ['title', 'salutation', 'anrede', 'titel'],
    first_name: ['firstname', 'first', 'fname', 'givenname', 'vorname'],
    middle_name: ['middlename', 'middle', 'mi'],
    last_name: ['lastname', 'last', 'lname', 'surname', 'familyname', 'nachname', 'name'],
    preferred_name: ['preferredname', 'preferred', 'nickname', 'nick', 'rufname'],
    date_of_birth: ['dateofbirth', 'dob', 'birthdate', 'birthday', 'born', 'geburtsdatum', 'geboren', 'gebdatum'],
    gender: ['gender', 'sex', 'geschlecht'],
    status: ['status', 'patientstatus', 'patstatus', 'active', 'aktiv'],
    email: ['email', 'emailaddress', 'mail'],
    mobile_phone: ['mobilephone', 'mobile', 'cell', 'cellphone', 'mobil', 'handy'],
    home_phone: ['homephone', 'phone', 'hmphone', 'telephone', 'telefon', 'telprivat'],
    work_phone: ['workphone', 'wkphone', 'businessphone', 'telarbeit'],
    address_line_1: ['address', 'address1', 'street', 'addressline1', 'strasse'],
    address_line_2: ['address2', 'addressline2', 'apt', 'suite'],
    city: ['city', 'town', 'ort', 'stadt'],
    state: ['state', 'province', 'bundesland'],
    postal_code: ['postalcode', 'zip', 'zipcode', 'postcode', 'plz'],
    country: ['country', 'land'],
    chart_number: ['chartnumber', 'chart', 'chartno', 'karteinummer', 'kartei'],
    guarantor_source_id: [
      'guarantor',
      'guarantorid',
      'guarantorno',
      'guarid',
      'respparty',
      'responsibleparty',
      'zahlerid',
      'zahler',
    ],
    primary_provider_name: ['primaryprovider', 'prefprovider', ...provider],
    billing_type: ['billingtype', 'abrechnungsart'],
    preferred_language: ['language', 'preferredlanguage', 'sprache'],
    first_visit_on: ['firstvisit', 'firstvisitdate', 'datefirstvisit', 'erstbesuch', 'ersttermin'],
    primary_insurance_plan_source_id: [
      'insuranceplan',
      'primaryinsurance',
      'plan',
      'planid',
      'planno',
      'priinsplan',
      'vertragsnr',
    ],
    'balance.total': ['balance', 'totalbalance', 'accountbalance', 'owes', 'saldo', 'kontostand'],
  },
  appointments: {
    patient_source_id: patient,
    provider_name: provider,
    hygienist_name: ['hygienist', 'hygienistname', 'prophylaxe'],
    operatory_name: ['operatory', 'op', 'chair', 'room', 'zimmer', 'raum', 'stuhl'],
    appointment_type: ['appointmenttype', 'appttype', 'type', 'reason', 'terminart', 'art'],
    status: ['status', 'apptstatus', 'appointmentstatus', 'state', 'terminstatus'],
    starts_at: ['start', 'starttime', 'startsat', 'datetime', 'apptdatetime', 'appointmentdate', 'beginn', 'von'],
    ends_at: ['end', 'endtime', 'endsat', 'ende', 'bis'],
    duration_minutes: ['duration', 'length', 'minutes', 'min', 'mins', 'units', 'dauer', 'laenge'],
    scheduled_production: ['production', 'amount', 'scheduledproduction', 'betrag'],
    note,
    created_at: ['created', 'createdat', 'dateentered', 'enteredon', 'angelegt'],
  },
  ledger_transactions: {
    transaction_type: ['transactiontype', 'transtype', 'type', 'entrytype', 'art', 'typ', 'buchungsart'],
    amount: ['amount', 'amt', 'fee', 'charge', 'payment', 'paid', 'total', 'betrag', 'cents', 'amountcents'],
    transaction_on: [
      'transactiondate',
      'date',
      'transdate',
      'entrydate',
      'servicedate',
      'posted',
      'datum',
      'buchungsdatum',
    ],
    patient_source_id: patient,
    guarantor_source_id: [
      'guarantor',
      'guarantorid',
      'guarantorno',
      'account',
      'accountid',
      'accountno',
      'guarid',
      'zahlerid',
      'zahler',
    ],
    provider_name: provider,
    treatment_source_id: ['treatmentid', 'procedureid', 'procid', 'procno', 'leistungsnr'],
    procedure_code: ['procedurecode', 'proccode', 'code', 'adacode', 'cdt', 'ziffer'],
    payment_method: ['paymentmethod', 'method', 'paytype', 'paymenttype', 'zahlungsart'],
    adjustment_type: ['adjustmenttype', 'adjtype'],
    reference_number: ['reference', 'referenceno', 'checkno', 'checknumber', 'belegnr'],
    description: ['description', 'desc', ...note, 'text', 'buchungstext'],
  },
  treatments: {
    patient_source_id: patient,
    provider_name: provider,
    appointment_source_id: ['appointmentid', 'apptid', 'apptno', 'visitid', 'visitno', 'terminnr'],
    procedure_code: ['procedurecode', 'proccode', 'code', 'adacode', 'cdt', 'ziffer'],
    description: ['description', 'desc', 'procedure', 'bezeichnung', 'text'],
    status: ['status', 'procstatus', 'treatmentstatus'],
    teeth: ['tooth', 'teeth', 'toothno', 'toothnum', 'zahn', 'zaehne'],
    surfaces: ['surface', 'surfaces', 'surf', 'flaeche', 'flaechen'],
    quantity: ['quantity', 'qty', 'units', 'anzahl'],
    fee: ['fee', 'amount', 'price', 'charge', 'honorar', 'betrag'],
    priority: ['priority'],
    planned_on: ['planned', 'dateplanned', 'datetp', 'plandate', 'geplantam'],
    completed_on: ['completed', 'datecompleted', 'completeddate', 'servicedate', 'date', 'datum', 'erbrachtam'],
    note,
  },
  insurance_plans: {
    plan_name: ['planname', 'plan', 'name', 'tarif'],
    group_number: ['groupnumber', 'group', 'groupno', 'gruppe'],
    carrier_name: ['carrier', 'carriername', 'insurance', 'insurancecompany', 'versicherung', 'versicherer'],
    renewal_month: ['renewalmonth', 'renews'],
  },
  patient_referrals: {
    patient_source_id: patient,
    source_name: ['referredby', 'referral', 'source', 'referralsource', 'name', 'empfohlenvon', 'ueberweiser'],
    referred_on: ['date', 'referraldate', 'referredon', 'datum'],
    note,
  },
  fee_schedules: { name: ['name', 'schedule', 'feeschedule', 'schedulename'] },
}

/** A name in one column, the last one first. */
export const fullNameWords = ['name', 'fullname', 'patientname', 'patient', 'lastfirst', 'lastnamefirstname']
/** A day and a time of day in columns of their own. */
export const dayWords = [
  'date',
  'apptdate',
  'appointmentdate',
  'day',
  'visitdate',
  'startdate',
  'datum',
  'termindatum',
  'tag',
]
export const timeWords = ['time', 'appttime', 'starttime', 'start', 'uhrzeit', 'zeit', 'beginn', 'von']
/** Charges and payments in columns of their own. */
export const debitWords = ['debit', 'debits', 'charge', 'charges', 'soll']
export const creditWords = ['credit', 'credits', 'payment', 'payments', 'haben']

/** Codes of a file, by attribute and by the value that they mean. */
export const codeWords: Readonly<Record<string, Words>> = {
  'patients.status': {
    active: ['a', 'active', 'aktiv', 'current', 'patient', 'ja', 'y', 'yes', 'true', '1'],
    inactive: ['i', 'inactive', 'inaktiv', 'nein', 'n', 'no', 'false', '0'],
    prospect: ['prospect', 'p', 'interessent'],
    non_patient: ['nonpatient', 'np'],
    archived: ['archived', 'archiviert'],
    deceased: ['d', 'deceased', 'dead', 'verstorben'],
  },
  'patients.gender': {
    male: ['m', 'male', 'maennlich'],
    female: ['f', 'female', 'w', 'weiblich'],
    other: ['o', 'other', 'd', 'divers'],
    unknown: ['u', 'unknown', 'x', 'unbekannt'],
  },
  'appointments.status': {
    scheduled: ['s', 'scheduled', 'booked', 'open', 'unconfirmed', 'geplant', 'gebucht'],
    confirmed: ['c', 'confirmed', 'bestaetigt'],
    arrived: ['arrived', 'checkedin', 'here', 'angekommen'],
    completed: ['completed', 'complete', 'done', 'f', 'finished', 'checkedout', 'erledigt', 'kept'],
    no_show: ['noshow', 'n', 'ns', 'missed', 'nichterschienen'],
    broken: ['broken', 'b', 'failed'],
    cancelled: ['cancelled', 'canceled', 'x', 'abgesagt', 'storniert'],
    planned: ['planned', 'vorgemerkt'],
  },
  'ledger_transactions.transaction_type': {
    charge: ['c', 'charge', 'charges', 'procedure', 'production', 'leistung', 'rechnung'],
    patient_payment: ['p', 'payment', 'payments', 'patientpayment', 'pay', 'receipt', 'zahlung'],
    insurance_payment: ['i', 'insurance', 'insurancepayment', 'inspayment', 'ins', 'kassenzahlung'],
    adjustment: ['a', 'adj', 'adjustment', 'adjustments', 'korrektur', 'gutschrift'],
    write_off: ['w', 'writeoff', 'ausbuchung'],
    refund: ['r', 'refund', 'erstattung'],
  },
  'ledger_transactions.payment_method': {
    cash: ['cash', 'bar'],
    check: ['check', 'cheque', 'chk', 'scheck'],
    card: ['card', 'creditcard', 'cc', 'visa', 'mastercard', 'amex', 'karte', 'ec'],
    ach: ['ach', 'transfer', 'ueberweisung'],
    financing: ['financing', 'carecredit', 'rate'],
    insurance: ['insurance', 'ins', 'kasse'],
  },
  'treatments.status': {
    planned: ['tp', 'planned', 'proposed', 'treatmentplan', 'geplant', 'p'],
    completed: ['c', 'complete', 'completed', 'done', 'erledigt', 'erbracht'],
    existing: ['e', 'ex', 'existing', 'vorhanden'],
    referred_out: ['r', 'referred', 'referredout', 'ueberwiesen'],
    scheduled: ['s', 'scheduled', 'terminiert'],
    inactive: ['inactive', 'inaktiv'],
  },
}

/** The first word of rows around a table: titles, totals and what a printed page has at its top and bottom. */
export const aroundWords = [
  ...['total', 'totals', 'subtotal', 'grand', 'sum', 'page', 'printed', 'report', 'created', 'end'],
  ...['summe', 'gesamt', 'gesamtsumme', 'zwischensumme', 'seite', 'gedruckt', 'bericht', 'erstellt', 'stand', 'ende'],
]

/** The columns of a list of codes. */
const codeListWords = ['code', 'abbr', 'abbreviation', 'kuerzel', 'name', 'text', 'description', 'bezeichnung']

/** Every name of a column that is known. */
export const knownColumns: ReadonlySet<string> = new Set([
  ...[keyWords, ...Object.values(columnWords)].flatMap((words) => Object.values(words).flat()),
  ...[locationWords, fullNameWords, dayWords, timeWords, debitWords, creditWords, codeListWords].flat(),
])

/** The name of a column or file, or a code, as the lists above have it: lower case, without blanks and marks. */
export function wordOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]/g, '')
}

/** Each text as a name in the mapping, no two the same. `otherwise`: for a text of which `wordOf` leaves nothing. */
export function distinctNames(texts: readonly string[], otherwise: string): string[] {
  const names: string[] = []
  for (const text of texts) {
    const word = wordOf(text) || otherwise
    let name = word
    for (let number = 2; names.includes(name); number += 1) name = `${word}${number}`
    names.push(name)
  }
  return names
}
