/** Bundles the agent into this folder. Returns the folders of the packages whose code is in the bundle, as paths from the root. */
export function bundleAgent(to: string, updateKey?: string): Promise<string[]>
