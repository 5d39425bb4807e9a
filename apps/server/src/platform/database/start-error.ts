/** The database cannot be used as it is. The message is one line for the person who starts the service; a stack says nothing more. */
export class DatabaseStartError extends Error {}
