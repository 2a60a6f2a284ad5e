/**
 * `npm run docs`: docs/ as a static site in dist/site/, with the pages and examples that it links.
 * It loads nothing from elsewhere, works from a folder without a server, and searches in the page
 * by an index of its own.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { escaped, toHtml } from './markdown.ts'

const root = resolve(import.meta.dirname, '../..')

interface Page {
  /** `operate.html`, `decisions/storage.html`; README.md is index.html. */
  readonly path: string
  readonly title: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** What search finds. */
interface Section {
  readonly at: string
  readonly title: string
  readonly text: string
}

/**
 * Where a file of the repository is in the site: docs/ is its root, and pages of packages keep
 * their path. A file that is no page is shown as code.
 *
 *   docs/operate.md → operate.html     packages/go/README.md → packages/go/index.html
 *   examples/envtest → examples/envtest/index.html     examples/server.ts → examples/server.ts.html
 */
function sitePath(source: string): string {
  const inSite = source.replace(/^docs\//, '')
  if (isFolder(source)) return `${inSite}/index.html`
  if (!source.endsWith('.md')) return `${inSite}.html`
  return inSite.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html')
}

const isFolder = (source: string) =>
  statSync(join(root, source), { throwIfNoEntry: false })?.isDirectory() ?? false

/** A page, and the files of the repository to which it links. */
interface Read {
  readonly page: Page
  readonly links: readonly string[]
}

function readPage(source: string): Read {
  const text = readFileSync(join(root, source), 'utf8')
  const path = sitePath(source)
  const links: string[] = []
  const { html, title, headings } = toHtml(text, (link) => {
    if (/^(https?:|#)/.test(link)) return link
    const [file = '', heading] = link.split('#')
    const target = posix.join(posix.dirname(source), file).replace(/\/$/, '')
    links.push(target)
    const address = posix.relative(posix.dirname(path), sitePath(target))
    return heading === undefined ? address : `${address}#${heading}`
  })
  const parts = text.split(/^#{1,6} .*$/m).slice(1)
  const sections = headings.map(({ id, text: words }, at) => ({
    at: `${path}#${id}`,
    title: words === title ? title : `${title}: ${words}`,
    text: (parts[at] ?? '')
      .replaceAll(/[`*|#]+/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))
  return { page: { path, title, html, sections }, links }
}

/** An example as plain code; a folder of examples as the code of its files. */
function readCode(source: string): Read {
  const files = isFolder(source)
    ? readdirSync(join(root, source), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => `${source}/${name}`)
    : [source]
  const parts = files.sort().map((file) => {
    const code = escaped(readFileSync(join(root, file), 'utf8'))
    return `<h2>${escaped(posix.basename(file))}</h2>\n<pre><code>${code}</code></pre>`
  })
  const title = escaped(source)
  const html = `<h1>${title}</h1>\n${parts.join('\n')}`
  return { page: { path: sitePath(source), title, html, sections: [] }, links: [] }
}

/** All pages of docs/, and what they lead to in the repository. */
function allPages(): Page[] {
  const sources = readdirSync(join(root, 'docs'), { recursive: true })
    .map((name) => `docs/${String(name).replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md'))
    .sort()
  const pages = new Map<string, Page>()
  for (const source of sources) {
    if (pages.has(source) || !existsSync(join(root, source))) continue
    const { page, links } = source.endsWith('.md') ? readPage(source) : readCode(source)
    pages.set(source, page)
    // The list grows while it is read.
    sources.push(...links)
  }
  return [...pages.values()]
}

/** The order of docs/README.md, then what is below. */
function navigation(page: Page, pages: readonly Page[], index: string): string {
  const listed = [...index.matchAll(/^- \[[^\]]*\]\(([^)]+)\)|^([A-Z]\w+(?: \w+)*)$/gm)]
  const up = relative(dirname(page.path), '.') || '.'
  const items = listed.flatMap(([, link, group]) => {
    if (group !== undefined) return [`</ul><h2>${group}</h2><ul>`]
    const target = pages.find(({ path }) => path === sitePath(`docs/${link}`))
    if (target === undefined) return []
    const current = target.path === page.path ? ' aria-current="page"' : ''
    return [`<li><a href="${up}/${target.path}"${current}>${target.title}</a></li>`]
  })
  return `<ul>${items.join('')}</ul>`
}

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { padding: 1rem; border-right: 1px solid var(--line); min-height: 100vh; }
nav ul { list-style: none; margin: 0; padding: 0; } nav h2 { font-size: .8rem; margin: 1rem 0 .2rem; opacity: .7; }
nav a { text-decoration: none; } nav [aria-current] { font-weight: 600; }
nav input { width: 100%; padding: .4rem; font: inherit; } #found a { display: block; padding: .3rem 0; }
main { max-width: 60rem; padding: 1rem 2rem 4rem; } h2, h3 { margin-top: 2rem; }
pre { background: var(--soft); padding: .8rem; overflow: auto; border-radius: 4px; }
code { font: .9em ui-monospace, monospace; } :not(pre) > code { background: var(--soft); padding: 0 .2em; }
.table { overflow: auto; } table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
@media (max-width: 50rem) { body { display: block; } nav { min-height: 0; border: 0; } main { padding: 1rem; } }
`

/** Sections that hold all words, those with the words in their title first. */
const searchScript = `
const box = document.getElementById('search'), found = document.getElementById('found')
box.addEventListener('input', () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const score = ({ title, text }) => {
    const [t, x] = [title.toLowerCase(), text.toLowerCase()]
    return words.every((w) => t.includes(w) || x.includes(w)) ? 1 + words.filter((w) => t.includes(w)).length : 0
  }
  const hits = words.length === 0 ? [] : sections.map((s) => [score(s), s]).filter(([n]) => n > 0)
  hits.sort(([a], [b]) => b - a)
  found.replaceChildren(...hits.slice(0, 20).map(([, s]) => {
    const link = document.createElement('a')
    link.href = base + s.at
    link.textContent = s.title
    return link
  }))
})
`

function whole(page: Page, pages: readonly Page[], index: string): string {
  const up = relative(dirname(page.path), '.')
  const base = up === '' ? '' : `${up}/`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${page.title} · Binnacle</title><link rel="stylesheet" href="${base}style.css"></head>
<body><nav><input id="search" type="search" placeholder="Search" aria-label="Search"><div id="found"></div>
${navigation(page, pages, index)}</nav>
<main>
${page.html}
</main>
<script>const base = ${JSON.stringify(base)}</script><script src="${base}search-index.js"></script><script src="${base}search.js"></script>
</body></html>
`
}

/** Gives the paths of the pages. */
export function makeSite(to: string): string[] {
  const pages = allPages()
  const index = readFileSync(join(root, 'docs', 'README.md'), 'utf8')
  rmSync(to, { recursive: true, force: true })
  for (const page of pages) {
    mkdirSync(dirname(join(to, page.path)), { recursive: true })
    writeFileSync(join(to, page.path), whole(page, pages, index))
  }
  const sections = pages.flatMap((page) => page.sections)
  writeFileSync(join(to, 'search-index.js'), `const sections = ${JSON.stringify(sections)}\n`)
  writeFileSync(join(to, 'search.js'), searchScript)
  writeFileSync(join(to, 'style.css'), style)
  return pages.map(({ path }) => path)
}

if (import.meta.main) {
  const to = join(root, 'dist', 'site')
  process.stdout.write(`${to}/index.html: ${makeSite(to).length} pages\n`)
}
