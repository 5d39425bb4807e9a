/** How the feeder ends. After `settings` and `keyRefused` the same start would end the same way; any other end is an accident. */
export const feederExitCodes = { stopped: 0, settings: 2, keyRefused: 3 } as const
