/** The commands on the pages print what the pages show. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { suite, test } from 'node:test'
import { runPage } from '../tools/docs/run-page.ts'

const root = resolve(import.meta.dirname, '..')
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .filter((path) => readFileSync(join(root, path), 'utf8').includes('\n```console'))

test('the README and several pages have commands', () => {
  for (const page of [
    'README.md',
    'docs/getting-started.md',
    'docs/operate.md',
    'docs/tutorial.md',
  ])
    assert.ok(pages.includes(page), page)
})

/**
 * Programs that `.ci/run` does not insist on. Its machine has no container engine. It goes on where
 * Helm, modules of Go or packages of Python cannot be fetched.
 */
const mayLack = new Set(['docker', 'helm', 'go', 'pypi'])
const isCi = process.env['CI'] !== undefined

suite('commands of pages', { concurrency: 2 }, () => {
  for (const page of pages)
    test(page, async (t) => {
      const { ran, problems, missing } = await runPage(join(root, page))
      assert.equal(problems.join('\n'), '')
      assert.ok(ran > 0, `no command of ${page} ran; without ${missing.join(', ')}`)
      const lacking = missing.filter((program) => !mayLack.has(program))
      if (isCi) assert.deepEqual(lacking, [], 'blocks are left out')
      t.diagnostic(`${ran} commands${missing.length > 0 ? `; without ${missing.join(', ')}` : ''}`)
    })
})
