import { related } from '../indexes.ts'
import type { Treatment } from '../rows/care.ts'
import type { Claim } from '../rows/money.ts'
import { addDays } from '../wall-time.ts'
import { chargeOf } from './account.ts'
import type { Desk } from './desk.ts'
import { coverOf } from './people.ts'

/** What the patient's plans would pay for it, as far as there are any. */
export function estimate(desk: Desk, treatment: Treatment, on: string): void {
  const { practice, random } = desk
  const code = practice.procedureCodes.get(treatment.codeKey)?.code ?? ''
  let left = chargeOf(treatment) - treatment.discountCents
  for (const ordinal of [1, 2]) {
    const cover = coverOf(practice, treatment.patientKey, ordinal, on)
    if (cover === null) return
    const isDiscounted = ordinal === 1 && (cover.plan.planType === 'ppo' || cover.plan.planType === 'capitation')
    const writeOffCents = isDiscounted ? Math.round((left * random.whole(5, 25)) / 100) : 0
    const estimateCents = Math.round(((left - writeOffCents) * percentOf(code)) / 100)
    left -= writeOffCents + estimateCents
    desk.add('claimLines', {
      treatmentKey: treatment.key,
      claimKey: null,
      claimPaymentKey: null,
      patientKey: treatment.patientKey,
      providerKey: treatment.providerKey,
      locationKey: treatment.locationKey,
      planKey: cover.plan.key,
      subscriptionKey: cover.subscription.key,
      status: 'estimate',
      feeCents: chargeOf(treatment),
      estimateCents,
      writeOffEstimateCents: writeOffCents,
      paidCents: 0,
      writeOffCents: 0,
      on,
    })
  }
}

/** Sends what is done to each plan that is expected to pay for it. */
export function sendClaims(desk: Desk, treatments: readonly Treatment[], on: string): Claim[] {
  const lines = treatments
    .flatMap((treatment) => related(desk.practice, 'claimLines', 'treatment', treatment.key))
    .filter((line) => line.status === 'estimate')
  return [...Map.groupBy(lines, (line) => `${line.patientKey}/${line.subscriptionKey}`).values()].flatMap((group) => {
    const first = group[0]
    if (first === undefined) return []
    const { patientKey, locationKey, providerKey, planKey, subscriptionKey } = first
    const parties = { patientKey, locationKey, providerKey, planKey, subscriptionKey }
    const claim = desk.add('claims', { ...parties, status: 'sent', servedOn: on, sentOn: on, receivedOn: null })
    for (const line of group) {
      desk.change('claimLines', line, {
        claimKey: claim.key,
        status: 'sent',
        writeOffCents: line.writeOffEstimateCents,
        on,
      })
    }
    return [claim]
  })
}

/** The insurer answers: most pay as expected, some less, some nothing. */
export function receiveClaim(desk: Desk, claim: Claim, on: string): void {
  const { practice, random } = desk
  const outcome = random.next()
  const share = outcome < 0.75 ? 100 : outcome < 0.92 ? random.whole(40, 95) : 0
  const lines = related(practice, 'claimLines', 'claim', claim.key)
  const paid = lines.map((line) => Math.round((line.estimateCents * share) / 100))
  const total = paid.reduce((sum, cents) => sum + cents, 0)
  const carrierKey = practice.insurancePlans.get(claim.planKey)?.carrierKey ?? ''
  const payment =
    total === 0
      ? null
      : desk.add('claimPayments', {
          paidOn: on,
          amountCents: total,
          checkNumber: `${random.whole(10_000, 999_999)}`,
          carrierName: practice.carriers.get(carrierKey)?.name ?? '',
          locationKey: claim.locationKey,
        })
  for (const [index, line] of lines.entries()) {
    const isDenied = share === 0
    desk.change('claimLines', line, {
      status: 'received',
      paidCents: paid[index] ?? 0,
      // A denied claim takes the agreed discount with it, now and then.
      writeOffCents: isDenied && random.chance(0.3) ? 0 : line.writeOffCents,
      claimPaymentKey: payment?.key ?? null,
      on,
    })
  }
  desk.change('claims', claim, { status: 'received', receivedOn: on })
}

/** A line that was left out comes later, as a payment of its own beside the first. */
export function supplement(desk: Desk, claim: Claim, on: string): boolean {
  const { practice } = desk
  const line = related(practice, 'claimLines', 'claim', claim.key).find(
    (each) => each.status === 'received' && each.paidCents < each.estimateCents,
  )
  if (line === undefined || line.claimPaymentKey === null) return false
  const { key: _, ...content } = line
  const paidCents = line.estimateCents - line.paidCents
  const payment = desk.add('claimPayments', {
    paidOn: on,
    amountCents: paidCents,
    checkNumber: '',
    carrierName: practice.claimPayments.get(line.claimPaymentKey)?.carrierName ?? '',
    locationKey: claim.locationKey,
  })
  const money = {
    paidCents,
    writeOffCents: 0,
    estimateCents: 0,
    writeOffEstimateCents: 0,
    claimPaymentKey: payment.key,
  }
  desk.add('claimLines', { ...content, ...money, status: 'supplemental', on })
  desk.change('claimLines', line, { estimateCents: line.paidCents })
  return true
}

export function answeredOn({ random }: Desk, claim: Claim): string {
  return addDays(claim.sentOn, random.whole(6, 40))
}

function percentOf(code: string): number {
  if (/^D[01]/.test(code)) return 100
  if (/^D[247]/.test(code)) return 80
  return 50
}
