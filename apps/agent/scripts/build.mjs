// Bundles the agent into one JavaScript file, so that an office computer installs it without fetching anything else.
import { fileURLToPath } from 'node:url'
import { bundleAgent } from './bundle.mjs'

await bundleAgent(fileURLToPath(new URL('../dist', import.meta.url)))
