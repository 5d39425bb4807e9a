import { Typography } from '@mantine/core'
import Markdown from 'react-markdown'

/** A text in Markdown. Markup within it is shown as it was written, never run; its headings begin below the page's own. */
export function MarkdownText({ text }: { text: string }) {
  return (
    <Typography p={0}>
      <Markdown components={{ h1: 'h2', h2: 'h3', h3: 'h4' }}>{text}</Markdown>
    </Typography>
  )
}
