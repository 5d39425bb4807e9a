import { registerHooks } from 'node:module'

const url = new URL('./isolated-vm.cjs', import.meta.url).href

// Loaded before Directus: in place of the native package in which it runs scripts of flows, and which npm cannot build for each Node. Reads of
// items do not use it.
registerHooks({
  resolve(specifier, context, next) {
    return specifier === 'isolated-vm' ? { url, format: 'commonjs', shortCircuit: true } : next(specifier, context)
  },
  load(asked, context, next) {
    return asked === url
      ? { format: 'commonjs', source: 'module.exports = {}', shortCircuit: true }
      : next(asked, context)
  },
})
