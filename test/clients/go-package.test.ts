/**
 * The Go package in packages/go, with its own tests. They need Go and the modules that go.mod
 * names; without them the test is skipped and says so.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'

const root = resolve(import.meta.dirname, '../..')
const go = process.env.BINNACLE_GO ?? 'go'
const place = mkdtempSync(join(tmpdir(), 'binnacle-go-package-'))
after(() => rmSync(place, { recursive: true }))
const command = join(place, 'binnacle')
writeFileSync(
  command,
  `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/binnacle.js')}' "$@"\n`,
)
chmodSync(command, 0o755)

const run = (...args: string[]) =>
  spawnSync(go, args, {
    cwd: join(root, 'packages/go'),
    encoding: 'utf8',
    env: { ...process.env, BINNACLE: command, GOPROXY: 'off', GOTOOLCHAIN: 'local' },
  })

function whyNot(): string | undefined {
  const { error, status, stderr } = run('list', '-deps', '-test', './...')
  if (error !== undefined) return `no ${go} on the PATH`
  return status === 0
    ? undefined
    : `${go} lacks what packages/go/go.mod names: ${stderr.slice(0, 200)}`
}

test('the Go package', { skip: whyNot() ?? false }, () => {
  const { status, stdout, stderr } = run('test', '-count=1', './...')
  assert.equal(status, 0, `${stdout}${stderr}`)
})
