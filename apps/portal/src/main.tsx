import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { PortalError } from './api/call.ts'
import { queryClient } from './api/query-client.ts'
import { readCatalogue } from './language/t.ts'
import { router } from './router.tsx'
import { cssVariables, styleNonce, theme } from './theme.ts'

const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
// A refusal that a page shows is no fault of the page.
const onCaughtError = (error: unknown) => {
  if (!(error instanceof PortalError)) console.error(error)
}

const show = () =>
  createRoot(root, { onCaughtError }).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        cssVariablesResolver={cssVariables}
        getStyleNonce={() => styleNonce}
      >
        <QueryClientProvider client={queryClient}>
          <Notifications position="top-right" />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )

void readCatalogue().then(show)
