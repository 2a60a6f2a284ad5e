/**
 * The published package: what `npm pack` makes of a checkout, installed and run below node_modules.
 * Dependencies are those of the checkout, linked; nothing is downloaded.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { freePort } from './running-server.ts'

const root = resolve(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'binnacle-package-'))
after(() => rmSync(place, { recursive: true }))
const modules = join(place, 'node_modules')
const installed = join(modules, 'binnacle')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** A download of a second, on most networks. */
const packedBytesMax = 2_000_000
let packedBytes = 0

before(() => {
  const checkout = join(place, 'checkout')
  mkdirSync(checkout)
  const left =
    /^(\.git|\.node|node_modules|bundle|dist|binnacle-data|conformance|benchmarks|.*\.(tgz|log))$/
  for (const name of readdirSync(root))
    if (!left.test(name)) cpSync(join(root, name), join(checkout, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const options = { cwd: checkout, env: { ...process.env, PATH: path, NODE_TEST_CONTEXT: '' } }
  execFileSync('npm', ['pack', '--loglevel=error'], { ...options, stdio: 'pipe' })
  const archive = `${manifest.name}-${manifest.version}.tgz`
  packedBytes = statSync(join(checkout, archive)).size
  execFileSync('tar', ['xzf', archive], { cwd: checkout })
  mkdirSync(modules)
  renameSync(join(checkout, 'package'), installed)
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
})

test('the package has what it needs, no sources and no tests, and less than 2 MB', () => {
  const files = readdirSync(installed, { recursive: true }).map(String)
  for (const name of [
    'bin/binnacle.js',
    'bundle/server.cjs',
    'bundle/storage/sqlite/writer.cjs',
    'bundle/initial-store.json',
    'bundle/types/testing/start-cluster.d.ts',
    'lib/testing.js',
    'examples/envtest/kube-apiserver',
    'facts/releases.json',
    'docs/flags.md',
    'LICENSE',
    'README.md',
  ])
    assert.ok(files.includes(name), name)
  assert.deepEqual(
    files.filter((name) =>
      /^(src|test|tools|node_modules)\b|\.(test|suite|bench|child)\./.test(name),
    ),
    [],
  )
  assert.ok(packedBytes < packedBytesMax, `${packedBytes} bytes`)
})

test('links of every page in the package lead to files of the package', () => {
  const pages = readdirSync(installed, { recursive: true })
    .map((name) => String(name))
    .filter((name) => name.endsWith('.md'))
  for (const page of ['README.md', 'CHANGELOG.md', 'docs/testing.md', 'packages/go/README.md'])
    assert.ok(pages.includes(page), page)
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(installed, page), 'utf8')
    return [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => !existsSync(join(installed, dirname(page), link)))
      .map((link) => `${page}: ${link}`)
  })
  assert.deepEqual(broken, [])
})

test('it brings the programs that envtest starts', () => {
  const assets = join(installed, 'examples', 'envtest')
  const ask = (name: string) =>
    execFileSync(join(assets, name), ['--help'], {
      env: { ...process.env, PATH: dirname(process.execPath) },
      encoding: 'utf8',
    })
  assert.match(ask('etcd'), /--listen-client-urls=/)
  assert.match(ask('kube-apiserver'), /--secure-port=/)
})

/** What npm links as the command of this name. */
const command = () =>
  join(installed, JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).bin.binnacle)

test('the package and its command are called binnacle, and it answers', () => {
  assert.equal(manifest.name, 'binnacle')
  const run = (arg: string) =>
    execFileSync(process.execPath, [command(), arg], { cwd: place }).toString()
  assert.match(run('--version'), new RegExp(manifest.version.replaceAll('.', '\\.')))
  assert.match(run('--help'), /--secure-port=6443/)
})

test('the package needs Node 24: an older one prints what to do', () => {
  assert.equal(manifest.engines.node, '>=24')
  const rows: [version: string, line: RegExp][] = [
    [
      '23.11.1',
      /^binnacle: needs Node 24 or later, and this is 23\.11\.1: install a newer Node .*\n$/,
    ],
    ['24.0.0', /^binnacle \d+\.\d+\.\d+ \(as Kubernetes/],
  ]
  for (const [version, line] of rows) {
    const versions = `{value:{...process.versions,node:'${version}'}}`
    const preload = `data:text/javascript,Object.defineProperty(process,'versions',${versions})`
    const env = { ...process.env, NODE_OPTIONS: `--import ${preload}` }
    const { stdout, stderr } = spawnSync(process.execPath, [command(), '--version'], { env })
    assert.match(`${stdout}${stderr}`, line, version)
  }
})

test('an older Node that imports or requires the package reports which one it needs', () => {
  const versions = "{value:{...process.versions,node:'20.11.0'}}"
  const preload = `data:text/javascript,Object.defineProperty(process,'versions',${versions})`
  const env = { ...process.env, NODE_OPTIONS: `--import ${preload}` }
  for (const entry of ['binnacle', 'binnacle/testing'])
    for (const load of [`import(${JSON.stringify(entry)})`, `require(${JSON.stringify(entry)})`]) {
      const { stderr } = spawnSync(process.execPath, ['--eval', load], { cwd: place, env })
      assert.match(`${stderr}`, /binnacle needs Node 24 or later, and this is 20\.11\.0/, load)
    }
})

test('the server of the package starts, and stops cleanly', async (t) => {
  const flags = [`--secure-port=${await freePort()}`, `--data-dir=${join(place, 'data')}`]
  const child = spawn(process.execPath, [command(), ...flags], { cwd: place })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const ended = new Promise((done) => child.on('close', done))
  await until('the server to be ready', () => said.includes('export KUBECONFIG='))
  assert.ok(readdirSync(join(place, 'data')).includes('state.db'), said)
  child.kill('SIGTERM')
  assert.equal(await ended, 0, said)
})

const usesEntries = `
import { createServer } from 'binnacle'
import { type TestCluster, startCluster } from 'binnacle/testing'
const server = await createServer({ storageBackend: 'memory', securePort: 0 })
await server.close()
const cluster: TestCluster = await startCluster()
const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }
const made = await cluster.client.create({ ...reference, data: { a: 'b' } })
await cluster.close()
console.log(JSON.stringify(made.data))
`

test('programs import binnacle and binnacle/testing, with types', () => {
  const program = join(place, 'uses.mts')
  writeFileSync(program, usesEntries)
  const out = execFileSync(process.execPath, [program], { cwd: place, encoding: 'utf8' })
  assert.equal(out, '{"a":"b"}\n')
  mkdirSync(join(modules, '@types'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(modules, '@types/node'))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    types: ['node'],
    lib: ['esnext'],
  }
  const config = JSON.stringify({ compilerOptions, files: ['uses.mts'] })
  writeFileSync(join(place, 'tsconfig.json'), config)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', place])
  assert.equal(status, 0, String(stdout))
})

test('programs require binnacle and binnacle/testing', () => {
  const program = join(place, 'uses.cjs')
  const text = `const { startCluster, forkPerTest } = require('binnacle/testing')
    console.log(typeof startCluster, typeof forkPerTest, typeof require('binnacle').createServer)`
  writeFileSync(program, text)
  const out = execFileSync(process.execPath, [program], { cwd: place, encoding: 'utf8' })
  assert.equal(out, 'function function function\n')
})
