import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { platformOf, sourceCommit } from './build-info.ts'

const one = '1'.repeat(40)
const two = '2'.repeat(40)
const none = '0'.repeat(40)

const branch = { '.git/HEAD': 'ref: refs/heads/main\n' }
const packed = { '.git/packed-refs': `# pack-refs with: peeled\n${two} refs/heads/main\n` }

type Case = [name: string, files: Readonly<Record<string, string>>, commit: string]

const cases: Case[] = [
  ['neither checkout nor package', {}, none],
  ['a branch', { ...branch, '.git/refs/heads/main': `${one}\n` }, one],
  ['a packed branch', { ...branch, ...packed }, two],
  ['a branch that moved since', { ...branch, ...packed, '.git/refs/heads/main': one }, one],
  ['a branch without a commit', branch, none],
  ['a commit without a branch', { '.git/HEAD': `${one}\n` }, one],
  ['a worktree', { '.git': 'gitdir: /elsewhere\n' }, none],
  ['a package', { 'dist/package.json': JSON.stringify({ gitCommit: two }) }, two],
  ['a package made outside a checkout', { 'dist/package.json': '{}' }, none],
]

for (const [name, files, commit] of cases) {
  test(`the commit of ${name}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'binnacle-commit-'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    const root = pathToFileURL(`${directory}/`)
    assert.equal(sourceCommit(new URL('dist/package.json', root), root), commit)
  })
}

test('platforms by their usual names', () => {
  const cases: [system: string, processor: string, name: string][] = [
    ['linux', 'x64', 'linux/amd64'],
    ['linux', 'arm64', 'linux/arm64'],
    ['darwin', 'arm64', 'darwin/arm64'],
    ['win32', 'ia32', 'windows/386'],
    ['linux', 'ppc64', 'linux/ppc64le'],
    ['linux', 's390x', 'linux/s390x'],
  ]
  for (const [system, processor, name] of cases) assert.equal(platformOf(system, processor), name)
})
