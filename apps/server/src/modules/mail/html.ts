/**
 * A mail's text as HTML, for mail programs that show it in place of the text: the same sentences, with addresses as links. A blank line ends a
 * paragraph, a line break stays one, and lines that begin with two spaces are code. Nothing is loaded from anywhere.
 */
export function htmlOf(text: string): string {
  const paragraphs = text.trim().split(/\n{2,}/)
  const body = paragraphs.map((each) => (each.startsWith('  ') ? `<pre>${linked(each)}</pre>` : paragraphOf(each)))
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title></title></head>
<body style="font-family: sans-serif; font-size: 16px; line-height: 1.5; max-width: 640px">
${body.join('\n')}
</body>
</html>
`
}

function paragraphOf(text: string): string {
  return `<p>${linked(text).replaceAll('\n', '<br>\n')}</p>`
}

/** Each address ends at a space or at the end of a sentence. */
function linked(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/)
    .map((part, index) => (index % 2 === 0 ? escaped(part) : `<a href="${escaped(part)}">${escaped(part)}</a>`))
    .join('')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
