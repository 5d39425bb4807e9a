// Loaded before the tests of a process that several files share. node:test follows all that is asynchronous, to know which test an uncaught error
// belongs to, and each single promise costs it a hook and the garbage collector a look: a tenth of the processor time. Promises are left out here,
// by the option that `createHook` has and node:test does not use. An uncaught error still fails the run, mostly without its test's name.
import { createHook } from 'node:async_hooks'

const hooks = Object.getPrototypeOf(createHook({}))
const { enable } = hooks
/** The first hook that is enabled is node:test's. Where a Node calls the option otherwise, promises are followed as ever. */
hooks.enable = function (this: Record<symbol, unknown>) {
  hooks.enable = enable
  const withoutPromises = Object.getOwnPropertySymbols(this).find(({ description }) => description === 'kNoPromiseHook')
  if (withoutPromises) this[withoutPromises] = true
  return enable.call(this)
}
