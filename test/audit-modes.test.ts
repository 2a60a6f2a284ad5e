/**
 * What --audit-log-mode and --audit-webhook-mode promise clients: which requests wait for a record,
 * and which are rejected without one.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { counterpart, folder, kubeconfig } from '../src/access/counterpart.suite.ts'
import { startServer } from './running-server.ts'

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: RequestResponse
  resources: [{group: "", resources: [configmaps]}]
`
const maps = '/api/v1/namespaces/default/configmaps'

/** Which stages of a request are in the file. */
const stagesOf = (log: string, uri: string) =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"requestURI":"${uri}"`))
    .map((line) => JSON.parse(line).stage)

const both = ['RequestReceived', 'ResponseComplete']

/** `atOnce`: whether the records are there when the answer is. */
const logs: [what: string, flags: string[], atOnce: boolean][] = [
  ['left out', [], true],
  ['blocking', ['--audit-log-mode=blocking'], true],
  ['blocking-strict', ['--audit-log-mode=blocking-strict'], true],
  ['batch', ['--audit-log-mode=batch'], false],
  [
    'batch, and batches are large and late',
    [
      '--audit-log-mode=batch',
      '--audit-log-batch-max-size=1000',
      '--audit-log-batch-max-wait=1h',
      '--audit-log-batch-throttle-enable',
      '--audit-log-batch-throttle-qps=.1',
      '--audit-log-batch-throttle-burst=1',
    ],
    false,
  ],
]
for (const [what, flags, atOnce] of logs)
  test(`--audit-log-mode ${what}`, async () => {
    const files = folder()
    const policyFile = files.file('policy.yaml', policy)
    const log = join(policyFile, '../audit.log')
    const server = await startServer([
      '--controllers=-*',
      `--audit-policy-file=${policyFile}`,
      `--audit-log-path=${log}`,
      ...flags,
    ])
    try {
      for (let i = 0; i < 50; i++) {
        await server.ask('GET', `${maps}/n-${i}`)
        if (atOnce) assert.deepEqual(stagesOf(log, `${maps}/n-${i}`), both)
      }
      if (flags.length > 1) assert.deepEqual(stagesOf(log, `${maps}/n-0`), [])
      await server.stop()
      for (let i = 0; i < 50; i++) assert.deepEqual(stagesOf(log, `${maps}/n-${i}`), both)
    } finally {
      await server.stop()
      files.remove()
    }
  })

const webhooks: [mode: string, waits: boolean, refuses: boolean][] = [
  ['batch', false, false],
  ['blocking', true, false],
  ['blocking-strict', true, true],
]
for (const [mode, waits, refuses] of webhooks)
  test(`--audit-webhook-mode=${mode}`, async () => {
    const stages: string[] = []
    let gate: PromiseWithResolvers<void> | undefined
    let status = 200
    const sink = await counterpart(async ({ body }) => {
      await gate?.promise
      if (status === 200) stages.push(...JSON.parse(body).items.map((one: Stage) => one.stage))
      return { status }
    })
    const files = folder()
    const trusting = {
      'certificate-authority-data': Buffer.from(sink.authority.pem).toString('base64'),
    }
    const server = await startServer([
      '--controllers=-*',
      `--audit-policy-file=${files.file('policy.yaml', policy)}`,
      `--audit-webhook-config-file=${files.file('webhook.yaml', kubeconfig(sink.url, trusting))}`,
      '--audit-webhook-batch-max-wait=50ms',
      '--audit-webhook-initial-backoff=1ms',
      `--audit-webhook-mode=${mode}`,
    ])
    try {
      gate = Promise.withResolvers()
      let isAnswered = false
      const asked = server.ask('GET', `${maps}/a`).then(() => (isAnswered = true))
      await (waits ? sleep(500) : asked)
      assert.equal(isAnswered, !waits)
      gate.resolve()
      await asked
      await until('the records', () => stages.length === 2)
      assert.deepEqual(stages, both)

      if (waits) {
        gate = Promise.withResolvers()
        const late = await server.ask('GET', `${maps}/a?timeout=1s`)
        assert.equal(late.status, 504)
        gate.resolve()
        await until('its records', () => stages.length === 4)
      }

      status = 500
      const refused = await server.ask('POST', maps, { metadata: { name: 'b' } })
      assert.equal(refused.status, refuses ? 500 : 201)
      const words = `Internal Server Error: "${maps}": failed to store audit event\n`
      if (refuses) assert.equal(refused.text, words)
      status = 200
      assert.equal((await server.ask('GET', `${maps}/b`)).status, refuses ? 404 : 200)
      const { text } = await server.ask('GET', '/metrics')
      const counted = /^apiserver_audit_requests_rejected_total (\d+)$/m.exec(text)?.[1]
      assert.equal(Number(counted ?? 0), refuses ? 1 : 0)
    } finally {
      gate?.resolve()
      await server.stop()
      await sink.stop()
      files.remove()
    }
  })

interface Stage {
  readonly stage: string
}

const impossible: [flags: string[], words: RegExp][] = [
  [['--audit-log-batch-buffer-size=0'], /--audit-log-batch-buffer-size: 0 is too little/],
  [['--audit-log-batch-max-size=0'], /--audit-log-batch-max-size: 0 is too little/],
  [['--audit-log-batch-throttle-enable'], /--audit-log-batch-throttle-qps: 0 is too little/],
  [
    ['--audit-log-batch-throttle-enable', '--audit-log-batch-throttle-qps=1'],
    /--audit-log-batch-throttle-burst: 0 is too little for --audit-log-mode=batch/,
  ],
]
for (const [flags, words] of impossible)
  test(`${flags.join(' ')} cannot be`, async () => {
    const asked = ['--audit-log-path=-', '--audit-log-mode=batch', ...flags]
    await assert.rejects(startServer(asked), words)
  })
