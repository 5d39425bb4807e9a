/** As in package.json; a test keeps both equal. */
export const agentVersion = '0.1.0'

/** The oldest Node with the SQLite that the agent's state is kept in. */
export const nodeVersionMin = '22.13'
