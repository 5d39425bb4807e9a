/**
 * The script of a location: at a page load it sends one request without content, from which the server takes the website's origin and the
 * time. It stores nothing, sends no cookie and no path, and keeps still under the excluded paths, however a page's address spells them. Runs
 * under a strict CSP that names our origin in script-src and connect-src.
 */
export function attributionScript(
  publicUrl: string,
  script: { key: string; excludedPaths: readonly string[] },
): string {
  // In CORS mode a browser names the origin whatever the page's referrer policy is; in no-cors mode it may say null.
  return `(()=>{let p;try{p=decodeURIComponent(location.pathname).replace(/\\/+/g,"/").toLowerCase()}catch{return}
if(!${JSON.stringify(script.excludedPaths)}.some(x=>p.startsWith(x)))fetch(${JSON.stringify(`${publicUrl}/attribution/${script.key}`)},{method:"POST",mode:"cors",credentials:"omit",keepalive:true,referrerPolicy:"no-referrer"}).catch(()=>{})})()
`
}

/** What a practice pastes into its pages. `crossorigin` and `referrerpolicy`: loading the script tells us no cookie and no path either. */
export function attributionSnippet(publicUrl: string, key: string): string {
  return `<script async src="${publicUrl}/attribution/${key}.js" crossorigin="anonymous" referrerpolicy="no-referrer"></script>`
}
