/**
 * The flags that change a release: what it serves, which features it has, and what they cannot
 * change.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run, startServer } from './running-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'binnacle-flags-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const refused: readonly [flag: string, said: RegExp][] = [
  ['--feature-gates=Nope=true', /unrecognized feature gate: Nope/],
  ['--feature-gates=BoundServiceAccountTokenVolume=false', /feature is locked to true/],
  ['--runtime-config=bogus/v1=true', /unknown api groups bogus\/v1/],
  ['--show-hidden-metrics-for-version=1.19', /must be omitted or have the value '1.21'/],
  ['--emulated-version=1.14', /1\.14/],
]
for (const [flag, said] of refused) {
  test(`${flag} is refused at start`, async () => {
    const store = ['--secure-port=1', `--data-dir=${directory}`, '--storage-backend=memory']
    const { code, said: words } = await run([...store, flag]).ended()
    assert.notEqual(code, 0)
    assert.match(words, said)
  })
}

test('without ServerSideApply nothing is applied and nothing tracked, and a deprecated gate is warned of', async () => {
  const gates = 'ServerSideApply=false,StreamingProxyRedirects=true'
  const server = await startServer([`--feature-gates=${gates}`, '--controllers=-*'])
  try {
    assert.match(server.said(), /Setting deprecated feature gate StreamingProxyRedirects=true/)
    const path = '/api/v1/namespaces/default/configmaps'
    const made = await server.ask('POST', path, { metadata: { name: 'a' } })
    assert.equal(made.status, 201)
    assert.equal(made.body.metadata.managedFields, undefined)
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const applied = await server.ask('PATCH', `${path}/a?fieldManager=m`, config, headers)
    assert.equal(applied.status, 415)
  } finally {
    await server.stop()
  }
})

test('only what --runtime-config leaves is served', async () => {
  const flag = '--runtime-config=api/all=false,api/v1=true,batch/v1=true,batch/v1/cronjobs=false'
  const server = await startServer([flag, '--controllers=-*'])
  try {
    const status = async (path: string) => (await server.ask('GET', path)).status
    assert.equal(await status('/api/v1/namespaces/default'), 200)
    assert.equal(await status('/apis/batch/v1/jobs'), 200)
    assert.equal(await status('/apis/batch/v1/cronjobs'), 404)
    assert.equal(await status('/apis/apps/v1/deployments'), 404)
    assert.equal(await status('/apis/scheduling.k8s.io/v1/priorityclasses'), 404)
  } finally {
    await server.stop()
  }
})

test('a request of a deprecated version is warned, counted and audited', async () => {
  const policy = join(directory, 'audit.yaml')
  const log = join(directory, 'audit.log')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n')
  const server = await startServer([
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${log}`,
    '--controllers=-*',
  ])
  try {
    const { headers } = await server.ask('GET', '/apis/batch/v1beta1/cronjobs')
    const words =
      'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob'
    assert.equal(headers?.warning, `299 - "${words}"`)
    const { text } = await server.ask('GET', '/metrics')
    const labels = 'group="batch",version="v1beta1",resource="cronjobs",subresource=""'
    assert.ok(
      text.includes(`apiserver_requested_deprecated_apis{${labels},removed_release="1.25"} 1`),
    )
    assert.match(text, /\[STABLE\]/)
    assert.match(text, /\[ALPHA\] \(Deprecated from 1\.22\)/)
  } finally {
    await server.stop()
  }
  const audited = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('cronjobs'))
  const { annotations } = JSON.parse(audited.at(-1) as string)
  assert.equal(annotations['k8s.io/deprecated'], 'true')
  assert.equal(annotations['k8s.io/removed-release'], '1.25')
})

test('before 1.22 requests in the audit log have an id, also without a known user', async () => {
  const policy = join(directory, 'some.yaml')
  writeFileSync(
    policy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: None, nonResourceURLs: ["/version"] }, { level: Metadata }]\n',
  )
  const log = join(directory, 'some.log')
  const server = await startServer([
    '--emulated-version=1.21',
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${log}`,
    '--controllers=-*',
  ])
  try {
    const named = { authorization: 'Bearer nobody', 'audit-id': 'mine' }
    const asNobody = (path: string) =>
      new Promise<IncomingMessage>((done, failed) => {
        const options = { headers: named, rejectUnauthorized: false }
        get(`${server.url}${path}`, options, (answer) => done(answer.resume())).on('error', failed)
      })
    for (const [path, status, id] of [
      ['/api/v1/pods', 401, 'mine'],
      ['/api/v1/pods?timeout=x', 400, 'mine'],
      ['/version', 401, undefined],
    ] as const) {
      const { statusCode, headers } = await asNobody(path)
      assert.deepEqual([statusCode, headers['audit-id']], [status, id], path)
    }
  } finally {
    await server.stop()
  }
  const stages = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"mine"'))
    .map((line) => JSON.parse(line).stage)
  assert.deepEqual(stages, ['ResponseStarted', 'ResponseStarted'])
})
