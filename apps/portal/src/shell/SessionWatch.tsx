import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { PortalError } from '../api/call.ts'
import { askToSignIn } from '../api/fresh-sign-in.ts'
import { endSession, leave, refreshSession, type SessionEnd, sessionEndKey, useSession } from '../api/session.ts'
import { t } from '../language/t.ts'
import { holdDrafts } from '../ui/state/draft-store.ts'
import { type SessionPhase, sessionPhase } from './session-clock.ts'

/** In the storage that all tabs share: work in one of them keeps every one signed in. */
const activeKey = 'bridgework.active-at'
const activities = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const
/** The server moves a session's end at most once a minute; asking more often would do nothing. */
const keepAliveMs = 61_000

/**
 * Warns a minute before a session ends and ends it then. Typing and pointing count as activity, in every tab, and are
 * reported to the server, which sees only requests. While the warning is open, only its button counts: a moved mouse
 * does not mean that it was read.
 */
export function SessionWatch() {
  const session = useSession()
  const [phase, setPhase] = useState<SessionPhase>({ phase: 'active' })
  const isActive = phase.phase === 'active'
  const endsAt = Date.parse(session.ends_at)
  const idleMs = session.idle_timeout_seconds * 1000

  useEffect(() => {
    if (!isActive) return
    let notedAt = 0
    const note = () => {
      if (Date.now() - notedAt < 1000) return
      notedAt = Date.now()
      localStorage.setItem(activeKey, String(notedAt))
    }
    note()
    for (const activity of activities) addEventListener(activity, note, { passive: true, capture: true })
    return () => {
      for (const activity of activities) removeEventListener(activity, note, { capture: true })
    }
  }, [isActive])

  useEffect(() => {
    let askedAt = Date.now()
    const tick = () => {
      const now = Date.now()
      const activeAt = Number(localStorage.getItem(activeKey) ?? now)
      const next = sessionPhase({ now, activeAt, idleMs, endsAt })
      setPhase((old) => (isSame(old, next) ? old : next))
      if (next.phase === 'over') endOnce(next.because)
      else if (activeAt > askedAt && now - askedAt >= keepAliveMs) {
        askedAt = now
        refreshSession().catch(leaveIfEnded)
      }
    }
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [idleMs, endsAt])

  useEffect(() => {
    holdDrafts()
    const onStorage = ({ key, newValue }: StorageEvent) => {
      if (key === sessionEndKey && newValue !== null) leave(newValue.split(' ')[0] as SessionEnd)
    }
    // A page that the back button brings out of the browser's memory may belong to a session that has ended.
    const onShow = ({ persisted }: PageTransitionEvent) => {
      if (persisted) location.reload()
    }
    addEventListener('storage', onStorage)
    addEventListener('pageshow', onShow)
    return () => {
      removeEventListener('storage', onStorage)
      removeEventListener('pageshow', onShow)
    }
  }, [])

  const stay = async () => {
    if (phase.phase === 'ending' && phase.because === 'lifetime') {
      await askToSignIn()
      return
    }
    localStorage.setItem(activeKey, String(Date.now()))
    setPhase({ phase: 'active' })
    await refreshSession().catch(leaveIfEnded)
  }

  const isIdle = !isActive && phase.because === 'idle'
  return (
    <Modal
      opened={phase.phase === 'ending'}
      onClose={stay}
      title={isIdle ? t('Are you still there?') : t('Your session is ending')}
      withCloseButton={false}
      closeOnClickOutside={false}
      zIndex={300}
    >
      <Stack>
        {' '}
        <Text size="sm">
          {t(
            isIdle
              ? 'You have not been active for a while. To protect the data on this page, you will be signed out in <b>{seconds} s</b>. What you typed into forms is kept in this tab.'
              : 'A session lasts at most 12 hours. You will be signed out in <b>{seconds} s</b>. What you typed into forms is kept in this tab.',
            { b: (text) => <b>{text}</b>, seconds: isActive ? 0 : phase.secondsLeft },
          )}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => endSession('choice')}>
            {t('Sign out')}
          </Button>
          <Button onClick={stay} data-autofocus>
            {isIdle ? t('Stay signed in') : t('Sign in again')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function isSame(one: SessionPhase, other: SessionPhase): boolean {
  if (one.phase === 'active' || other.phase === 'active') return one.phase === other.phase
  return one.phase === other.phase && one.secondsLeft === other.secondsLeft
}

let isEnding = false

/** The clock says it every second. */
function endOnce(why: SessionEnd): void {
  if (isEnding) return
  isEnding = true
  void endSession(why)
}

/** The server ended the session on its own; that it cannot be reached means nothing. */
function leaveIfEnded(error: unknown): void {
  if (error instanceof PortalError && error.status === 401) endOnce('idle')
}
