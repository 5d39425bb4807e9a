import { type CSSVariablesResolver, createTheme } from '@mantine/core'
import { setNonce } from 'get-nonce'
import { t } from './language/t.ts'

/** The server's policy lets in style elements with this nonce, and no others. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''
// The dialogs' scroll lock writes a style element of its own.
setNonce(styleNonce)

export const theme = createTheme({
  primaryColor: 'indigo',
  // Dark enough under white text, and light enough on a dark page, for WCAG's 4.5 : 1.
  primaryShade: { light: 8, dark: 7 },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'md',
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  headings: { fontWeight: '650' },
  components: {
    // The head of a dialog is not another banner of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
    Notification: { defaultProps: () => ({ closeButtonProps: { 'aria-label': t('Close') } }) },
  },
})

/** Mantine's own dimmed and placeholder greys are too faint for WCAG AA. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
  },
})
