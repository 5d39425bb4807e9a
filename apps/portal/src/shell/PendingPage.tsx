import { Center, Loader, VisuallyHidden } from '@mantine/core'
import { t } from '../language/t.ts'

/** What is shown while a page's data is on its way. */
export function PendingPage() {
  return (
    <Center mih="40vh" role="status">
      <Loader />
      <VisuallyHidden>{t('Loading')}</VisuallyHidden>
    </Center>
  )
}
