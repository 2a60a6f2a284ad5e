/**
 * The published package: what `npm pack` makes of a checkout, installed and run below node_modules, where Node strips no
 * types. Dependencies are those of the checkout, linked; nothing is downloaded.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { withBuiltSpecifiers } from '../tools/release/build.ts'
import { freePort } from './running-server.ts'

const root = resolve(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'binnacle-package-'))
after(() => rmSync(place, { recursive: true }))
const modules = join(place, 'node_modules')
const installed = join(modules, 'binnacle')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

before(() => {
  const checkout = join(place, 'checkout')
  mkdirSync(checkout)
  const left =
    /^(\.git|\.node|node_modules|dist|binnacle-data|conformance|benchmarks|.*\.(tgz|log))$/
  for (const name of readdirSync(root))
    if (!left.test(name)) cpSync(join(root, name), join(checkout, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const options = { cwd: checkout, env: { ...process.env, PATH: path, NODE_TEST_CONTEXT: '' } }
  execFileSync('npm', ['pack', '--loglevel=error'], { ...options, stdio: 'pipe' })
  execFileSync('tar', ['xzf', `${manifest.name}-${manifest.version}.tgz`], { cwd: checkout })
  mkdirSync(modules)
  renameSync(join(checkout, 'package'), installed)
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
})

const specifiers: [source: string, built: string][] = [
  ["import { a } from './a.ts'", "import { a } from './a.js'"],
  ["export { a } from '#base/a.ts'", "export { a } from '#base/a.js'"],
  ["await import('./x/b.ts')", "await import('./x/b.js')"],
  [
    "new Worker(new URL('./w.ts', import.meta.url))",
    "new Worker(new URL('./w.js', import.meta.url))",
  ],
  ["const name = 'a.ts'", "const name = 'a.ts'"],
]
for (const [source, built] of specifiers)
  test(`built: ${source}`, () => assert.equal(withBuiltSpecifiers(source), built))

test('the package has what it needs and no tests', () => {
  const files = readdirSync(join(installed, 'dist'), { recursive: true }).map(String)
  assert.ok(files.includes('settings/flags.js'))
  assert.deepEqual(
    files.filter((name) => /\.(test|suite|bench|child|fixture)\.|\.ts$/.test(name)),
    [],
  )
  const top = readdirSync(installed).sort()
  for (const name of [
    'bin',
    'dist',
    'examples',
    'facts',
    'docs',
    'LICENSE',
    'README.md',
    'package.json',
  ])
    assert.ok(top.includes(name), name)
  for (const name of ['src', 'test', 'tools', 'node_modules']) assert.ok(!top.includes(name), name)
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

test('a built file is imported by its # name', () => {
  const one = `import('#settings/flags.js').then((m) => console.log(m.parseFlags([]).settings.securePort))`
  const run = execFileSync(process.execPath, ['--input-type=module', '-e', one], {
    cwd: join(installed, 'dist'),
  })
  assert.equal(run.toString().trim(), '6443')
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

test('the package wants Node 24, a checkout Node 26; what is older is told so in one line', () => {
  const checkout = join(root, 'bin/binnacle.js')
  const rows: [file: string, version: string, line: RegExp][] = [
    [command(), '23.11.1', /^binnacle: needs Node 24 or later and this is 23\.11\.1\n$/],
    [command(), '24.0.0', /^binnacle \d+\.\d+\.\d+ \(as Kubernetes/],
    [checkout, '25.9.0', /^binnacle: needs Node 26 .* this is 25\.9\.0; `npm start` fetches it/],
    [checkout, '26.0.0', /^binnacle \d+\.\d+\.\d+ \(as Kubernetes/],
  ]
  for (const [file, version, line] of rows) {
    const versions = `{value:{...process.versions,node:'${version}'}}`
    const preload = `data:text/javascript,Object.defineProperty(process,'versions',${versions})`
    const env = { ...process.env, NODE_OPTIONS: `--import ${preload}` }
    const { stdout, stderr } = spawnSync(process.execPath, [file, '--version'], { env })
    assert.match(`${stdout}${stderr}`, line, version)
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
  child.kill('SIGTERM')
  assert.equal(await ended, 0, said)
})

test('the thread of the package that writes begins', () => {
  const one = `
    import { openSqliteStorage } from '#storage/sqlite/sqlite.js'
    const storage = await openSqliteStorage({ directory: ${JSON.stringify(join(place, 'threads'))}, companyMax: 0 })
    const put = (key) => storage.put(key, Buffer.from('x'), { ifRevision: 0 })
    await Promise.all(['/a', '/b'].map(put))
    // This is the thread's, where there is one.
    await storage.compact(2)
    console.log(storage.trouble() ?? 'well')
    await storage.close()`
  const file = join(installed, 'dist', 'one.js')
  writeFileSync(file, one)
  assert.equal(execFileSync(process.execPath, [file]).toString(), 'well\n')
})
