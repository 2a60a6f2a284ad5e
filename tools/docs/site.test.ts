/**
 * The site: every link leads to a page and a heading that are there, nothing is loaded from
 * elsewhere, search finds.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { inline, toHtml } from './markdown.ts'
import { makeSite } from './site.ts'

const rows: [markdown: string, html: string][] = [
  ['# A `b`', '<h1 id="a-b">A <code>b</code></h1>'],
  ['one\ntwo', '<p>one two</p>'],
  ['- a\n  b\n- c', '<ul>\n<li>a b</li>\n<li>c</li>\n</ul>'],
  ['1. a\n2. b', '<ol>\n<li>a</li>\n<li>b</li>\n</ol>'],
  ['```console\n$ x <y>\nz\n```', '<pre><code><b>$ x &lt;y&gt;</b>\nz</code></pre>'],
  [
    '| a | b |\n| --- | --- |\n| `x\\|y` | <i> |',
    '<div class="table"><table>\n<thead><tr><th>a</th><th>b</th></tr></thead>\n<tbody>\n<tr><td><code>x|y</code></td><td>&lt;i&gt;</td></tr>\n</tbody></table></div>',
  ],
]
for (const [markdown, html] of rows)
  test(`${JSON.stringify(markdown)} as HTML`, () => assert.equal(toHtml(markdown).html, html))

test('links to pages, bold, and code that looks like markup', () =>
  assert.equal(
    inline('[a](b.md#c) **d** `**e** [f](g.md)` [h](../README.md)'),
    '<a href="b.html#c">a</a> <strong>d</strong> <code>**e** [f](g.md)</code> <a href="../index.html">h</a>',
  ))

const to = mkdtempSync(join(tmpdir(), 'binnacle-site-'))
after(() => rmSync(to, { recursive: true }))

test('every link of the site leads somewhere, and nothing is loaded from elsewhere', () => {
  const pages = makeSite(to)
  assert.ok(pages.includes('index.html') && pages.length > 20)
  for (const page of ['packages/go/index.html', 'examples/testing/service-controller.ts.html'])
    assert.ok(pages.includes(page), page)
  const read = (path: string) => readFileSync(join(to, path), 'utf8')
  const broken = pages.flatMap((page) => {
    const text = read(page)
    assert.doesNotMatch(text, /<(script|link|img)[^>]*="(?:https?:)?\/\//)
    return [...text.matchAll(/<a href="([^"]*)"/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [path = '', heading] = link.split('#')
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(to, target))) return true
        return heading !== undefined && !read(target).includes(`id="${heading}"`)
      })
      .map((link) => `${page}: ${link}`)
  })
  assert.deepEqual(broken, [])
})

test('search finds a message, without a server', () => {
  const shown: { href: string; textContent: string }[] = []
  let search = () => {}
  const box = { value: '', addEventListener: (_: string, heard: () => void) => (search = heard) }
  const found = {
    replaceChildren: (...links: typeof shown) => shown.splice(0, shown.length, ...links),
  }
  const document = {
    getElementById: (id: string) => (id === 'search' ? box : found),
    createElement: () => ({}),
  }
  const code = ['search-index.js', 'search.js'].map((name) => readFileSync(join(to, name), 'utf8'))
  runInNewContext(`const base = ''\n${code.join('\n')}`, { document })
  box.value = 'backup DRILL'
  search()
  assert.equal(shown[0]?.href, 'operate.html#backup-drill')
  box.value = 'unknown authority'
  search()
  assert.ok(shown.some(({ href }) => href.startsWith('troubleshooting.html#')))
})
