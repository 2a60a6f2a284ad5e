/**
 * Keys and tokens that the commands of the pages write into a checkout can be neither committed nor
 * copied into the build of an image.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { writtenFiles } from '../tools/docs/written-files.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const place = mkdtempSync(join(tmpdir(), 'binnacle-ignored-'))
after(() => rmSync(place, { recursive: true }))

/** A custom resource definition, and the names of changed objects. */
const withoutSecrets = new Set(['shops.yaml', 'changes'])

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
const written = pages
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) => writtenFiles(read(path)))
  .filter((name) => !withoutSecrets.has(name))

/** Patterns of .dockerignore begin at the root, those of .gitignore anywhere. */
const asGitIgnore = (text: string) => text.replaceAll(/^(?=[^#\n*])|^(?=\*(?!\*))/gm, '/')

const rules: [name: string, text: string][] = [
  ['.gitignore', read('.gitignore')],
  [
    'deploy/container/Dockerfile.dockerignore',
    asGitIgnore(read('deploy/container/Dockerfile.dockerignore')),
  ],
]
for (const [name, text] of rules)
  test(`${name} has the secrets that commands of the pages write`, () => {
    const names = ['state/pki/ca.key', 'alice.kubeconfig', 'token', 'drill.tar', 'secret']
    for (const one of names) assert.ok(written.includes(one), `${one} is found on a page`)
    writeFileSync(join(place, '.gitignore'), text)
    const git = (...args: string[]) =>
      spawnSync('git', args, { cwd: place, encoding: 'utf8', input: written.join('\n') })
    git('init', '--quiet')
    const ignored = new Set(git('check-ignore', '--stdin').stdout.split('\n'))
    assert.deepEqual(
      [...new Set(written)].filter((path) => !ignored.has(path)),
      [],
    )
  })
