export { releaseVersion as agentVersion } from '@bridgework/contract/release'

/** The oldest Node with the SQLite that the agent's state is kept in. */
export const nodeVersionMin = '22.13'
