/**
 * What a running server does for its operator. It makes backups, metrics, logs for machines, and
 * keys that are shared with the other servers on its etcd, or reported where they differ.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { run, startServer } from './running-server.ts'

const skip = etcdVersion() === undefined ? 'there is no etcd on PATH' : false
const place = mkdtempSync(join(tmpdir(), 'binnacle-servers-'))
let etcd: EtcdServer
before(async () => {
  if (!skip) etcd = await EtcdServer.start()
})
after(async () => {
  await etcd?.dispose()
  rmSync(place, { recursive: true, force: true })
})

test('backups by time, the newest of them kept, and metrics for operators', async () => {
  const dataDir = join(place, 'backed-up')
  const backups = join(place, 'backups')
  mkdirSync(backups, { mode: 0o700 })
  const old = ['binnacle-20200101T000000Z.tar', 'binnacle-20200102T000000Z.tar']
  for (const name of [...old, 'notes.txt']) writeFileSync(join(backups, name), '')
  const flags = ['--backup-interval=24h', '--backup-keep=2', `--backup-dir=${backups}`]
  const server = await startServer(
    ['--storage-backend=sqlite', '--controllers=-*', ...flags],
    dataDir,
  )
  await until('the backup', () => server.said().includes('backup written'))
  const [second, first, other] = readdirSync(backups).sort()
  assert.equal(second, old[1])
  assert.equal(other, 'notes.txt')
  const metrics = (await server.ask('GET', '/metrics')).text
  const value = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1])
  assert.equal(value('binnacle_backups_total{result="success"}'), 1)
  assert.ok(value('binnacle_backup_size_bytes') > 1000)
  const ageSeconds = Date.now() / 1000 - value('binnacle_backup_last_success_timestamp_seconds')
  assert.ok(ageSeconds >= 0 && ageSeconds < 60, `${ageSeconds}`)
  assert.equal(value('binnacle_store_healthy'), 1)
  assert.ok(value('binnacle_store_size_bytes{file="state.db"}') > 1000)
  assert.ok(value('binnacle_store_free_bytes') > 1e6)
  assert.ok(value('binnacle_store_revision') > 10)
  assert.ok(value('binnacle_certificate_expiration_timestamp_seconds{certificate="ca"}') > 2e9)
  assert.ok(value('binnacle_watchers') >= 0)
  assert.ok(value('nodejs_eventloop_lag_p99_seconds') >= 0)
  await server.stop()
  const restored = join(place, 'restored')
  const { code, said } = await run([
    'restore',
    join(backups, first!),
    `--data-dir=${restored}`,
  ]).ended()
  assert.equal(code, 0, said)
})

test('every line of the log is JSON on request, with ids of requests', async () => {
  const dataDir = join(place, 'json')
  const json = '--logging-format=json'
  const child = run([
    json,
    '--v=2',
    '--storage-backend=memory',
    '--secure-port=0',
    `--data-dir=${dataDir}`,
  ])
  await until('the server', () => child.said().includes('"ready"'))
  const lines = () =>
    child
      .said()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const ready = lines().find(({ msg }) => msg === 'ready')
  assert.match(ready.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  assert.equal(ready.release, '1.22')
  const { spawnSync } = await import('node:child_process')
  const answer = spawnSync('curl', ['-sik', `${ready.url}/version`], { encoding: 'utf8' })
  const auditId = /^audit-id: (.*)$/im.exec(answer.stdout)?.[1]?.trim()
  await until('the line of the request', () =>
    lines().some(({ msg, auditId: id }) => msg === 'request' && id === auditId),
  )
  child.child.kill('SIGTERM')
  await child.ended()
  assert.deepEqual(
    lines()
      .slice(-2)
      .map(({ msg }) => msg),
    ['SIGTERM: stopping', 'stopped'],
  )
  const refused = await run([json, '--secure-port=x']).ended()
  assert.match(JSON.parse(refused.said).msg, /^--secure-port: "x" is not accepted/)
})

test('servers on one etcd report that their keys differ', { skip }, async () => {
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--controllers=-*']
  const one = await startServer([...flags, '--etcd-prefix=/differ'], join(place, 'a'))
  const two = await startServer([...flags, '--etcd-prefix=/differ'], join(place, 'b'))
  const line = (url: string) =>
    new RegExp(`error the server at ${url} on the same etcd has another certificate authority and`)
  await until('the line of the second server', () => line(one.url).test(two.said()))
  assert.match(two.said(), /start all servers with the same --cluster-secret-file/)
  await until('the line of the first server', () => line(two.url).test(one.said()))
  await Promise.all([one.stop(), two.stop()])
})

test('servers with one secret have one authority and one token key', { skip }, async () => {
  const secretFile = join(place, 'secret')
  writeFileSync(secretFile, 'a secret of the cluster\n', { mode: 0o600 })
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--controllers=-*', '--etcd-prefix=/shared']
  const secret = `--cluster-secret-file=${secretFile}`
  const one = await startServer([...flags, secret], join(place, 'c'))
  const two = await startServer([...flags, secret], join(place, 'd'))
  const pem = (name: string, file: string) => readFileSync(join(place, name, 'pki', file), 'utf8')
  for (const file of ['ca.crt', 'ca.key', 'sa.key', 'sa.pub'])
    assert.equal(pem('c', file), pem('d', file))
  assert.notEqual(pem('c', 'apiserver.key'), pem('d', 'apiserver.key'))
  const { text } = await two.ask('GET', '/api/v1/namespaces/default')
  assert.match(text, /"default"/)
  await Promise.all([one.stop(), two.stop()])
  for (const server of [one, two]) assert.doesNotMatch(server.said(), /on the same etcd/)

  const stranger = await startServer(flags, join(place, 'stranger'))
  const member = await startServer([...flags, secret], join(place, 'c'))
  const remedies = [
    [stranger, /That server has a cluster secret: stop this one, move .*stranger.pki away/],
    [member, /Stop that server, move its pki directory away and start it with --cluster-secret/],
  ] as const
  for (const [server, remedy] of remedies)
    await until(`${remedy}`, () => remedy.test(server.said()))
  await Promise.all([stranger.stop(), member.stop()])

  const wrong = join(place, 'wrong')
  writeFileSync(wrong, 'another secret of a cluster')
  const start = (dataDir: string, file: string) =>
    run([
      ...flags,
      `--cluster-secret-file=${file}`,
      '--secure-port=0',
      `--data-dir=${join(place, dataDir)}`,
    ]).ended()
  assert.match((await start('e', wrong)).said, /does not open the keys in etcd/)
  assert.match((await start('a', secretFile)).said, /is not the authority of this cluster: move/)
  writeFileSync(wrong, 'short')
  assert.match((await start('e', wrong)).said, /has 5 characters; it needs 16 at least/)
})
