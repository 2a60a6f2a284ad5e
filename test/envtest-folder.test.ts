/** The folder of examples/ for envtest: its release, and the Node that runs it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { releases } from '#settings/flag-table.ts'

const folder = resolve(import.meta.dirname, '../examples/envtest')
const place = mkdtempSync(join(tmpdir(), 'binnacle-envtest-folder-'))
after(() => rmSync(place, { recursive: true, force: true }))

test('it emulates the newest release unless a flag names one', () => {
  const newest = releases.at(-1) ?? ''
  const rows: [flags: string[], release: string][] = [
    [[], newest],
    [['--emulated-version=1.31'], '1.31'],
  ]
  for (const [flags, release] of rows) {
    const args = [join(folder, 'kube-apiserver'), '--version', ...flags]
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.match(stdout, new RegExp(`\\(as Kubernetes ${release}\\)`), flags.join())
  }
})

test('in an installed package, an older Node finds a newer one or prints what to do', () => {
  const assets = join(place, 'examples/envtest')
  const newer = join(place, 'newer')
  const managed = join(place, 'home/.nvm/versions/node/v24.0.0/bin')
  for (const path of [assets, newer, managed, join(place, 'bin')])
    mkdirSync(path, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(place, 'bin/binnacle.js'), "console.log('runs', ...process.argv.slice(2))")
  copyFileSync(join(folder, 'kube-apiserver'), join(assets, 'kube-apiserver'))
  for (const path of [newer, managed]) symlinkSync(process.execPath, join(path, 'node'))
  const versions = "{value:{...process.versions,node:'20.11.0'}}"
  const preload = `data:text/javascript,Object.defineProperty(process,'versions',${versions})`
  const runs =
    /^runs --secure-port=1 --storage-backend=memory --controllers=-\* --emulated-version=/
  const nowhere = { HOME: place, PATH: '' }
  const rows: [title: string, env: Record<string, string>, output: RegExp, code: number][] = [
    ['on the PATH', { HOME: place, PATH: newer }, runs, 0],
    ['by name', { ...nowhere, BINNACLE_NODE: join(newer, 'node') }, runs, 0],
    ['of nvm', { ...nowhere, HOME: join(place, 'home') }, runs, 0],
    ['none', nowhere, /needs Node 24 or later, and this is 20\.11\.0: .*BINNACLE_NODE/, 1],
  ]
  for (const [title, env, output, code] of rows) {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--import', preload, join(assets, 'kube-apiserver'), '--secure-port=1'],
      { env, encoding: 'utf8' },
    )
    assert.match(`${stdout}${stderr}`, output, title)
    assert.equal(status, code, title)
  }
})
