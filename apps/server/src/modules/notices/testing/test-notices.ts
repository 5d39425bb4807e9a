import type { TestContext } from 'node:test'
import type { MemberRole } from '@bridgework/contract/portal'
import { somePortal } from '../../../apis/portal/testing/test-portal.ts'
import type { MemberId } from '../../../platform/identity/identity.ts'
import { createMailDelivery } from '../../mail/delivery.ts'
import { createSmtp } from '../../mail/smtp.ts'
import { startSmtpServer } from '../../mail/testing/test-smtp-server.ts'
import { activateMember, addMember } from '../../membership/member.ts'
import type { Tenant } from '../../membership/tenant.ts'
import { queueDigests } from '../digest.ts'
import type { NoticeEvent } from '../notice.ts'
import { noticeActs } from '../notice-acts.ts'
import { checkConditions, type NotifierContext } from '../notifier.ts'

export const publicUrl = 'https://bridgework.example'

export type NoticeWorld = Awaited<ReturnType<typeof someNotices>>

/** A portal, a mail server, and a notifier whose clock and disk a test sets. */
export async function someNotices(t: TestContext) {
  const world = await somePortal(t)
  const { pool, secretKey, log } = world
  const smtp = await startSmtpServer(t)
  const { send, close } = createSmtp(smtp.url, 'Bridgework <portal@bridgework.example>')
  t.after(close)
  const delivery = createMailDelivery({ pool, send, log })
  const set = { now: new Date(), freeShare: 0.5, disclosureFailedAt: null as Date | null }
  const context: NotifierContext = {
    ...{ pool, secretKey, log, publicUrl, contact: 'write to help@bridgework.example' },
    now: () => set.now,
    freeShare: async () => set.freeShare,
  }

  /** Acts, conditions and mails of this moment; `after`: so many minutes later. */
  const round = async ({ after = 0 } = {}) => {
    set.now = new Date(set.now.getTime() + after * 60_000)
    while ((await noticeActs(context)) > 0);
    await checkConditions(context, set.disclosureFailedAt)
    await delivery.deliverDue()
  }
  const digest = async () => {
    const queued = await queueDigests(context)
    await delivery.deliverDue()
    return queued
  }

  /** A member with an account who cannot sign in: only their notices and mails matter. */
  const addReader = async (tenant: Tenant, role: MemberRole) => {
    const person = await world.addPerson(role)
    const { id: memberId } = await addMember(pool, tenant, { ...person, role })
    await activateMember(pool, memberId, person.userId)
    return { ...person, memberId, role }
  }
  /** One in each role, and an admin who was removed. */
  const addReaders = async (tenant: Tenant) => {
    const roles: MemberRole[] = tenant.side === 'operator' ? ['admin', 'support'] : ['owner', 'admin', 'member']
    const readers = []
    for (const role of roles) readers.push(await addReader(tenant, role))
    const removed = await addReader(tenant, 'admin')
    await pool.query('update membership set removed_at = now() where id = $1', [removed.memberId])
    return [...readers, { ...removed, role: 'removed' as const }]
  }
  const noticesOf = async (memberId: MemberId) => {
    const { rows } = await pool.query<{
      event: NoticeEvent
      title: string
      body: string
      path: string
      is_for_digest: boolean
    }>('select event, title, body, path, is_for_digest from notice where member_id = $1 order by id', [memberId])
    return rows
  }
  /** Not handed to the mail server yet. */
  const mailsWaiting = async (email: string) => {
    const { rows } = await pool.query<{ text_body: string; settings_url: string | null }>(
      'select text_body, settings_url from mail where recipient = $1 order by id',
      [email],
    )
    return rows
  }
  /** Each with its headers and its text, decoded. */
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email)).map(({ text }) => decoded(text))

  return {
    ...world,
    context,
    set,
    smtp,
    delivery,
    round,
    digest,
    addReader,
    addReaders,
    noticesOf,
    mailsTo,
    mailsWaiting,
  }
}

/** The text part of a mail after its headings (RFC 2045 6.7). */
function decoded(raw: string): { headers: string; text: string } {
  const mail = raw.replaceAll('\r\n', '\n')
  const headers = mail.slice(0, mail.indexOf('\n\n'))
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1] ?? ''
  const part = mail.split(`--${boundary}\n`)[1] ?? ''
  const body = part.slice(part.indexOf('\n\n') + 2).replaceAll('=\n', '')
  const bytes = body.replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { headers, text: Buffer.from(bytes, 'latin1').toString('utf8') }
}
