/**
 * A webhook that is this server itself: the service `kubernetes` leads here whatever its endpoints
 * are, and the server is `system:apiserver` there. It has nothing at such a path, so that every
 * call fails.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
let folder: string

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-loopback-'))
  const policy = join(folder, 'policy.yaml')
  writeFileSync(
    policy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, nonResourceURLs: ["/own/*"]}]\n',
  )
  server = await startServer([
    '--endpoint-reconciler-type=none',
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${join(folder, 'audit.log')}`,
    '--audit-log-mode=blocking',
  ])
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const missing = 'the server could not find the requested resource'
const group = 'loops.example.com'
const service = (path: string) => ({ namespace: 'default', name: 'kubernetes', path })

const rows: Record<string, { at: string; sent: () => Promise<unknown>; told: RegExp }> = {
  admission: {
    at: '/own/admission',
    told: new RegExp(`failed to call webhook: ${missing}$`),
    async sent() {
      await server.ask(
        'POST',
        '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
        {
          metadata: { name: 'own' },
          webhooks: [
            {
              name: 'own.example.com',
              clientConfig: { service: service('/own/admission') },
              rules: [
                {
                  operations: ['*'],
                  apiGroups: [''],
                  apiVersions: ['v1'],
                  resources: ['configmaps'],
                },
              ],
              // A controller writes config maps of its own into each namespace.
              objectSelector: { matchLabels: { loops: 'yes' } },
              sideEffects: 'None',
              admissionReviewVersions: ['v1'],
            },
          ],
        },
      )
      return server.ask('POST', '/api/v1/namespaces/default/configmaps', {
        metadata: { name: 'c', labels: { loops: 'yes' } },
      })
    },
  },
  conversion: {
    at: '/own/conversion',
    told: new RegExp(`failed: ${missing}$`),
    async sent() {
      const openAPIV3Schema = { type: 'object' }
      const version = (name: string, storage: boolean) => ({
        name,
        served: true,
        storage,
        schema: { openAPIV3Schema },
      })
      const clientConfig = { service: service('/own/conversion') }
      await server.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: `loops.${group}` },
        spec: {
          group,
          scope: 'Cluster',
          names: { plural: 'loops', kind: 'Loop' },
          versions: [version('v1', true), version('v2', false)],
          conversion: {
            strategy: 'Webhook',
            webhook: { conversionReviewVersions: ['v1'], clientConfig },
          },
        },
      })
      const of = (name: string) => `/apis/${group}/${name}/loops`
      for (let i = 0; i < 50 && (await server.ask('GET', of('v2'))).status !== 200; i++)
        await new Promise((resolve) => setTimeout(resolve, 100))
      return server.ask('POST', of('v2'), {
        apiVersion: `${group}/v2`,
        kind: 'Loop',
        metadata: { name: 'l' },
      })
    },
  },
}
for (const [what, { at, sent, told }] of Object.entries(rows)) {
  test(`a webhook for ${what} that is this server`, async () => {
    const { status, body } = (await sent()) as { status: number; body: { message: string } }
    assert.equal(status, 500)
    assert.match(body.message, told)
    const events = readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n')
    const users = events
      .map((line) => JSON.parse(line))
      .filter(({ requestURI, stage }) => requestURI.startsWith(at) && stage === 'ResponseComplete')
      .map(({ user, responseStatus }) => [user.username, responseStatus.code])
    assert.deepEqual(users, [['system:apiserver', 404]])
  })
}
