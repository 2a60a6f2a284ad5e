/**
 * A machine whose clock is set while the server runs: what goes by elapsed time goes on, what goes
 * by the date follows it.
 */
import assert from 'node:assert/strict'
import type { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { until } from '#base/until.fixture.ts'
import { startServer } from './running-server.ts'
import { core, maps, told, Wire } from './specification.fixture.ts'

const scratch = mkdtempSync(join(tmpdir(), 'binnacle-clock-'))
const clockFile = join(scratch, 'offset')
const hourMs = 3_600_000
let on: Wire

/**
 * Sets the server's clock to so far from ours, and waits until it stamps by it; the other thread
 * looks as often.
 */
async function setClock(offsetMs: number): Promise<void> {
  writeFileSync(clockFile, String(offsetMs))
  for (let i = 0; i < 1000; i++) {
    const body = { metadata: { name: 'stamp' } }
    const { body: dry } = await on.expect(201, 'POST', `${maps}?dryRun=All`, body)
    const stamp = Date.parse(dry.metadata.creationTimestamp)
    if (Math.abs(stamp - Date.now() - offsetMs) < 600_000) break
    await sleep(20)
  }
  await sleep(100)
}

/** Starts a server whose clock is ours to set. */
async function startWithClock(flags: string[], file: string, minuteMs = 60_000) {
  writeFileSync(file, '0')
  const preload = fileURLToPath(new URL('./clock.child.ts', import.meta.url))
  process.env.BINNACLE_TEST_CLOCK = file
  process.env.BINNACLE_TEST_MINUTE_MS = String(minuteMs)
  process.env.NODE_OPTIONS = `--import ${preload}`
  try {
    return await startServer(flags)
  } finally {
    delete process.env.NODE_OPTIONS
  }
}

before(async () => {
  const tokens = join(scratch, 'tokens.csv')
  writeFileSync(tokens, 'clock-token,clock,clock,"system:masters"\n')
  const flags = [`--token-auth-file=${tokens}`, '--event-ttl=12s', '--request-timeout=3s']
  const server = await startWithClock(['--storage-backend=sqlite', ...flags], clockFile)
  // The administrator's certificate is not good before the day it was made.
  on = new Wire(server, { authorization: 'Bearer clock-token' })
})
after(async () => {
  await on?.server.stop()
  rmSync(scratch, { recursive: true, force: true })
})

async function createdAt(name: string): Promise<number> {
  await on.map(name)
  const { body } = await on.expect(200, 'GET', `${maps}/${name}`)
  return Date.parse(body.metadata.creationTimestamp)
}

test('stamps follow the date, and the server answers as before', async () => {
  for (const [name, offsetMs] of [
    ['ahead', 10 * hourMs],
    ['behind', -10 * hourMs],
    ['now', 0],
  ] as const) {
    await setClock(offsetMs)
    assert.ok(Math.abs((await createdAt(name)) - (Date.now() + offsetMs)) < 60_000, name)
    await on.expect(200, 'GET', '/readyz')
  }
})

for (const offsetMs of [2 * hourMs, -2 * hourMs]) {
  test(`${offsetMs / hourMs} hours: a watch lives its seconds, a request its time, an event its own`, async () => {
    await setClock(0)
    const events = `${core}/namespaces/default/events`
    const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' }
    const name = `event${offsetMs}`
    await on.expect(201, 'POST', events, { metadata: { name }, involvedObject })
    const from = await on.map(`jump${offsetMs}`)
    const begun = performance.now()
    const query = `resourceVersion=${from}&fieldSelector=metadata.name=jump${offsetMs}`
    const watching = on.watch(`${maps}?${query}`, 5)
    // Waits three seconds for a version that does not come, whatever the clock says.
    const waiting = on.ask('GET', `${maps}?resourceVersion=${Number(from) + 1_000_000}`)
    await sleep(300)
    await setClock(offsetMs)
    await on.touch(`jump${offsetMs}`, 'after')
    await on.expect(200, 'GET', `${events}/${name}`)
    const watched = await watching
    const watchedMs = performance.now() - begun
    assert.deepEqual(told(watched.events), [`MODIFIED jump${offsetMs}`])
    assert.ok(watchedMs > 4900 && watchedMs < 60_000, `a watch of 5 s took ${watchedMs} ms`)
    assert.equal((await waiting).status, 504)
    assert.ok(performance.now() - begun > 2500)
    // Twelve seconds after it was written, neither at once nor two hours later.
    for (let i = 0; i < 300; i++) {
      if ((await on.ask('GET', `${events}/${name}`)).status === 404) break
      await sleep(100)
    }
    await on.expect(404, 'GET', `${events}/${name}`)
    assert.ok(performance.now() - begun > 3000)
  })
}

test('history is not older because the clock says so', async () => {
  await setClock(0)
  const from = await on.map('history')
  const { body: page } = await on.expect(200, 'GET', `${maps}?limit=1`)
  await setClock(24 * hourMs)
  await on.touch('history', '1')
  const query = `resourceVersion=${from}&fieldSelector=metadata.name=history`
  assert.deepEqual(told((await on.watch(`${maps}?${query}`)).events), ['MODIFIED history'])
  await on.expect(200, 'GET', `${maps}?limit=1&continue=${page.metadata.continue}`)
})

test('a token expires by the date, and is good again when the clock was wrong', async () => {
  await setClock(0)
  const path = `${core}/namespaces/default/serviceaccounts/default/token`
  const { body } = await on.expect(201, 'POST', path, { spec: { expirationSeconds: 3600 } })
  const isGood = async () => {
    const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
    const review = await on.expect(201, 'POST', reviews, { spec: { token: body.status.token } })
    return review.body.status.authenticated === true
  }
  const seen: boolean[] = []
  for (const offsetMs of [0, 0.5 * hourMs, 2 * hourMs, 0]) {
    await setClock(offsetMs)
    seen.push(await isGood())
  }
  assert.deepEqual(seen, [true, true, false, true])
})

/** The certificate that new connections are shown. */
function shown(port: number): Promise<X509Certificate | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test('certificates that come of age while the server runs are made anew and used', async () => {
  const file = join(scratch, 'another-offset')
  const server = await startWithClock([], file, 100)
  try {
    const kubeconfig = join(server.dataDir, 'admin.kubeconfig')
    const [used, config] = [await shown(server.port), readFileSync(kubeconfig, 'utf8')]
    const days = 300
    writeFileSync(file, String(days * 24 * hourMs))
    await until('the kubeconfig to be written', () => readFileSync(kubeconfig, 'utf8') !== config)
    const fresh = await shown(server.port)
    assert.notEqual(fresh?.fingerprint256, used?.fingerprint256)
    const validMs = Date.parse(fresh?.validTo ?? '') - Date.parse(used?.validTo ?? '')
    assert.equal(Math.round(validMs / 24 / hourMs), days)
    const pem = readFileSync(join(server.dataDir, 'pki', 'admin.crt')).toString('base64')
    assert.ok(readFileSync(kubeconfig, 'utf8').includes(`client-certificate-data: ${pem}\n`))
  } finally {
    await server.stop()
  }
})
