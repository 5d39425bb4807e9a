/** This package's version; a test compares it with package.json. The package needs nothing of ours, so it has its own copy. */
export const clientVersion = '0.2.0'
