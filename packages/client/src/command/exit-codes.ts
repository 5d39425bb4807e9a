/** How the command ends. README.md lists them. */
export const exitCodes = {
  done: 0,
  /** Something failed that is none of the following. */
  failed: 1,
  /** The command was written wrongly. */
  usage: 2,
  /** No credentials, or the service refused them. */
  credentials: 3,
  /** The practice has not let this credential in, or there is no such thing. */
  denied: 4,
  /** Some of it failed, or doctor found something to do. The rest was done. */
  partly: 5,
  /** The service could not be reached, or not now. */
  unavailable: 6,
  /** Help was asked for with a command that does not exist: EX_USAGE of sysexits.h. */
  helpUnknown: 64,
  interrupted: 130,
} as const
