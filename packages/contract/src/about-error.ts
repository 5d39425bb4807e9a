/** Where the service itself explains a code, as a path: the row of the code among its guides. */
export function aboutError(code: string): string {
  return `/guides/errors#${code}`
}
