// What pages do beyond being read: search, colors, copying of code, the menu of narrow screens.
const byId = (id) => document.getElementById(id)

showSchemeButton()
openMenuOnWideScreens()
addCopyButtons()
startSearch()

function showSchemeButton() {
  const button = byId('scheme')
  const root = document.documentElement
  const system = matchMedia('(prefers-color-scheme: dark)')
  const isDark = () => (root.dataset.scheme ? root.dataset.scheme === 'dark' : system.matches)
  const label = () => {
    button.textContent = isDark() ? 'Light colors' : 'Dark colors'
  }
  button.addEventListener('click', () => {
    root.dataset.scheme = isDark() ? 'light' : 'dark'
    localStorage.setItem('mantine-color-scheme-value', root.dataset.scheme)
    label()
  })
  system.addEventListener('change', label)
  label()
  button.hidden = false
}

function openMenuOnWideScreens() {
  const menu = document.querySelector('.menu details')
  const wide = matchMedia('(min-width: 60rem)')
  const follow = () => {
    menu.open = wide.matches
  }
  wide.addEventListener('change', follow)
  follow()
}

function addCopyButtons() {
  for (const code of document.querySelectorAll('pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2_000)
    })
    const frame = document.createElement('div')
    frame.className = 'code'
    code.replaceWith(frame)
    frame.append(code, button)
  }
}

function startSearch() {
  const form = document.querySelector('form[role=search]')
  const query = byId('query')
  const found = byId('found')
  const [status, list] = found.children
  let index
  // Loaded when somebody is about to search, and not by every page.
  const load = () => {
    index ??= Promise.all([import('minisearch'), fetch(document.body.dataset.search).then((answer) => answer.json())])
    return index.then(([{ default: MiniSearch }, made]) => MiniSearch.loadJS(made.index, made.options))
  }
  const show = async () => {
    const text = query.value.trim()
    found.hidden = text === ''
    if (text === '') return
    const search = await load()
    if (query.value.trim() !== text) return
    const results = search.search(text, {
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
      boost: { heading: 4, page: 2 },
    })
    status.textContent =
      results.length === 0
        ? 'Nothing found. Try other words.'
        : `${results.length} ${results.length === 1 ? 'place' : 'places'} found`
    list.replaceChildren(...results.slice(0, 12).map(resultOf))
  }
  query.addEventListener('focus', load)
  query.addEventListener('input', show)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      query.value = ''
      query.focus()
      show()
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const places = [query, ...list.querySelectorAll('a')]
      const at = places.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
      places[at]?.focus()
      event.preventDefault()
    }
  })
  // A result on the same page is followed without a new page.
  list.addEventListener('click', () => {
    found.hidden = true
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || document.activeElement === query) return
    event.preventDefault()
    query.focus()
  })
  form.hidden = false
}

function resultOf({ id, page, heading, about }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = id
  const title = document.createElement('strong')
  title.textContent = heading
  const place = document.createElement('span')
  place.textContent = heading === page ? about : `${page} · ${about}`
  link.append(title, place)
  item.append(link)
  return item
}
