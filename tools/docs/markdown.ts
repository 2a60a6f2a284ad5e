/**
 * Markdown of the pages to HTML: headings, paragraphs, lists, tables, code, links, bold. Only what
 * the pages use; a test converts all of them. Text is escaped first, so that no page can bring HTML
 * of its own.
 */

export interface Heading {
  readonly level: number
  readonly text: string
  readonly id: string
}

export interface Converted {
  readonly html: string
  readonly title: string
  readonly headings: readonly Heading[]
}

export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** As GitHub makes them: lower case, words joined by hyphens. */
export const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

const plainText = (text: string): string =>
  text
    .replaceAll('`', '')
    .replaceAll('**', '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')

/** Gives the address of what a link of the page leads to. */
export type Address = (link: string) => string

/** Links to pages become links to their HTML. */
const target: Address = (link) =>
  /^https?:/.test(link)
    ? link
    : link.replace(/README\.md(?=#|$)/, 'index.html').replace(/\.md(?=#|$)/, '.html')

/** What is inside a line. Code is set aside first: nothing in it is markup. */
export function inline(text: string, address: Address = target): string {
  const codes: string[] = []
  const aside = text.replaceAll(/(`+)(.+?)\1/g, (_, _ticks, code: string) => {
    codes.push(`<code>${escaped(code.trim())}</code>`)
    return `\u0000${codes.length - 1}\u0000`
  })
  return escaped(aside)
    .replaceAll(
      /\[([^\]]*)\]\(([^)\s]+)\)/g,
      (_, words: string, link: string) => `<a href="${escaped(address(link))}">${words}</a>`,
    )
    .replaceAll(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\u0000(\d+)\u0000/g, (_, at: string) => codes[Number(at)] ?? '')
}

/** Cells of a row; `\|` is no border, nor is one in code. */
const cellsOf = (row: string): string[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

export function toHtml(page: string, address: Address = target): Converted {
  const asHtml: AsHtml = (text) => inline(text, address)
  const lines = page.split('\n')
  const out: string[] = []
  const headings: Heading[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const heading = /^(#{1,6}) (.*)$/.exec(line)
    if (heading !== null) {
      const [, signs = '', words = ''] = heading
      const id = headingId(plainText(words))
      headings.push({ level: signs.length, text: plainText(words), id })
      out.push(`<h${signs.length} id="${escaped(id)}">${asHtml(words)}</h${signs.length}>`)
      at++
    } else if (line.startsWith('```')) at = addCode(lines, at, out)
    else if (line.startsWith('|')) at = addTable(lines, at, out, asHtml)
    else if (/^(- |\d+\. )/.test(line)) at = addList(lines, at, out, asHtml)
    else if (line.trim() === '') at++
    else at = addParagraph(lines, at, out, asHtml)
  }
  const title = headings.find(({ level }) => level === 1)?.text ?? ''
  return { html: out.join('\n'), title, headings }
}

type AsHtml = (text: string) => string

function addCode(lines: readonly string[], from: number, out: string[]): number {
  let at = from + 1
  const code: string[] = []
  while (at < lines.length && !lines[at]!.startsWith('```')) code.push(escaped(lines[at++]!))
  const isConsole = lines[from]!.startsWith('```console')
  const shown = isConsole
    ? code.map((line) => (/^(\$|&gt;) /.test(line) ? `<b>${line}</b>` : line))
    : code
  out.push(`<pre><code>${shown.join('\n')}</code></pre>`)
  return at + 1
}

function addTable(lines: readonly string[], from: number, out: string[], asHtml: AsHtml): number {
  const row = (line: string, tag: string) =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${asHtml(cell)}</${tag}>`)
      .join('')}</tr>`
  out.push('<div class="table"><table>', `<thead>${row(lines[from]!, 'th')}</thead>`, '<tbody>')
  let at = from + 2
  while (lines[at]?.startsWith('|')) out.push(row(lines[at++]!, 'td'))
  out.push('</tbody></table></div>')
  return at
}

/** Lines that are indented go on with their item. */
function addList(lines: readonly string[], from: number, out: string[], asHtml: AsHtml): number {
  const tag = lines[from]!.startsWith('- ') ? 'ul' : 'ol'
  const items: string[] = []
  let at = from
  for (; at < lines.length; at++) {
    const item = /^(?:- |\d+\. )(.*)$/.exec(lines[at]!)
    if (item !== null) items.push(item[1]!)
    else if (/^\s+\S/.test(lines[at]!) && items.length > 0)
      items[items.length - 1] += ` ${lines[at]!.trim()}`
    else break
  }
  out.push(`<${tag}>`, ...items.map((item) => `<li>${asHtml(item)}</li>`), `</${tag}>`)
  return at
}

function addParagraph(
  lines: readonly string[],
  from: number,
  out: string[],
  asHtml: AsHtml,
): number {
  let at = from
  const text: string[] = []
  while (at < lines.length && !/^(\s*$|#|```|\||- |\d+\. )/.test(lines[at]!))
    text.push(lines[at++]!)
  if (text.length === 0) text.push(lines[at++]!)
  out.push(`<p>${asHtml(text.join(' '))}</p>`)
  return at
}
