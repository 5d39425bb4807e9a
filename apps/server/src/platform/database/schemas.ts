/**
 * The schemas in which tables are, in the order in which a name is looked for: a cell's, which has what belongs to practices, what is small and shared,
 * and what belongs to one node (docs/decisions/cells.md). Statements name tables without them, and so do migrations: what one creates is the cell's.
 */
export const schemas = ['cell_1', 'directory', 'node'] as const

/** As `search_path` holds in every session. */
export const searchPath = schemas.join(', ')
