import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDeny } from '#access/authorize/always.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import type { AdmissionRequest } from './admission.ts'
import { releaseOf } from '#api/releases/change.ts'
import { nodeRestriction } from './node-restriction.ts'
import { kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'

const kubelet = (node: string) => ({
  name: `system:node:${node}`,
  uid: '',
  groups: ['system:nodes'],
  extra: {},
})
const user = kubelet('n1')
const plugin = nodeRestriction({
  authorizer: alwaysDeny,
  feature: () => false,
  release: releaseOf(22),
})
const reader = new MemoryReader()
reader.put('', 'nodes', { metadata: { name: 'n1', uid: 'n1-uid' } })
const scheduled = (name: string, nodeName?: string) =>
  pod({ nodeName }, { name, uid: `${name}-uid` })
for (const [name, node] of [['mine', 'n1'], ['other', 'n2'], ['waiting']] as const)
  reader.put('', 'pods', scheduled(name, node))

const owner = (more: Loose = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: 'n1',
  uid: 'n1-uid',
  controller: true,
  ...more,
})
const mirror = (spec: Loose = {}, owners: Loose[] = [owner()]) =>
  requestOf(
    'CREATE',
    podKind,
    pod(
      { nodeName: 'n1', ...spec },
      { annotations: { 'kubernetes.io/config.mirror': '' }, ownerReferences: owners },
    ),
    { user },
  )
const about = (
  operation: AdmissionRequest['operation'],
  name: string,
  changes: Partial<AdmissionRequest> = {},
) => requestOf(operation, podKind, undefined, { name, user, ...changes })
const status = (old: Loose, next: Loose) =>
  requestOf('UPDATE', podKind, next, { user, subresource: 'status', old: old as never })

const nodeKind = kindOf('v1', 'nodes')
const node = (metadata: Loose = {}, spec: Loose = {}) => ({
  metadata: { name: 'n1', ...metadata },
  spec,
})
const newNode = (metadata: Loose, spec: Loose = {}) =>
  requestOf('CREATE', nodeKind, node(metadata, spec), { user })
const changedNode = (old: Loose, next: Loose) =>
  requestOf('UPDATE', nodeKind, next, { user, old: old as never })
const source = (name: string) => ({ configSource: { configMap: { name } } })

const claimKind = kindOf('v1', 'persistentvolumeclaims')
const claim = (state: Loose, metadata: Loose = {}) => ({
  metadata: { name: 'c', namespace: 'ns', ...metadata },
  spec: { volumeName: 'v' },
  status: { phase: 'Bound', ...state },
})
const claimStatus = (old: Loose, next: Loose) =>
  requestOf('UPDATE', claimKind, next, { user, subresource: 'status', old: old as never })

const accountKind = kindOf('v1', 'serviceaccounts')
const token = (boundObjectRef?: Loose) =>
  requestOf(
    'CREATE',
    accountKind,
    { metadata: { name: 'bot' }, spec: { boundObjectRef } },
    {
      user,
      name: 'bot',
      subresource: 'token',
    },
  )
const podRef = (more: Loose) => ({ apiVersion: 'v1', kind: 'Pod', ...more })
const leaseKind = kindOf('coordination.k8s.io/v1', 'leases')
const csiKind = kindOf('storage.k8s.io/v1', 'csinodes')
const inLeases = { user, namespace: 'kube-node-lease' }
const named = (name: string) => ({ metadata: { name } })

const no = '403 pods "p" is forbidden: node "n1" '
const nobody = '403 serviceaccounts "bot" is forbidden: '
const wrongLease =
  'is forbidden: can only access node lease with the same name as the requesting node'
const wrongDriver =
  'is forbidden: can only access CSINode with the same name as the requesting node'
const wrongLabels = (labels: string) =>
  `403 nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: ${labels}`

const cases: [name: string, request: AdmissionRequest, expected: string][] = [
  ['a mirror of its own', mirror(), 'admitted'],
  [
    'a kubelet without a name',
    requestOf('CREATE', podKind, pod(), { user: kubelet('') }),
    '403 pods "p" is forbidden: could not determine node from user "system:node:"',
  ],
  [
    'a user in the group system:nodes whose name is not a node',
    requestOf('CREATE', podKind, pod(), { user: { ...user, name: 'bob' } }),
    'admitted',
  ],
  [
    'a node outside the group',
    requestOf('CREATE', podKind, pod(), { user: { ...user, groups: [] } }),
    'admitted',
  ],
  [
    'a pod that is not a mirror pod',
    requestOf('CREATE', podKind, pod({ nodeName: 'n1' }), { user }),
    '403 pods "p" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  [
    'a mirror of another node',
    mirror({ nodeName: 'n2' }),
    `${no}can only create pods with spec.nodeName set to itself`,
  ],
  ['no owner', mirror({}, []), `${no}can only create pods with an owner reference set to itself`],
  [
    'two owners',
    mirror({}, [owner(), owner()]),
    `${no}can only create pods with a single owner reference set to itself`,
  ],
  ...[{ apiVersion: 'v2' }, { kind: 'Pod' }, { name: 'n2' }].map((more): (typeof cases)[number] => [
    `another owner: ${JSON.stringify(more)}`,
    mirror({}, [owner(more)]),
    `${no}can only create pods with an owner reference set to itself`,
  ]),
  [
    'an owner that does not control',
    mirror({}, [owner({ controller: false })]),
    `${no}can only create pods with a controller owner reference set to itself`,
  ],
  [
    'an owner that holds up deletion',
    mirror({}, [owner({ blockOwnerDeletion: true })]),
    `${no}must not set blockOwnerDeletion on an owner reference`,
  ],
  [
    'an owner of an earlier life',
    mirror({}, [owner({ uid: 'old' })]),
    '403 pods "p" is forbidden: node n1 UID mismatch: expected old got n1-uid',
  ],
  [
    'an owner that is not there',
    { ...mirror({ nodeName: 'n9' }, [owner({ name: 'n9' })]), user: kubelet('n9') },
    '404 node "n9" not found',
  ],
  [
    'a mirror with an account',
    mirror({ serviceAccountName: 'x' }),
    `${no}can not create pods that reference a service account`,
  ],
  [
    'a mirror with a secret',
    mirror({ imagePullSecrets: [{ name: 'x' }] }),
    `${no}can not create pods that reference secrets`,
  ],
  [
    'a mirror with a config map',
    mirror({ volumes: [{ configMap: { name: 'x' } }] }),
    `${no}can not create pods that reference configmaps`,
  ],
  [
    'a mirror with a claim',
    mirror({ volumes: [{ persistentVolumeClaim: { claimName: 'x' } }] }),
    `${no}can not create pods that reference persistentvolumeclaims`,
  ],
  ['deleting its own pod', about('DELETE', 'mine'), 'admitted'],
  [
    'deleting a pod of another node',
    about('DELETE', 'other'),
    '403 pods "other" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    'deleting a pod without a node',
    about('DELETE', 'waiting'),
    '403 pods "waiting" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  ['deleting a collection', about('DELETE', ''), '404 pod "" not found'],
  [
    'changing a pod',
    about('UPDATE', 'mine'),
    '403 pods "mine" is forbidden: unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  [
    'the status of its own pod',
    status(scheduled('mine', 'n1'), scheduled('mine', 'n1')),
    'admitted',
  ],
  [
    'labels by the status of its own pod',
    status(scheduled('mine', 'n1'), pod({ nodeName: 'n1' }, { name: 'mine', labels: { a: 'b' } })),
    '403 pods "mine" is forbidden: node "n1" cannot update labels through pod status',
  ],
  [
    'the status of another node’s pod that it calls its own',
    status(scheduled('other', 'n2'), scheduled('other', 'n1')),
    '403 pods "other" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  ['evicting its own pod', about('CREATE', 'mine', { subresource: 'eviction' }), 'admitted'],
  [
    'evicting another’s pod',
    about('CREATE', 'other', { subresource: 'eviction' }),
    '403 pods "other" is forbidden: node n1 can only evict pods with spec.nodeName set to itself',
  ],
  [
    'evicting no pod',
    about('CREATE', 'gone', { subresource: 'eviction' }),
    '404 pod "gone" not found',
  ],
  [
    'binding a pod',
    about('CREATE', 'waiting', { subresource: 'binding' }),
    `403 pods "waiting" is forbidden: unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
  ],
  ['entering a pod', about('CONNECT', 'other', { subresource: 'exec' }), 'admitted'],

  ['its own node', newNode({}), 'admitted'],
  [
    'another node',
    newNode({ name: 'n2' }),
    '403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  [
    'a node whose configuration is elsewhere',
    newNode({}, source('a')),
    '403 nodes "n1" is forbidden: node "n1" is not allowed to create pods with a non-nil configSource',
  ],
  [
    'labels that others rely on',
    newNode({
      labels: {
        'node-restriction.kubernetes.io/a': '1',
        'x.node-restriction.kubernetes.io/a': '1',
        'kubernetes.io/x': '1',
        'k8s.io/a': '1',
        'x.k8s.io/a': '1',
        'node-role.kubernetes.io/master': '',
      },
    }),
    wrongLabels(
      'k8s.io/a, kubernetes.io/x, node-restriction.kubernetes.io/a, node-role.kubernetes.io/master, x.k8s.io/a, x.node-restriction.kubernetes.io/a',
    ),
  ],
  [
    'labels of its own and of strangers',
    newNode({
      labels: {
        'kubernetes.io/hostname': 'n1',
        'topology.kubernetes.io/zone': 'z',
        'kubelet.kubernetes.io/x': '1',
        'x.node.kubernetes.io/y': '1',
        'example.com/a': '1',
        'notkubernetes.io/a': '1',
        plain: '1',
      },
    }),
    'admitted',
  ],
  [
    'a label taken away',
    changedNode(node({ labels: { 'x.k8s.io/a': '1' } }), node()),
    '403 nodes "n1" is forbidden: is not allowed to modify labels: x.k8s.io/a',
  ],
  [
    'a label left alone',
    changedNode(node({ labels: { 'x.k8s.io/a': '1' } }), node({ labels: { 'x.k8s.io/a': '1' } })),
    'admitted',
  ],
  [
    'its taints',
    changedNode(node({}, { taints: [{ key: 'a' }] }), node()),
    '403 nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
  ],
  [
    'its configuration',
    changedNode(node({}, source('a')), node({}, source('b'))),
    '403 nodes "n1" is forbidden: node "n1" is not allowed to update configSource to a new non-nil configSource',
  ],
  ['its configuration left out', changedNode(node({}, source('a')), node()), 'admitted'],
  [
    'its configuration left alone',
    changedNode(node({}, source('a')), node({}, source('a'))),
    'admitted',
  ],
  ['deleting itself', requestOf('DELETE', nodeKind, undefined, { name: 'n1', user }), 'admitted'],
  [
    'deleting nodes',
    requestOf('DELETE', nodeKind, undefined, { name: '', user }),
    '403 nodes "Unknown" is forbidden: node "n1" is not allowed to modify node ""',
  ],

  [
    'a claim',
    requestOf('CREATE', claimKind, claim({}), { user }),
    '403 persistentvolumeclaims "c" is forbidden: may only update PVC status',
  ],
  [
    'the capacity of a claim',
    claimStatus(
      claim({}, { resourceVersion: '1', managedFields: [] }),
      claim({ capacity: { storage: '2Gi' }, conditions: [{ type: 'Resizing' }] }),
    ),
    'admitted',
  ],
  ...(
    [
      [claim({ phase: 'Lost' }), 'status', '"phase":"Bound"', '"phase":"Lost"'],
      [{ ...claim({}), spec: {} }, 'spec', '"volumeName":"v"', ''],
    ] as const
  ).map(([next, field, was, is]): (typeof cases)[number] => [
    `the ${field} of a claim`,
    claimStatus(claim({}), next),
    `403 persistentvolumeclaims "c" is forbidden: node "n1" is not allowed to update fields other than status.capacity and status.conditions:   &core.PersistentVolumeClaim{
- \t${field}: map[string]interface {}{${was}},
+ \t${field}: map[string]interface {}{${is}},
  }
`,
  ]),

  ['a token for its pod', token(podRef({ name: 'mine', uid: 'mine-uid' })), 'admitted'],
  ['a token for nothing', token(), `${nobody}node requested token not bound to a pod`],
  ...[
    { kind: 'Secret', name: 's', uid: 'u' },
    { apiVersion: 'v2', name: 'mine', uid: 'u' },
    { uid: 'u' },
  ].map((more): (typeof cases)[number] => [
    `a token for something else: ${JSON.stringify(more)}`,
    token(podRef(more)),
    `${nobody}node requested token not bound to a pod`,
  ]),
  [
    'a token for any pod of a name',
    token(podRef({ name: 'mine' })),
    `${nobody}node requested token with a pod binding without a uid`,
  ],
  ['a token for no pod', token(podRef({ name: 'gone', uid: 'u' })), '404 pod "gone" not found'],
  [
    'a token for a pod of an earlier life',
    token(podRef({ name: 'mine', uid: 'u' })),
    `${nobody}the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated`,
  ],
  [
    'a token for a pod of another node',
    token(podRef({ name: 'other', uid: 'other-uid' })),
    `${nobody}node requested token bound to a pod scheduled on a different node`,
  ],
  ['an account', requestOf('CREATE', accountKind, named('x'), { user }), 'admitted'],

  ['its lease', requestOf('CREATE', leaseKind, named('n1'), inLeases), 'admitted'],
  [
    'its lease elsewhere',
    requestOf('CREATE', leaseKind, named('n1'), { user }),
    '403 leases.coordination.k8s.io "n1" is forbidden: can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    'another’s lease',
    requestOf('CREATE', leaseKind, named('n2'), inLeases),
    `403 leases.coordination.k8s.io "n2" ${wrongLease}`,
  ],
  [
    'deleting another’s lease',
    requestOf('DELETE', leaseKind, undefined, { ...inLeases, name: 'n2' }),
    `403 leases.coordination.k8s.io "n2" ${wrongLease}`,
  ],
  ['its drivers', requestOf('CREATE', csiKind, named('n1'), { user }), 'admitted'],
  [
    'another’s drivers',
    requestOf('CREATE', csiKind, named('n2'), { user }),
    `403 csinodes.storage.k8s.io "n2" ${wrongDriver}`,
  ],
  [
    'deleting another’s drivers',
    requestOf('DELETE', csiKind, undefined, { user, name: 'n2' }),
    `403 csinodes.storage.k8s.io "n2" ${wrongDriver}`,
  ],
  [
    'a resource that the plugin does not restrict',
    requestOf('CREATE', kindOf('v1', 'configmaps'), named('x'), { user }),
    'admitted',
  ],
]
for (const [name, request, expected] of cases)
  test(name, async () => assert.equal(await outcome(plugin, request, reader), expected))
