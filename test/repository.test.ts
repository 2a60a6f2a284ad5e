/**
 * The entry to the repository: its pages, one screen that shows how to begin, checks that are
 * strict. That pages and code agree is tidy.test.ts.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const pages: [path: string, says: RegExp][] = [
  ['README.md', /^# Binnacle$/m],
  ['ARCHITECTURE.md', /^## Layers$/m],
  ['STYLE.md', /^# How code reads here$/m],
  ['CONTRIBUTING.md', /npm test/],
  ['CHANGELOG.md', /^## \d+\.\d+\.\d+ \((unreleased|\d{4}-\d{2}-\d{2})\)$/m],
  ['SECURITY.md', /report/i],
  ['LICENSE', /Apache License/],
]
for (const [path, says] of pages) test(`there is ${path}`, () => assert.match(read(path), says))

const { version } = JSON.parse(read('package.json'))

test('the changelog begins with what is not released yet, or with the version of the package', () => {
  const sections = ['Upgrade notes', 'Security', 'Added', 'Changed', 'Fixed']
  const [, ...parts] = read('CHANGELOG.md').split(/^## /m)
  const [top = '', next = ''] = parts
  const newest = top.startsWith('Unreleased\n') ? next : top
  assert.match(newest, /^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)\n/)
  assert.equal(newest.split(' ')[0], version)
  assert.deepEqual(
    [...top.matchAll(/^### (.*)$/gm)].map(([, name]) => name),
    sections,
  )
})

/** Each place that has the version, and how often. */
const versions: [path: string, text: string, times: number][] = [
  ['package-lock.json', `"name": "binnacle",\n  "version": "${version}",`, 1],
  ['package-lock.json', `"name": "binnacle",\n      "version": "${version}",`, 1],
  ['packages/python/pyproject.toml', `\nversion = "${version}"\n`, 1],
  ['deploy/helm/binnacle/Chart.yaml', `ersion: ${version}\n`, 2],
  ['deploy/kubernetes/binnacle.yaml', `image: "binnacle:${version}"\n`, 1],
  ['deploy/container/compose.yaml', `image: binnacle:${version}\n`, 1],
  ['docs/testing.md', `"version":"${version}"`, 1],
]
for (const [path, text, times] of versions)
  test(`${path} has ${text.trim()}`, () => assert.equal(read(path).split(text).length - 1, times))

test('what stands at the top is meant to stand there', (t) => {
  const listed = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  if (listed.status !== 0) return t.skip('not a checkout')
  const folders = [
    '.ci',
    'benchmarks',
    'bin',
    'conformance',
    'deploy',
    'docs',
    'examples',
    'facts',
    'lib',
    'packages',
    'src',
    'test',
    'tools',
  ]
  const files = [
    '.gitattributes',
    '.gitignore',
    'biome.json',
    'package-lock.json',
    'package.json',
    'tsconfig.json',
  ]
  const meant = new Set([...folders, ...files, ...pages.map(([path]) => path)])
  const top = new Set(listed.stdout.split('\n').map((path) => path.split('/')[0] ?? ''))
  assert.deepEqual(
    [...top].filter((name) => name !== '' && !meant.has(name)),
    [],
  )
})

/** A terminal of a usual height, with the prompt. */
const screenLines = 50

test('the README is one screen, and has both commands', () => {
  const lines = read('README.md').split('\n')
  assert.ok(lines.length <= screenLines, `${lines.length} lines`)
  for (const command of ['npm start', 'npm test'])
    assert.ok(
      lines.some((line) => line.includes(`\`${command}\``)),
      command,
    )
})

test('every decision has its page in the list, with what would change our mind', () => {
  const list = read('docs/decisions/README.md')
  const names = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md')
  assert.ok(names.length > 0)
  for (const name of names) {
    assert.ok(list.includes(`](${name})`), name)
    const text = read(`docs/decisions/${name}`)
    for (const part of ['Context', 'Choice', 'Cost', 'What would change our mind'])
      assert.ok(text.includes(`**${part}.**`), `${name}: ${part}`)
  }
})

test('format, lint and types are checked, and strictly', () => {
  const biome = JSON.parse(read('biome.json'))
  assert.deepEqual([biome.formatter.enabled, biome.linter.enabled], [true, true])
  const { compilerOptions, include } = JSON.parse(read('tsconfig.json'))
  assert.deepEqual([compilerOptions.strict, compilerOptions.noEmit], [true, true])
  for (const folder of ['src', 'test', 'tools', 'conformance']) assert.ok(include.includes(folder))
})

test('the check of every change can be run as it is', () => {
  assert.ok((statSync(join(root, '.ci/run')).mode & 0o111) === 0o111)
})
