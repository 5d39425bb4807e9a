/**
 * The whole environment of Postgres' programs. Nothing is passed on: PGDATA or PGOPTIONS of a shell would change what we start, and a
 * locale that does not exist would stop it. The cluster's own locale is the builtin C.UTF-8 and needs none of the system's.
 */
export function cleanEnvironment(): Record<string, string> {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
