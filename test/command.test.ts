/**
 * The command as a user meets it: what it prints, how it starts and stops, what it leaves behind,
 * what it refuses.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { binnacle, freePort, type RunningServer, run, startServer } from './running-server.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-command-'))
after(() => rmSync(place, { recursive: true, force: true }))
const sqlite = '--storage-backend=sqlite'

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: 'b' },
})
const configMaps = '/api/v1/namespaces/default/configmaps'

const refusals: [args: string[], line: RegExp][] = [
  [
    ['--secure-prt=1'],
    /^binnacle: unknown flag: --secure-prt \(did you mean --secure-port\?\).*\n$/,
  ],
  [['--secure-port=none'], /^binnacle: --secure-port: "none" is not accepted.*\n$/],
  [['--storage-backend=etcd3'], /^binnacle: --storage-backend=etcd3 needs --etcd-servers\n$/],
  [['restor'], /^binnacle: unknown command: restor \(did you mean restore\?\); .*\n$/],
  [['zzzzzzzz'], /^binnacle: unknown command: zzzzzzzz; binnacle --help lists them\n$/],
  [['backup'], /^binnacle: backup needs FILE: binnacle backup FILE \[flags\]\n$/],
  [
    ['kubeconfig'],
    /^binnacle: kubeconfig needs --user: binnacle kubeconfig --user NAME \[flags\]\n$/,
  ],
  [['verify', '--storage-backend=memory'], /^binnacle: verify does not work with .*memory\n$/],
]
for (const [args, line] of refusals)
  test(`binnacle ${args.join(' ')} is refused in one line`, async () => {
    const { code, said } = await run(args).ended()
    assert.match(said, line)
    assert.equal(code, 1)
  })

test('with the flags that an older Node needs, it can still load', () => {
  const text = readFileSync(binnacle, 'utf8')
  const loadedFirst = [...text.matchAll(/^import .* from '(.*)'$/gm)].map(([, from]) => from)
  assert.deepEqual(loadedFirst, ['node:fs', 'node:module', 'node:url'])
  assert.match(text, /import nodeModule from 'node:module'/)
})

test('--help and --version', async () => {
  const [help, version] = await Promise.all([
    run(['--help=all']).ended(),
    run(['--version']).ended(),
  ])
  assert.equal(help.code, 0)
  assert.match(help.said, /Storage:\n {2}--data-dir=binnacle-data\n/)
  assert.match(version.said, /^binnacle \d+\.\d+\.\d+ \(as Kubernetes 1\.22\)\n$/)
})

test('clients and metrics report the same build', async () => {
  const server = await startServer(['--storage-backend=memory', '--controllers=-*'])
  try {
    const { body } = await server.ask('GET', '/version')
    assert.match(body.gitCommit, /^[0-9a-f]{40,}$/)
    const { text } = await server.ask('GET', '/metrics')
    const line = /^kubernetes_build_info\{(.*)\} 1$/m.exec(text)?.[1] ?? ''
    const told = [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [
      label.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ])
    assert.deepEqual(Object.fromEntries(told), body)
  } finally {
    await server.stop()
  }
})

test('it can be profiled from its first moment on', async () => {
  const profiles = join(place, 'profiles')
  const flags = ['--cpu-prof', '--cpu-prof-interval=100', `--cpu-prof-dir=${profiles}`]
  const profiled = spawnSync(process.execPath, [...flags, binnacle, '--version'])
  assert.deepEqual([profiled.signal, profiled.status], [null, 0])
  assert.equal(readdirSync(profiles).length, 1)
})

test('it says when it is ready, is private, stops cleanly, and its state is there the next time', async () => {
  const dataDir = join(place, 'kept')
  const first = await startServer([sqlite], dataDir)
  assert.match(first.said(), /^Binnacle is ready on https:\/\/127\.0\.0\.1:\d+ after \d+/m)
  assert.ok(
    first.said().includes(`  state: ${dataDir}\n  export KUBECONFIG=${dataDir}/admin.kubeconfig\n`),
  )
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  assert.equal(statSync(join(dataDir, 'admin.kubeconfig')).mode & 0o777, 0o600)
  assert.equal((await first.ask('GET', '/readyz')).text, 'ok')
  assert.equal((await first.ask('POST', configMaps, configMap('kept'))).status, 201)
  const certificate = readFileSync(join(dataDir, 'pki', 'apiserver.crt'), 'utf8')
  const { code, signal } = await first.stop()
  assert.deepEqual({ code, signal }, { code: 0, signal: null })

  const second = await startServer([sqlite], dataDir)
  assert.equal((await second.ask('GET', `${configMaps}/kept`)).body.data.a, 'b')
  assert.equal(readFileSync(join(dataDir, 'pki', 'apiserver.crt'), 'utf8'), certificate)
  assert.equal((await second.stop('SIGINT')).code, 0)
})

test('a second server on the same data directory is refused, and the first goes on', async () => {
  const dataDir = join(place, 'shared')
  const first = await startServer([sqlite], dataDir)
  await assert.rejects(startServer([sqlite], dataDir), (error: Error) => {
    assert.match(error.message, /ended with 1: binnacle: [^\n]+$/)
    assert.ok(error.message.includes(dataDir), error.message)
    return true
  })
  assert.equal((await first.ask('GET', '/readyz')).status, 200)
  await first.stop()
})

test('a port that is taken is reported in one line', async () => {
  const first = await startServer()
  const { code, said } = await run([
    `--secure-port=${first.port}`,
    `--data-dir=${join(place, 'taken')}`,
    '--storage-backend=memory',
  ]).ended()
  assert.equal(code, 1)
  assert.match(said, /^binnacle: --secure-port: another program listens on [^\n]*\n$/m)
  assert.equal(existsSync(join(place, 'taken')), false, 'and nothing is left behind')
  await first.stop()
})

test('a backup of a running server starts another one', async () => {
  const dataDir = join(place, 'original')
  const server = await startServer([sqlite], dataDir)
  await server.ask('POST', configMaps, configMap('before'))
  const file = join(place, 'backup.db')
  const { code, said } = await run(['backup', file, `--data-dir=${dataDir}`]).ended()
  assert.equal(code, 0, said)
  await server.ask('POST', configMaps, configMap('later'))
  await server.stop()

  const restored = join(place, 'restored')
  assert.equal((await run(['restore', file, `--data-dir=${restored}`]).ended()).code, 0)
  const again = await startServer([sqlite], restored)
  const names = (await again.ask('GET', configMaps)).body.items.map(
    (item: { metadata: { name: string } }) => item.metadata.name,
  )
  assert.ok(names.includes('before') && !names.includes('later'), names.join())
  await again.stop()
})

test('files that cannot be used are named in one line and left alone', async () => {
  const dataDir = join(place, 'garbled')
  await (await startServer([], dataDir)).stop()
  const path = join(dataDir, 'pki', 'ca.crt')
  writeFileSync(path, 'not a certificate')
  const { code, said } = await run([`--data-dir=${dataDir}`, '--storage-backend=memory']).ended()
  assert.equal(code, 1)
  assert.match(said, /^binnacle: [^\n]*ca\.crt holds no PEM certificate[^\n]*\n$/)
  assert.equal(readFileSync(path, 'utf8'), 'not a certificate')
  assert.ok(!existsSync(join(dataDir, 'state.db')))
})

test('what the operator can mend is one line without a trace', async () => {
  const file = join(place, 'garbled.txt')
  writeFileSync(file, '{{{')
  // The user who runs the tests may have a server on the usual port.
  const port = `--secure-port=${await freePort()}`
  const memory = ['--storage-backend=memory', `--data-dir=${join(place, 'mended')}`, port]
  const rows: [args: string[], line: RegExp][] = [
    [[`--data-dir=${file}`], /^binnacle: \S+garbled\.txt is a file, not a directory$/],
    [[`--token-auth-file=${file}`], /^binnacle: token file '\S+garbled\.txt', line 1: .*$/],
    [[`--admission-control-config-file=${file}`], /^binnacle: .*garbled\.txt" \[yaml: .*\]$/],
    [['backup', place, `--data-dir=${place}`], /^binnacle: \S+ is a directory; backup needs .*$/],
  ]
  for (const [args, line] of rows) {
    const started = args[0] === 'backup' ? args : [...memory, ...args]
    const { code, said } = await run(started).ended()
    const lines = said.split('\n').filter((one) => one !== '' && !/^\S+Z warn /.test(one))
    assert.equal(lines.length, 1, said)
    assert.match(lines[0] ?? '', line)
    assert.equal(code, 1)
  }
})

test('while it stops, readyz says no and what runs goes on', async () => {
  const server = await startServer(['--shutdown-delay-duration=1s'])
  await server.ask('GET', '/readyz')
  const stopped = server.stop()
  let answer = await server.ask('GET', '/readyz')
  for (let tries = 0; answer.status === 200 && tries < 50; tries++)
    answer = await server.ask('GET', '/readyz')
  assert.equal(answer.status, 500)
  assert.equal((await server.ask('GET', '/api/v1/namespaces/default')).status, 200)
  assert.equal((await stopped).code, 0)
})

test('a stop comes in its order: not ready, a delay, watches end, requests finish, the store closes', async () => {
  const dataDir = join(place, 'stopping')
  const server = await startServer([sqlite, '--shutdown-delay-duration=1s'], dataDir)
  await server.ask('GET', configMaps)
  const events: string[] = []
  const note = (what: string) => events.push(what)
  // Rejects where the connection breaks off: a watch that ends cleanly does not.
  const watching = server
    .ask('GET', `${configMaps}?watch=1&timeoutSeconds=60`)
    .then(({ status }) => note(`the watch ended: ${status}`))
  const slow = slowWrite(server, configMap('slow'))
  const running = slow.ended.then((status) => note(`the request ended: ${status}`))
  for (const shown of [/^apiserver_longrunning_gauge\{.*"configmaps".*\} 1$/m, /"mutating"\} 1$/m])
    await until(`${shown}`, async () => shown.test((await server.ask('GET', '/metrics')).text))
  const begun = performance.now()
  const stopped = server.stop().then(({ code }) => note(`the process ended: ${code}`))
  for (let ready = true; ready; ) ready = (await server.ask('GET', '/readyz')).status === 200
  note('not ready')
  assert.equal((await server.ask('GET', '/livez')).status, 200)
  // Until the delay is over everything is served, writes too.
  assert.equal((await server.ask('POST', configMaps, configMap('late'))).status, 201)
  note('served')
  await watching
  slow.finish()
  await Promise.all([running, stopped])
  assert.ok(performance.now() - begun > 1000)
  assert.deepEqual(events, [
    'not ready',
    'served',
    'the watch ended: 200',
    'the request ended: 201',
    'the process ended: 0',
  ])
  assert.ok(!existsSync(join(dataDir, 'state.db-wal')), 'all of the log is in the database')
  const again = await startServer([sqlite], dataDir)
  for (const name of ['late', 'slow'])
    assert.equal((await again.ask('GET', `${configMaps}/${name}`)).status, 200)
  await again.stop()
})

test('a request that takes longer than most is waited for by who stops', async () => {
  const server = await startServer()
  const slow = slowWrite(server, configMap('slow'))
  await until('it runs', async () =>
    /"mutating"\} 1$/m.test((await server.ask('GET', '/metrics')).text),
  )
  const stopped = server.stop()
  await sleep(12_000)
  slow.finish()
  assert.equal(await slow.ended, 201)
  assert.equal((await stopped).code, 0)
})

/** A write whose body ends when we say so. */
function slowWrite(server: RunningServer, object: unknown) {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  const body = JSON.stringify(object)
  const call = request({
    host: '127.0.0.1',
    port: server.port,
    path: configMaps,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length },
    agent: false,
    ca: pem('ca.crt'),
    cert: pem('admin.crt'),
    key: pem('admin.key'),
  })
  const ended = new Promise((resolve, reject) => {
    call.on('response', (response) => resolve(response.resume().statusCode))
    call.on('error', reject)
  })
  call.write(body.slice(0, 5))
  return { ended, finish: () => call.end(body.slice(5)) }
}
