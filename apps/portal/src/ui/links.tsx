import { Anchor, Button } from '@mantine/core'
import { createLink } from '@tanstack/react-router'

/** A link to a page of ours. */
export const PageLink = createLink(Anchor<'a'>)

/** A link to a page of ours that looks like a button. */
export const ButtonLink = createLink(Button<'a'>)
