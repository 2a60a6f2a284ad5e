/**
 * envtest, which test suites of controllers start their API server with: with the stand-ins of
 * examples/envtest, and with this server beside a real etcd. Left out, with the reason, where Go,
 * its modules or etcd are missing.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { etcdVersion } from '#storage/etcd/etcd-server.fixture.ts'
import { buildGo } from './go-program.fixture.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'binnacle-envtest-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const program = join(folder, 'suite')
const noProgram = buildGo('./envtest', program)
const path = [dirname(process.execPath), process.env.PATH].join(delimiter)

/**
 * What a suite says, and what it left behind: in the folder it ran in, and in that for temporary
 * files.
 */
async function runSuite(assets: string, controllers: string[]) {
  const place = mkdtempSync(join(folder, 'run-'))
  const temporary = join(place, 'temporary')
  mkdirSync(temporary)
  const env = { ...process.env, PATH: path, TMPDIR: temporary, KUBEBUILDER_ASSETS: assets }
  const child = spawn(program, controllers, { cwd: place, env })
  const [said, complaint] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const left = [...readdirSync(place), ...readdirSync(temporary)]
  return { said: said === '' ? complaint : JSON.parse(said), left }
}

/** This server under the name kube-apiserver, and the etcd of the PATH. */
function besideEtcd(): string {
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  const commands = {
    'kube-apiserver': `node '${root}/bin/binnacle.js' "$@" '--controllers=-*'`,
    etcd: 'etcd "$@"',
  }
  for (const [name, command] of Object.entries(commands))
    writeFileSync(join(assets, name), `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 })
  return assets
}

describe('envtest', { skip: noProgram ?? false }, () => {
  const came = { teeth: '12', accounts: 0, strangerMayNot: true }
  const stays = { said: { ...came, namespaceGoes: false }, left: ['temporary'] }
  const goes = { said: { ...came, namespaceGoes: true }, left: ['temporary'] }
  const standIns = join(root, 'examples/envtest')

  test('without etcd: an API server alone', async () => {
    assert.deepEqual(await runSuite(standIns, []), stays)
  })
  test('without etcd: with a requested controller', async () => {
    assert.deepEqual(await runSuite(standIns, ['namespace']), goes)
  })
  test('beside etcd', { skip: etcdVersion() === undefined && 'no etcd on the PATH' }, async () => {
    assert.deepEqual(await runSuite(besideEtcd(), []), stays)
  })
})
