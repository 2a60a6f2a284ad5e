/**
 * The first minutes of a new user: what a start prints, how mistakes on the command line are
 * answered, what the help shows.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { binnacle, run, startServer } from './running-server.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-first-contact-'))
after(() => rmSync(place, { recursive: true, force: true }))

test('a start prints the ready lines and two commands; the deprecated metric follows them', async () => {
  const server = await startServer(['--insecure-port=0'])
  await until('the deprecated metric', () => server.said().includes('etcd_object_counts'))
  const lines = server.said().trimEnd().split('\n')
  const begins = [
    /warn Flag --insecure-port has been deprecated, This flag has no effect now/,
    /^Binnacle is ready on /,
    /^ {2}state: /,
    /^ {2}export KUBECONFIG=/,
    /^ {2}kubectl create configmap /,
    /^ {2}kubectl get configmaps --watch$/,
    /warn the metric etcd_object_counts is deprecated from 1\.22; use apiserver_storage_objects/,
  ]
  for (const [i, begin] of begins.entries()) assert.match(lines[i] ?? '', begin)
  assert.equal(lines.length, begins.length, server.said())
  await server.stop()
})

test('flags that npm keeps are refused with the correct command', () => {
  const environment = { ...process.env, npm_lifecycle_event: 'start', npm_config_data_dir: place }
  const { status, stderr } = spawnSync(process.execPath, [binnacle, '--v=2'], {
    encoding: 'utf8',
    env: environment,
  })
  assert.equal(status, 1)
  assert.match(stderr, /^binnacle: npm kept --data-dir=.* for itself; flags go after --:$/m)
  assert.ok(stderr.includes(`\n  npm start -- --data-dir=${place} --v=2\n`), stderr)
})

test("a browser gets a page, other clients get kube-apiserver's 403, plain HTTP gets a 400 that explains", async () => {
  const server = await startServer(['--controllers=-*'])
  const curl = (...args: string[]) =>
    spawnSync('curl', ['-sik', '--max-time', '10', ...args], { encoding: 'utf8' }).stdout
  const html = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8'
  for (const protocol of ['--http1.1', '--http2']) {
    const page = curl(protocol, '-H', html, server.url)
    assert.match(page, /^HTTP\/\S+ 200/)
    assert.match(page, /content-type: text\/html/i)
    assert.match(page, /This is a Kubernetes API server/)
    assert.match(curl(protocol, '-I', '-H', html, server.url), /^HTTP\/\S+ 200/)
  }
  assert.match(curl(server.url), /^HTTP\/\S+ 403[\s\S]*"kind": "Status"/)
  assert.match(curl('-H', html, '-H', 'Authorization: Bearer x', server.url), /^HTTP\/\S+ 401/)
  const plain = curl(server.url.replace('https', 'http'))
  assert.match(plain, /^HTTP\/1\.0 400 Bad Request\r\n/)
  assert.match(plain, /Client sent an HTTP request to an HTTPS server\.\n.*use https:\/\//)
  assert.equal((await server.ask('GET', '/readyz')).text, 'ok')
  await server.stop()
})

test('--help fits one screen; topics, flags and all show the rest', async () => {
  const help = async (arg: string) => run([arg]).ended()
  const screen = (await help('--help')).said.split('\n')
  assert.ok(screen.length <= 24, `${screen.length} lines`)
  for (const line of screen) assert.ok(line.length <= 80, line)
  assert.match((await help('--help=storage')).said, /^Storage:\n {2}--data-dir=binnacle-data\n/)
  assert.match((await help('--help=event-ttl')).said, /^ {2}--event-ttl=1h0m0s\n/)
  const all = (await help('--help=all')).said
  for (const group of ['Serving', 'Audit', 'Instruments'])
    assert.match(all, new RegExp(`^${group}:$`, 'm'))
  const unknown = await help('--help=stroage')
  assert.equal(unknown.code, 1)
  assert.match(unknown.said, /^binnacle: no help on "stroage"; --help=all, .*\bstorage\b/)
})
