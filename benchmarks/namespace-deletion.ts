/**
 * How long a namespace with ten thousand objects of twenty kinds takes to go, on SQLite with all
 * controllers. Exits with 1 where that is more than ten seconds. Run: node
 * benchmarks/namespace-deletion.ts [objects]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../test/running-server.ts'
import { asking } from './asking.ts'

const objectsCount = Number(process.argv[2] ?? 10_000)
const limitMs = 10_000
const labels = { app: 'x' }
const podSpec = { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false }
const template = { metadata: { labels }, spec: podSpec }
const selector = { matchLabels: labels }
const rbac = 'rbac.authorization.k8s.io'

const kinds: [apiVersion: string, plural: string, body: object][] = [
  ['v1', 'configmaps', {}],
  ['v1', 'secrets', {}],
  ['v1', 'serviceaccounts', {}],
  ['v1', 'endpoints', {}],
  ['v1', 'limitranges', { spec: { limits: [] } }],
  ['v1', 'podtemplates', { template }],
  ['v1', 'replicationcontrollers', { spec: { selector: labels, template } }],
  ['v1', 'pods', { spec: podSpec }],
  [
    'v1',
    'persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } },
  ],
  ['v1', 'services', { spec: { ports: [{ port: 80 }] } }],
  ['apps/v1', 'deployments', { spec: { selector, template } }],
  ['apps/v1', 'replicasets', { spec: { selector, template } }],
  ['apps/v1', 'daemonsets', { spec: { selector, template } }],
  ['apps/v1', 'statefulsets', { spec: { selector, template, serviceName: 's' } }],
  ['apps/v1', 'controllerrevisions', { revision: 1, data: {} }],
  ['batch/v1', 'jobs', { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } }],
  ['networking.k8s.io/v1', 'networkpolicies', { spec: { podSelector: {} } }],
  [`${rbac}/v1`, 'roles', { rules: [] }],
  [`${rbac}/v1`, 'rolebindings', { roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' } }],
  ['coordination.k8s.io/v1', 'leases', { spec: {} }],
]

const server = await startServer([
  '--storage-backend=sqlite',
  '--service-cluster-ip-range=10.0.0.0/16',
])
const client = asking(server)
const space = '/api/v1/namespaces/full'
await client.ask('POST', '/api/v1/namespaces', { metadata: { name: 'full' } })
while ((await client.ask('GET', `${space}/serviceaccounts/default`)) !== 200) await sleep(50)
await client.times(objectsCount, 64, async (i) => {
  const [apiVersion, plural, body] = kinds[i % kinds.length]
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const object = { ...body, metadata: { name: `o-${i}` } }
  const status = await client.ask('POST', `${root}/namespaces/full/${plural}`, object)
  if (status !== 201) throw new Error(`one of the ${plural} was answered with ${status}`)
})
await sleep(2000)
const spent = client.spentMs()
const began = performance.now()
await client.ask('DELETE', space)
while ((await client.ask('GET', space)) !== 404) await sleep(20)
const tookMs = performance.now() - began
console.log(
  `${objectsCount} objects of ${kinds.length} kinds were gone after ${tookMs.toFixed(0)} ms, ${client.spentMs() - spent} ms of processor time`,
)
client.close()
await server.stop()
process.exitCode = tookMs > limitMs ? 1 : 0
