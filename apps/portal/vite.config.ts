import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// `npm start` builds into dist when the sources have changed. `npm run dev -w apps/portal` serves the pages with hot reload beside a server.
export default defineConfig({
  plugins: [react()],
  build: {
    // Inlined files would need data: in the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    // These know light-dark(); rewritten for older ones it would look for a scheme where Mantine sets none.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    // Says which files a page loads: browser/page-scripts.ts adds up their bytes.
    manifest: true,
  },
  server: {
    proxy: {
      '/portal/api': 'http://localhost:8080',
      '/attribution': 'http://localhost:8080',
    },
  },
})
