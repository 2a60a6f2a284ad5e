/**
 * Audit records sent to a service over HTTPS: it is believed by its authority alone, gets batches,
 * and never holds up a request.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authority } from '../src/access/certificates.suite.ts'
import { counterpart, folder, kubeconfig } from '../src/access/counterpart.suite.ts'
import { type RunningServer, startServer } from './running-server.ts'

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources: [{group: "", resources: [configmaps]}]
`
const maps = '/api/v1/namespaces/default/configmaps'
const batchMax = 4
const bufferMax = 8
const batchesUnderWayMax = 10

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** How many records were lost, by who lost them. */
async function lost(server: RunningServer, plugin: string): Promise<number> {
  const { text } = await server.ask('GET', '/metrics')
  const line = new RegExp(`^apiserver_audit_error_total\\{plugin="${plugin}"\\} (\\d+)`, 'm')
  return Number(line.exec(text)?.[1] ?? 0)
}

const auditFlags = (files: ReturnType<typeof folder>, config: string) => [
  '--controllers=-*',
  `--audit-policy-file=${files.file('policy.yaml', policy)}`,
  `--audit-webhook-config-file=${files.file('webhook.yaml', config)}`,
  `--audit-webhook-batch-max-size=${batchMax}`,
  `--audit-webhook-batch-buffer-size=${bufferMax}`,
  '--audit-webhook-batch-max-wait=100ms',
  '--audit-webhook-initial-backoff=20ms',
]
const trusting = (pem: string) => ({
  'certificate-authority-data': Buffer.from(pem).toString('base64'),
})

test('records arrive in batches, and a service that sleeps costs records, never requests', async () => {
  const batches: { uris: string[]; authorization: string | undefined }[] = []
  let sleeping: Promise<void> | undefined
  const sink = await counterpart(async ({ body, headers }) => {
    await sleeping
    const list = JSON.parse(body)
    assert.equal(`${list.apiVersion} ${list.kind}`, 'audit.k8s.io/v1 EventList')
    const uris = list.items.map(({ requestURI }: { requestURI: string }) => requestURI)
    batches.push({ uris, authorization: headers.authorization })
    return { status: 200 }
  })
  const files = folder()
  const config = kubeconfig(sink.url, trusting(sink.authority.pem), { token: 'audit-token' })
  const server = await startServer(auditFlags(files, config))
  const ask = (name: string) => server.ask('GET', `${maps}/${name}`)
  const arrived = () => batches.flatMap(({ uris }) => uris)
  try {
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(`early-${i}`)))
    await until('all records', () => arrived().length >= 8)
    assert.deepEqual(
      arrived().toSorted(),
      Array.from({ length: 8 }, (_, i) => `${maps}/early-${i}`),
    )
    assert.ok(batches.length < 8 && batches.every(({ uris }) => uris.length <= batchMax))
    assert.ok(batches.every(({ authorization }) => authorization === 'Bearer audit-token'))

    let wake = () => {}
    sleeping = new Promise((resolve) => {
      wake = resolve
    })
    // No request waits for the service: it would be for ever.
    const count = 100
    for (let i = 0; i < count; i++) assert.equal((await ask(`asleep-${i}`)).status, 404)
    const dropped = await lost(server, 'buffered')
    assert.ok(dropped >= count - batchMax * (batchesUnderWayMax + 1) - bufferMax, `${dropped} lost`)
    sleeping = undefined
    wake()
    await until('every record that was not lost', () => arrived().length === 8 + count - dropped)
    await ask('late')
    await until('the next record', () => arrived().includes(`${maps}/late`))
    assert.equal(await lost(server, 'buffered'), dropped)
  } finally {
    await server.stop()
    await sink.stop()
    files.remove()
  }
})

test('a service that cannot prove who it is gets nothing, and what it would have got is counted', async () => {
  let bodies = 0
  const sink = await counterpart(() => {
    bodies++
    return { status: 200 }
  })
  const files = folder()
  const stranger = await authority('stranger')
  const server = await startServer(auditFlags(files, kubeconfig(sink.url, trusting(stranger.pem))))
  try {
    for (let i = 0; i < 3; i++) await server.ask('GET', `${maps}/x`)
    await until('the loss', async () => (await lost(server, 'webhook')) === 3)
    assert.equal(bodies, 0)
    assert.match(server.said(), /records of the audit log are lost/)
  } finally {
    await server.stop()
    await sink.stop()
    files.remove()
  }
})
