/**
 * What nodes may do, sent to a real server and to this one as two nodes and as one without a name:
 * every verb for everything that kubelets write, their own and others'. Both servers run with the
 * plugin NodeRestriction.
 *
 *   node tools/run.mjs file conformance/walk-nodes.ts --peer URL --ours URL [--keep-going]
 */
import type { Json } from '#api/object-meta.ts'
import type { ComparedResponse } from './compared-response.ts'
import { settingsOf, showDifference, type Step } from './two-servers.ts'

type Body = { [key: string]: Json }

const { servers, keepGoing } = await settingsOf(process.argv.slice(2))
const id = `f${Date.now().toString(36)}`
const [own, other] = [`${id}-own`, `${id}-other`]
const leases = 'kube-node-lease'
let asked = 0
let different = 0

const object = (apiVersion: string, kind: string, name: string, more: Body = {}): Body => {
  const { metadata, ...rest } = more
  return { apiVersion, kind, metadata: { name, ...(metadata as Body) }, ...rest }
}
const at = (path: string) => path.replace('{ns}', `/api/v1/namespaces/${id}`)
const owner = (name: string, more: Body = {}): Body => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid: '$uid',
  controller: true,
  ...more,
})
const pod = (name: string, nodeName: string, spec: Body = {}, metadata: Body = {}): Body =>
  object('v1', 'Pod', name, {
    metadata,
    spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec },
  })
const mirror = (owners: Json[], spec: Body = {}): Body =>
  pod('mirror', own, spec, {
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: owners,
  })
const claim = object('v1', 'PersistentVolumeClaim', 'claim', {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

const claimed = { name: 'p', persistentVolumeClaim: { claimName: 'claim' } }

/**
 * The objects that exist before nodes send requests. The node comes last: `$uid` is its own then.
 */
const scene: readonly [path: string, body: Body][] = [
  [
    '{ns}/pods',
    pod('mine', own, { volumes: [claimed, { name: 's', secret: { secretName: 's' } }] }),
  ],
  ['{ns}/pods', pod('theirs', other)],
  ['{ns}/pods', pod('nobodys', '')],
  ['{ns}/persistentvolumeclaims', claim],
  ['{ns}/secrets', object('v1', 'Secret', 's')],
  [
    '/apis/storage.k8s.io/v1/csinodes',
    object('storage.k8s.io/v1', 'CSINode', other, { spec: { drivers: [] } }),
  ],
  [
    `/apis/coordination.k8s.io/v1/namespaces/${leases}/leases`,
    object('coordination.k8s.io/v1', 'Lease', other),
  ],
  ['/api/v1/nodes', object('v1', 'Node', other)],
  [
    '/api/v1/nodes',
    object('v1', 'Node', own, { metadata: { labels: { a: 'b', 'kubernetes.io/os': 'linux' } } }),
  ],
]

const labels = [
  'a',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/x',
  'x.kubernetes.io/x',
  'k8s.io/x',
  'x.k8s.io/x',
  'node.kubernetes.io/x',
  'x.node.kubernetes.io/x',
  'kubelet.kubernetes.io/x',
  'node-restriction.kubernetes.io/x',
  'x.node-restriction.kubernetes.io/x',
  'node-role.kubernetes.io/master',
  'topology.kubernetes.io/zone',
  'beta.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/zone',
]
const dry = '?dryRun=All'
const write = (method: string, path: string, body: Body): Step => ({ method, path: at(path), body })
const patch = (path: string, body: Json): Step => ({
  method: 'PATCH',
  path: at(path),
  headers: { 'content-type': 'application/strategic-merge-patch+json' },
  body,
})

const nodeSteps = (name: string): Step[] => [
  ...labels.flatMap((label): Step[] => [
    write(
      'POST',
      `/api/v1/nodes${dry}`,
      object('v1', 'Node', name, { metadata: { labels: { [label]: 'x' } } }),
    ),
    patch(`/api/v1/nodes/${name}${dry}`, { metadata: { labels: { [label]: 'x' } } }),
    patch(`/api/v1/nodes/${name}/status${dry}`, { metadata: { labels: { [label]: 'x' } } }),
  ]),
  patch(`/api/v1/nodes/${name}${dry}`, {
    metadata: { labels: { 'kubernetes.io/os': null, a: null } },
  }),
  patch(`/api/v1/nodes/${name}${dry}`, { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
  patch(`/api/v1/nodes/${name}${dry}`, { spec: { unschedulable: true } }),
  patch(`/api/v1/nodes/${name}${dry}`, {
    spec: { configSource: { configMap: { name: 'a', namespace: 'b', kubeletConfigKey: 'c' } } },
  }),
  patch(`/api/v1/nodes/${name}/status${dry}`, { status: { capacity: { cpu: '1' } } }),
  write('POST', `/api/v1/nodes${dry}`, object('v1', 'Node', `${name}-new`)),
  write('PUT', `/api/v1/nodes/${name}${dry}`, object('v1', 'Node', name)),
  { method: 'DELETE', path: `/api/v1/nodes/${name}${dry}` },
  { method: 'GET', path: `/api/v1/nodes/${name}` },
]

const mirrors: Body[] = [
  pod('plain', own),
  mirror([]),
  mirror([owner(own)]),
  mirror([owner(own), owner(other)]),
  mirror([owner(other)]),
  mirror([owner(own, { controller: false })]),
  mirror([owner(own, { blockOwnerDeletion: true })]),
  mirror([owner(own, { blockOwnerDeletion: false })]),
  mirror([owner(own, { uid: 'x' })]),
  mirror([owner(own, { kind: 'Pod' })]),
  mirror([owner(own, { apiVersion: 'apps/v1' })]),
  mirror([owner(own)], { nodeName: other }),
  mirror([owner(own)], { serviceAccountName: 'default' }),
  mirror([owner(own)], { imagePullSecrets: [{ name: 's' }] }),
  mirror([owner(own)], { volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
  mirror([owner(own)], { volumes: [{ name: 'v', configMap: { name: 's' } }] }),
  mirror([owner(own)], { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }),
  mirror([owner(own)], { volumes: [{ name: 'v', hostPath: { path: '/x' } }] }),
  mirror([owner(own)], {
    volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }],
  }),
  mirror([owner(own)], {
    containers: [
      {
        name: 'c',
        image: 'i',
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }],
      },
    ],
  }),
  mirror([owner(own)], {
    containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'a' } }] }],
  }),
]

const podSteps = (name: string): Step[] => [
  patch(`{ns}/pods/${name}${dry}`, { metadata: { labels: { a: 'b' } } }),
  patch(`{ns}/pods/${name}/status${dry}`, { status: { phase: 'Running' } }),
  patch(`{ns}/pods/${name}/status${dry}`, { metadata: { labels: { a: 'b' } } }),
  patch(`{ns}/pods/${name}/status${dry}`, { metadata: { annotations: { a: 'b' } } }),
  write('POST', `{ns}/pods/${name}/eviction${dry}`, object('policy/v1', 'Eviction', name)),
  write(
    'POST',
    `{ns}/pods/${name}/binding${dry}`,
    object('v1', 'Binding', name, { target: { kind: 'Node', name: own } }),
  ),
  { method: 'GET', path: at(`{ns}/pods/${name}`) },
  { method: 'GET', path: at(`{ns}/pods/${name}/log`) },
  { method: 'DELETE', path: at(`{ns}/pods/${name}${dry}`) },
]

const namedSteps = (name: string): Step[] => {
  const lease = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const csi = '/apis/storage.k8s.io/v1/csinodes'
  const drivers = { spec: { drivers: [] } }
  return [
    ...[leases, id].flatMap((namespace): Step[] => [
      write('POST', `${lease(namespace)}${dry}`, object('coordination.k8s.io/v1', 'Lease', name)),
      write(
        'PUT',
        `${lease(namespace)}/${name}${dry}`,
        object('coordination.k8s.io/v1', 'Lease', name),
      ),
      patch(`${lease(namespace)}/${name}${dry}`, { spec: { holderIdentity: 'a' } }),
      { method: 'DELETE', path: `${lease(namespace)}/${name}${dry}` },
    ]),
    write('POST', `${csi}${dry}`, object('storage.k8s.io/v1', 'CSINode', name, drivers)),
    write('PUT', `${csi}/${name}${dry}`, object('storage.k8s.io/v1', 'CSINode', name, drivers)),
    patch(`${csi}/${name}${dry}`, { metadata: { labels: { a: 'b' } } }),
    { method: 'DELETE', path: `${csi}/${name}${dry}` },
    { method: 'GET', path: `${csi}/${name}` },
  ]
}

const bound = (ref?: Body): Body => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec: { audiences: [], ...(ref !== undefined && { boundObjectRef: ref }) },
})
const refs: (Body | undefined)[] = [
  undefined,
  {},
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'x' },
  { apiVersion: 'v1', kind: 'Pod', name: 'mine' },
  { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'x' },
  { apiVersion: 'v1', kind: 'Pod', name: 'none', uid: 'x' },
  { apiVersion: 'v1', kind: 'Pod', name: 'theirs', uid: 'x' },
]
const rest: Step[] = [
  ...['', '/status'].flatMap((sub) => [
    patch(`{ns}/persistentvolumeclaims/claim${sub}${dry}`, {
      status: { capacity: { storage: '2Gi' } },
    }),
    patch(`{ns}/persistentvolumeclaims/claim${sub}${dry}`, { status: { phase: 'Bound' } }),
    patch(`{ns}/persistentvolumeclaims/claim${sub}${dry}`, { metadata: { labels: { a: 'b' } } }),
    patch(`{ns}/persistentvolumeclaims/claim${sub}${dry}`, {
      status: { conditions: [{ type: 'Resizing', status: 'True' }] },
    }),
  ]),
  { method: 'DELETE', path: at(`{ns}/persistentvolumeclaims/claim${dry}`) },
  ...refs.map((ref) => write('POST', `{ns}/serviceaccounts/default/token${dry}`, bound(ref))),
  write(
    'POST',
    `{ns}/events${dry}`,
    object('v1', 'Event', 'e', { involvedObject: { namespace: id } }),
  ),
  write('POST', `{ns}/secrets${dry}`, object('v1', 'Secret', 't')),
  { method: 'GET', path: at('{ns}/secrets/s') },
  { method: 'GET', path: at('{ns}/secrets') },
  { method: 'GET', path: at('{ns}/configmaps/none') },
  { method: 'GET', path: at('{ns}/persistentvolumeclaims/claim') },
]

/**
 * Owners are identified by uids, which no two servers share, and differences are spaced at random.
 */
const comparable = (seen: ComparedResponse): ComparedResponse => ({
  ...seen,
  body: JSON.parse(
    JSON.stringify(seen.body)
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
      .replace(/: [ \u00a0]*&core\.(?:[^"\\]|\\.)*/g, ': <difference>'),
  ),
})

async function ask(step: Step, who?: string): Promise<void> {
  const as = { 'Impersonate-User': who ?? '', 'Impersonate-Group': 'system:nodes' }
  const headers = { ...step.headers, ...(who !== undefined && as) }
  const { difference } = await servers.askOften({ ...step, headers }, id, comparable)
  asked++
  if (difference === undefined) return
  different++
  console.log(`${who} ${step.method} ${step.path} ${JSON.stringify(step.body)}`)
  console.log(`  ${showDifference(difference)}`)
  if (!keepGoing) process.exit(1)
}

await servers.makeNamespace(id)
for (const [path, body] of scene) await ask(write('POST', path, body))
for (const who of [`system:node:${own}`, 'somebody', 'system:node:']) {
  for (const body of mirrors) {
    // The node's own uid is what was read last.
    await ask({ method: 'GET', path: `/api/v1/nodes/${own}` })
    await ask(write('POST', `{ns}/pods${dry}`, body), who)
  }
  for (const name of [own, other]) {
    for (const step of [...nodeSteps(name), ...namedSteps(name)]) await ask(step, who)
  }
  for (const name of ['mine', 'theirs', 'nobodys', 'none']) {
    for (const step of podSteps(name)) await ask(step, who)
  }
  for (const step of rest) await ask(step, who)
}
for (const [path, body] of scene) {
  const { name } = body.metadata as { name: string }
  await ask({ method: 'DELETE', path: `${at(path)}/${name}?gracePeriodSeconds=0` })
}
await servers.deleteNamespace(id)
console.log(`${asked} asked, ${different} answered differently`)
process.exitCode = different === 0 ? 0 : 1
