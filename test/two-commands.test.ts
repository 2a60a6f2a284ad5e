/**
 * `npm start` and `npm test` on a machine that has nothing yet: what is fetched, where to and how,
 * what is printed meanwhile, and what then runs. The launcher is this checkout's in a small
 * checkout of its own. An npm that only notes how it was called stands for the registry. Nothing is
 * downloaded. The last test is the real `npm start`.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { freePort, startServer } from './running-server.ts'

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const place = mkdtempSync(join(tmpdir(), 'binnacle-two-commands-'))
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(place, { recursive: true, force: true })
})

/** Records its arguments and creates the requested files; without a registry it fails. */
const npm = `
const { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync('calls.jsonl', JSON.stringify(args) + '\\n')
if (process.env.npm_config_registry === 'none') process.exit(1)
if (process.env.npm_config_registry === 'slow')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6000)
if (args[0] === 'ci') {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  if (args.includes('--omit=dev')) delete lock.packages['node_modules/only-for-tests']
  mkdirSync('node_modules', { recursive: true })
  writeFileSync('node_modules/.package-lock.json', JSON.stringify(lock))
} else {
  const [name] = args.find((arg) => arg.includes('@^')).split('@')
  const bin = args[args.indexOf('--prefix') + 1] + '/node_modules/' + name + '/bin'
  mkdirSync(bin, { recursive: true })
  mkdirSync(bin + '/../include')
  symlinkSync(process.execPath, bin + '/node')
}
`
writeFileSync(join(place, 'npm.js'), npm)

/** Prints how it was started, stays until a signal if requested, and ends as requested. */
const server = `
const [how] = process.argv.slice(2)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => { console.log('heard', signal); process.exit(0) })
console.log('started', JSON.stringify([process.argv0, ...process.argv.slice(2)]))
if (how === '--stay') setInterval(() => {}, 1000)
else process.exitCode = Number(how ?? 0)
`
const says = (word: string, code = 0) => `console.log('${word}'); process.exitCode = ${code}\n`
/** A file of tests that starts no process. */
const quick = (text: string) =>
  `import assert from 'node:assert'\nimport { after, before, beforeEach, test } from 'node:test'\n${text}\n`

/** A checkout that was just cloned; some files of it may say something else. */
function clone(otherwise: Record<string, string> = {}): string {
  const checkout = mkdtempSync(join(place, 'checkout-'))
  const packages = {
    '': { name: 'binnacle' },
    'node_modules/needed': { version: '1.0.0' },
    'node_modules/only-for-tests': { version: '1.0.0', dev: true },
  }
  const files = {
    'package-lock.json': JSON.stringify({ packages }),
    'bin/binnacle.js': server,
    'node_modules/@biomejs/biome/bin/biome': says('format checked'),
    'node_modules/typescript/bin/tsc': says('types checked'),
    'src/one.test.ts': "import test from 'node:test'\ntest('one of the tests', () => {})\n",
    ...otherwise,
  }
  for (const path of [
    'tools/run.mjs',
    'tools/failures-only.mjs',
    'tools/memory-settings.json',
    'package.json',
  ])
    cpSync(join(root, path), join(checkout, path))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), text)
  }
  return checkout
}

const olderNode = `--import data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.11.0'}})`

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** How npm was called since. */
  readonly calls: string[][]
}

/** A script of package.json, with what follows it on the command line. */
function launch(
  checkout: string,
  [name = '', ...args]: string[],
  env: Record<string, string> = {},
) {
  const [node, ...words] = manifest.scripts[name].split(' ')
  assert.equal(node, 'node')
  rmSync(join(checkout, 'calls.jsonl'), { force: true })
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env
  const child = spawn(process.execPath, [...words, ...args], {
    cwd: checkout,
    env: { ...inherited, npm_execpath: join(place, 'npm.js'), ...env },
  })
  children.add(child)
  let out = ''
  let err = ''
  child.stdout.on('data', (text) => (out += text))
  child.stderr.on('data', (text) => (err += text))
  const ended = new Promise<Ran>((done) => {
    child.on('close', (code) => {
      const path = join(checkout, 'calls.jsonl')
      const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
      done({ code, out, err, calls: lines.map((line) => JSON.parse(line)) })
    })
  })
  return { child, ended, said: () => out }
}
const ran = (...of: Parameters<typeof launch>) => launch(...of).ended

/** No scripts of packages run, so nothing is compiled, and nothing is installed globally. */
function checkModest(calls: string[][]): void {
  for (const args of calls) {
    assert.ok(args.includes('--ignore-scripts'), `${args}`)
    assert.deepEqual(
      args.filter((arg) => /^(-g|--global|--location=global)$/.test(arg)),
      [],
    )
  }
}

test('start: packages are installed into the checkout, once, with a message', async () => {
  const checkout = clone()
  rmSync(join(checkout, 'node_modules'), { recursive: true })
  const first = await ran(checkout, ['start', '0', '--data-dir=/some/dir'])
  assert.deepEqual(
    first.calls.map((args) => args.slice(0, 2)),
    [['ci', '--omit=dev']],
  )
  checkModest(first.calls)
  assert.match(first.err, /^binnacle: installing the packages it needs into node_modules\/ .* …$/m)
  assert.match(first.err, /^binnacle: installed in [\d.]+ s$/m)
  assert.equal(
    first.out,
    `started ${JSON.stringify([process.execPath, '0', '--data-dir=/some/dir'])}\n`,
  )
  const second = await ran(checkout, ['start', '0'])
  assert.deepEqual([second.calls, second.err, second.code], [[], '', 0])
})

test('start: an older Node fetches the one that is needed into the checkout, once, with a message', async () => {
  const checkout = clone()
  const first = await ran(checkout, ['start', '0'], { NODE_OPTIONS: olderNode })
  const [, install = []] = first.calls
  checkModest(first.calls)
  const prefix = install[install.indexOf('--prefix') + 1] ?? ''
  assert.ok(prefix.startsWith(join(checkout, '.node')), prefix)
  assert.match(install.at(-5) ?? '', /^node-.*@\^26\.0\.0$/)
  assert.match(
    first.err,
    /^binnacle: Node 20\.11\.0 is running and 26 is needed: fetching it into \.node\/ .* …$/m,
  )
  const [node] = JSON.parse(first.out.replace('started ', ''))
  assert.ok(node.startsWith(join(checkout, '.node', 'v26')), node)
  const second = await ran(checkout, ['start', '0'], { NODE_OPTIONS: olderNode })
  assert.deepEqual([second.calls, second.err], [[], ''])
  assert.equal(second.out, first.out)
})

test('start: a slow download shows every few seconds how long it takes', async () => {
  const slow = { NODE_OPTIONS: olderNode, npm_config_registry: 'slow' }
  const { err } = await ran(clone(), ['start', '0'], slow)
  assert.match(err, /^binnacle: installing packages … 5 s\nbinnacle: installed in /m)
  assert.match(err, /^binnacle: fetching Node 26 … 5 s\nbinnacle: Node 26 is there /m)
})

test('start: from another folder, paths among the flags are relative to that folder', async () => {
  const elsewhere = realpathSync(mkdtempSync(join(place, 'elsewhere-')))
  const checkout = clone({ 'bin/binnacle.js': 'console.log(process.cwd())' })
  const { stdout } = spawnSync(process.execPath, [join(checkout, 'tools/run.mjs'), 'start'], {
    cwd: elsewhere,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: olderNode, npm_execpath: join(place, 'npm.js') },
  })
  assert.equal(stdout, `${elsewhere}\n`)
})

test('start: if nothing can be fetched there is a message, and nothing is started', async () => {
  const refused = await ran(clone(), ['start'], { npm_config_registry: 'none' })
  assert.equal(refused.code, 1)
  assert.equal(refused.out, '')
  assert.match(
    refused.err,
    /^binnacle: npm ci --include=dev failed; is the registry .* reachable\?$/m,
  )
})

test('start: ends as the server ends, and hands signals on to it', async () => {
  const checkout = clone()
  assert.equal((await ran(checkout, ['start', '3'])).code, 3)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const { child, ended, said } = launch(checkout, ['start', '--stay'])
    await until('the server to start', () => said().includes('started'))
    child.kill(signal)
    const { code, out } = await ended
    assert.equal(code, 0, signal)
    assert.ok(out.endsWith(`heard ${signal}\n`), out)
  }
})

test('test: format, types and all tests, and one that fails fails the whole', async () => {
  const rows: [what: string, otherwise: Record<string, string>, failed: string | undefined][] = [
    ['all is well', {}, undefined],
    [
      'format',
      { 'node_modules/@biomejs/biome/bin/biome': says('format checked', 1) },
      'format and lint',
    ],
    ['types', { 'node_modules/typescript/bin/tsc': says('types checked', 2) }, 'types'],
    ['a test', { 'test/two.test.ts': 'throw new Error()' }, 'tests'],
    ['a quick test', { 'src/two.test.ts': quick("test('two', () => assert.fail())") }, 'tests'],
    ['a quick file that does not load', { 'src/two.test.ts': 'throw new Error()' }, 'tests'],
    ['a hook of a quick file', { 'src/two.test.ts': quick('after(() => assert.fail())') }, 'tests'],
  ]
  for (const [what, otherwise, failed] of rows) {
    const { code, out, err, calls } = await ran(clone(otherwise), ['test'])
    assert.deepEqual(
      calls.map((args) => args.slice(0, 2)),
      [['ci', '--include=dev']],
    )
    for (const word of ['format checked', 'types checked', 'one of the tests'])
      assert.ok(out.includes(word), `${what}: ${word}`)
    assert.equal(code, failed === undefined ? 0 : 1, `${what}: ${err}`)
    const lines = err.split('\n').filter((line) => line.startsWith('binnacle: failed'))
    assert.deepEqual(lines, failed === undefined ? [] : [`binnacle: failed: ${failed}`], what)
  }
})

test('test: quick files share a process and nothing else', async () => {
  const file = (name: string) =>
    quick(`
      let mine = 0
      before(() => { mine++ })
      beforeEach(() => { mine++ })
      test('${name} has its own hooks', () => assert.equal(mine, 2))
      test('${name} lives on timers that hold nothing', () => new Promise((done) => setTimeout(done, 20).unref()))
      console.log('process of ${name}', process.pid)`)
  const checkout = clone({ 'src/a.test.ts': file('a'), 'src/b.test.ts': file('b') })
  const { code, out } = await ran(checkout, ['test:src'])
  assert.equal(code, 0, out)
  assert.match(out, /^5 tests passed, 0 failed, in [\d.]+ s$/m)
  assert.doesNotMatch(out, /one of the tests|has its own hooks/)
  const [a, b] = [...out.matchAll(/process of . (\d+)/g)].map(([, pid]) => pid)
  assert.equal(a, b)
  assert.deepEqual(readdirSync(join(checkout, '.node', 'tests')), [])
  const broken = quick("test('is wrong', () => assert.equal(1, 2))")
  const failing = await ran(clone({ 'src/c.test.ts': broken }), ['test:src'])
  assert.equal(failing.code, 1)
  assert.match(failing.out, /^✖ is wrong \(src\/c\.test\.ts:3\)\n {2}AssertionError/m)
  assert.match(failing.out, /^1 tests passed, 1 failed/m)
})

test('.ci/run: all tests, then the recorded conversations where they are', async () => {
  const bin = mkdtempSync(join(place, 'bin-'))
  // What it installs first is not for this machine.
  for (const name of ['npm', 'apt-get', 'sudo', 'etcd', 'h2load', 'kubectl', 'helm']) {
    const notes = name === 'npm' ? 'echo "$*" >> "$CALLS"; [ "$*" != "$FAILING" ]' : 'true'
    writeFileSync(join(bin, name), `#!/bin/sh\n${notes}\n`, { mode: 0o755 })
  }
  const missing = join(bin, 'missing')
  const rows: [golden: string, failing: string, code: number, calls: string[]][] = [
    [bin, '', 0, ['test', 'run --silent conformance']],
    [missing, '', 0, ['test']],
    [bin, 'test', 1, ['test']],
    [bin, 'run --silent conformance', 1, ['test', 'run --silent conformance']],
  ]
  const check = async ([golden, failing, expected, called]: (typeof rows)[number], i: number) => {
    const calls = join(bin, `calls-${i}`)
    const says = { BINNACLE_GOLDEN: golden, FAILING: failing, CALLS: calls }
    const env = { PATH: `${bin}:/usr/bin:/bin`, ...says }
    const child = spawn(join(root, '.ci/run'), { cwd: place, env, stdio: 'ignore' })
    assert.equal(await new Promise((done) => child.on('close', done)), expected)
    assert.deepEqual(readFileSync(calls, 'utf8').split('\n').filter(Boolean), called)
  }
  await Promise.all(rows.map(check))
})

test('npm start -- flags: on the embedded store, until Ctrl-C, and the state is there the next time', async (t) => {
  const dataDir = join(place, 'some dir')
  const port = await freePort()
  const {
    NODE_TEST_CONTEXT: _,
    npm_execpath: __,
    npm_lifecycle_event: ___,
    ...inherited
  } = process.env
  const env = { ...inherited, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  const flags = [`--secure-port=${port}`, `--data-dir=${dataDir}`]
  // A group of its own, as a terminal makes one: Ctrl-C goes to all of it.
  const child = spawn('npm', ['start', '--', ...flags], { cwd: root, env, detached: true })
  const pid = child.pid as number
  t.after(() => existsSync(`/proc/${pid}`) && process.kill(-pid, 'SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.on('data', (text) => (out += text))
  child.stderr.on('data', (text) => (err += text))
  const ended = new Promise<number | string>((done) =>
    child.on('close', (code, signal) => done(code ?? signal ?? '')),
  )
  await until('the server to be ready', () => /export KUBECONFIG=.*\n/.test(out))
  const [ready, state, kubeconfig] = out.slice(out.indexOf('Binnacle is')).split('\n')
  assert.match(
    ready ?? '',
    new RegExp(`^Binnacle is ready on https://127.0.0.1:${port} after [\\d.]+ m?s, `),
  )
  assert.equal(state, `  state: ${dataDir}`)
  assert.equal(kubeconfig, `  export KUBECONFIG='${dataDir}/admin.kubeconfig'`)
  const kept = await write(port, dataDir)
  process.kill(-pid, 'SIGINT')
  // npm itself ends by the signal, and may be the first to.
  assert.ok([0, 130, 'SIGINT'].includes(await ended))
  await until('the store to be closed', () => !existsSync(join(dataDir, 'state.db-wal')))
  assert.match(err, /info SIGINT: stopping/)
  const again = await startServer(['--storage-backend=sqlite'], dataDir)
  const { body } = await again.ask('GET', `${maps}/kept`)
  await again.stop()
  assert.equal(body.metadata.uid, kept)
})

const maps = '/api/v1/namespaces/default/configmaps'

/** Makes a map as the administrator, and gives its uid. */
function write(port: number, dataDir: string): Promise<string> {
  const pem = (name: string) => readFileSync(join(dataDir, 'pki', name))
  const tls = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
  const headers = { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: maps, method: 'POST', headers, ...tls }
    const call = request({ ...options, agent: false }, async (answer) => {
      let text = ''
      for await (const chunk of answer) text += chunk
      resolve(JSON.parse(text).metadata.uid)
    })
    call.on('error', reject)
    call.end(JSON.stringify({ metadata: { name: 'kept' } }))
  })
}
