// Before the page is painted: the colors that the person chose here or in the portal, which keeps its choice under this name.
const chosen = localStorage.getItem('mantine-color-scheme-value')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.scheme = chosen
