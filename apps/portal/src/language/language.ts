/** The languages of the portal, each by its own name. */
export const languages = { en: 'English', es: 'Español' } as const
export type Language = keyof typeof languages

const storageKey = 'bridgework.language'

/** The pages that are whole in Spanish. The others are whole in English: a page is never in two languages. */
const spanishPages = [
  /^\/(sign-in|sign-up|forgot-password|reset-password|verify-email|email-change|invitation|mail|status)(\/|$)/,
]

/** The language that the person chose in this browser; else the first of the browser's own that the portal has. */
export function chosenLanguage(): Language {
  const chosen = localStorage.getItem(storageKey)
  const wanted = chosen === null ? navigator.languages : [chosen]
  for (const [language = ''] of wanted.map((tag) => tag.split('-'))) {
    if (Object.hasOwn(languages, language)) return language as Language
  }
  return 'en'
}

/** The language that a page of this address is shown in. */
export function languageOfPage(path: string): Language {
  const chosen = chosenLanguage()
  return chosen === 'en' || spanishPages.some((page) => page.test(path)) ? chosen : 'en'
}

/** Keeps the choice in this browser. What is shown changes when a page is loaded anew. */
export function keepLanguage(language: Language): void {
  localStorage.setItem(storageKey, language)
}

/** The language of what is shown now. It never changes while a page is open, so a text may be a constant of a page. Tests without a browser are in English. */
export const language: Language = typeof document === 'undefined' ? 'en' : languageOfPage(location.pathname)

if (typeof document !== 'undefined') document.documentElement.lang = language
