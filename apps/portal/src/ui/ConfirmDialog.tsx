import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { t } from '../language/t.ts'
import { ErrorNote } from './ErrorNote.tsx'
import { ReasonInput } from './ReasonInput.tsx'
import { useDraft } from './state/draft.ts'
import { useHeld } from './state/held.ts'

/**
 * Asks before an act that cannot be taken back. `typed`: what must be typed first. `reason`: whether why is asked for, and must be given. Stays open with the reason when the act is refused,
 * and cannot be closed while it runs.
 */
export function ConfirmDialog(properties: {
  opened: boolean
  onClose: () => void
  /** Shown as it is, and not as it was when it opened: it keeps what was read itself, or has fields that decide about nothing that others change. */
  followsPage?: boolean
  title: string
  children: ReactNode
  typed?: string
  reason?: 'optional' | 'required'
  /** The button's words: the act itself, not "OK". */
  confirm: string
  color?: string
  /** `reason`: as it was typed; undefined without one. */
  onConfirm: (reason: string | undefined) => Promise<unknown>
}) {
  const { opened, onClose, followsPage = false } = properties
  // What is confirmed is what was read, whatever the page behind it learns meanwhile.
  const {
    title,
    children,
    typed,
    reason,
    confirm,
    color = 'red.9',
    onConfirm,
  } = useHeld(properties, opened && !followsPage)
  const [text, setText] = useState('')
  const [draft, setDraft] = useDraft<string>(`reason ${title}`)
  const why = draft ?? ''
  const act = useMutation({ mutationFn: () => onConfirm(why.trim() || undefined), onSuccess: () => close() })
  const { reset } = act
  // The end of a session closes nothing, so the reason is found again.
  const close = () => {
    setDraft(null)
    onClose()
  }
  useEffect(() => {
    if (opened) return
    setText('')
    reset()
  }, [opened, reset])
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={title}
      closeOnEscape={!act.isPending}
      closeOnClickOutside={!act.isPending}
      closeButtonProps={{ 'aria-label': t('Close') }}
      // What it asked about is often gone when it closes: fading out, it would show an empty question.
      transitionProps={{ exitDuration: 0 }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate()
        }}
      >
        <Stack>
          <Text component="div" size="sm">
            {children}
          </Text>
          {typed !== undefined && (
            <TextInput
              label={t('Type <b>{typed}</b> to confirm', { b: (text) => <b>{text}</b>, typed })}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {reason && (
            <ReasonInput
              value={why}
              onChange={(event) => setDraft(event.currentTarget.value)}
              required={reason === 'required'}
            />
          )}
          <ErrorNote error={act.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} disabled={act.isPending}>
              {t('Cancel')}
            </Button>
            <Button
              type="submit"
              color={color}
              loading={act.isPending}
              disabled={
                (typed !== undefined && text.trim() !== typed.trim()) || (reason === 'required' && why.trim() === '')
              }
            >
              {confirm}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
