import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type OfLink<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>

/** A link to a page of ours. */
export const PageLink = createLink((props: OfLink<AnchorProps>) => <Anchor {...props} />)

/** A link to a page of ours that looks like a button. */
export const ButtonLink = createLink((props: OfLink<ButtonProps>) => <Button component="a" {...props} />)
