/** Whether this service is a sandbox, as the document says that every page is in. */
export const isSandbox = document.querySelector<HTMLMetaElement>('meta[name=environment]')?.content === 'sandbox'
