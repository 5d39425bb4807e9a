/** SQL that is true for a row of access_grant or dataset_grant, under this name, that has not reached its end. By the database's clock. */
export function notEnded(table: string): string {
  return `(${table}.ends_at is null or ${table}.ends_at > statement_timestamp())`
}

/** SQL that is true for a row of access_grant, under this name, that is neither revoked nor at its end. */
export function inForce(table: string): string {
  return `(${table}.revoked_at is null and ${notEnded(table)})`
}
