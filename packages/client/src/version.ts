/** This package's version; a test compares it with package.json. The published package depends on no other package of this repository, so it has its own copy. */
export const clientVersion = '0.2.0'
