import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { selectorsOfQuery } from '#access/selectors.ts'
import { NodeAuthorizer } from './node.ts'

const related = "no relationship found between node 'a' and this object"

function ask(what: string, name = '', namespace = '', who = 'system:node:a'): Attributes {
  const [verb = '', target = ''] = what.split(' ')
  const [path = '', ...group] = target.split('.')
  const [resource = '', subresource = ''] = path.split('/')
  return {
    user: { name: who, uid: '', groups: ['system:nodes', 'system:authenticated'], extra: {} },
    verb,
    isResource: true,
    group: group.join('.'),
    version: 'v1',
    resource,
    subresource,
    namespace,
    name,
    path: '',
  }
}

const pod = (name: string, nodeName: string, spec: object = {}, annotations = {}) => ({
  metadata: { namespace: 'n', name, uid: `${name}-${nodeName}`, annotations },
  spec: {
    nodeName,
    serviceAccountName: 'bot',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ envFrom: [{ configMapRef: { name: 'init' } }] }],
    containers: [
      {
        env: [
          { name: 'A', value: 'x' },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'envmap', key: 'k' } } },
        ],
      },
    ],
    volumes: [
      { name: 'v1', secret: { secretName: 'vol' } },
      {
        name: 'v2',
        projected: { sources: [{ secret: { name: 'proj' } }, { configMap: { name: 'pmap' } }] },
      },
      { name: 'v3', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'v4', ephemeral: {} },
      { name: 'v5', csi: { nodePublishSecretRef: { name: 'csi' } } },
    ],
    ...spec,
  },
})

const none = (_gate: string) => false

async function cluster(release = 22, feature = none) {
  const reader = new MemoryReader()
  reader.put('', 'pods', pod('p', 'a'))
  reader.put('', 'pods', pod('other', 'b', { serviceAccountName: 'bbot', volumes: [] }))
  reader.put('', 'pods', pod('pending', ''))
  reader.put(
    '',
    'pods',
    pod('mirror', 'a', { serviceAccountName: 'mirrored' }, { 'kubernetes.io/config.mirror': 'x' }),
  )
  reader.put('', 'persistentvolumes', {
    metadata: { name: 'pv' },
    spec: {
      claimRef: { namespace: 'n', name: 'claim' },
      csi: {
        nodeStageSecretRef: { namespace: 's', name: 'stage' },
        controllerPublishSecretRef: { namespace: 's', name: 'controller' },
      },
    },
  })
  reader.put('', 'persistentvolumes', { metadata: { name: 'unclaimed' }, spec: {} })
  reader.put('storage.k8s.io', 'volumeattachments', {
    metadata: { name: 'va' },
    spec: { nodeName: 'a' },
  })
  reader.put('', 'nodes', {
    metadata: { name: 'a' },
    spec: { configSource: { configMap: { namespace: 'k', name: 'kubelet' } } },
  })
  const node = new NodeAuthorizer(release, feature)
  await node.follow(reader)
  return { node, reader }
}

const cases: [Attributes, string][] = [
  [ask('get secrets', 'pull', 'n'), 'allow'],
  [ask('watch secrets', 'env', 'n'), 'allow'],
  [ask('list secrets', 'vol', 'n'), 'allow'],
  [ask('get secrets', 'proj', 'n'), 'allow'],
  [ask('get secrets', 'csi', 'n'), 'allow'],
  [ask('get secrets', 'stage', 's'), 'allow'],
  [ask('get secrets', 'controller', 's'), related],
  [ask('get secrets', 'unknown', 'n'), related],
  [ask('get secrets', 'vol', 'm'), related],
  [ask('list secrets', '', 'n'), 'No Object name found'],
  [ask('list secrets', 'vol', ''), 'can only read namespaced object of this type'],
  [ask('update secrets', 'vol', 'n'), 'can only read resources of this type'],
  [ask('get secrets/x', 'vol', 'n'), 'cannot read subresource'],
  [ask('get configmaps', 'init', 'n'), 'allow'],
  [ask('get configmaps', 'envmap', 'n'), 'allow'],
  [ask('get configmaps', 'pmap', 'n'), 'allow'],
  [ask('get configmaps', 'kubelet', 'k'), related],
  [ask('get persistentvolumeclaims', 'claim', 'n'), 'allow'],
  [ask('get persistentvolumeclaims', 'p-v4', 'n'), 'allow'],
  [ask('patch persistentvolumeclaims/status', 'claim', 'n'), 'allow'],
  [ask('get persistentvolumeclaims/status', 'claim', 'n'), 'can only get/update/patch this type'],
  [ask('list persistentvolumeclaims', '', 'n'), 'can only get individual resources of this type'],
  [ask('get persistentvolumes', 'pv'), 'allow'],
  [ask('get persistentvolumes', 'unclaimed'), related],
  [ask('get persistentvolumes/status', 'pv'), 'cannot get subresource'],
  [ask('get volumeattachments.storage.k8s.io', 'va'), 'allow'],
  [
    ask('get volumeattachments.storage.k8s.io', 'va', '', 'system:node:b'),
    "no relationship found between node 'b' and this object",
  ],
  [ask('create serviceaccounts/token', 'bot', 'n'), 'allow'],
  [ask('create serviceaccounts/token', 'bbot', 'n'), related],
  [ask('create serviceaccounts/token', 'mirrored', 'n'), related],
  [
    ask('create serviceaccounts', 'bot', 'n'),
    'can only create token subresource of serviceaccount',
  ],
  [
    ask('get serviceaccounts', 'bot', 'n'),
    'can only create tokens for individual service accounts',
  ],
  [ask('update leases.coordination.k8s.io', 'a', 'kube-node-lease'), 'allow'],
  [ask('create leases.coordination.k8s.io', '', 'kube-node-lease'), 'allow'],
  [
    ask('update leases.coordination.k8s.io', 'b', 'kube-node-lease'),
    'can only access node lease with the same name as the requesting node',
  ],
  [
    ask('update leases.coordination.k8s.io', 'a', 'n'),
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    ask('list leases.coordination.k8s.io', '', 'kube-node-lease'),
    'can only get, create, update, patch, or delete a node lease',
  ],
  [ask('get csinodes.storage.k8s.io', 'a'), 'allow'],
  [
    ask('get csinodes.storage.k8s.io', 'b'),
    'can only access CSINode with the same name as the requesting node',
  ],
  [ask('list csinodes.storage.k8s.io'), 'can only get, create, update, patch, or delete a CSINode'],
  [ask('list pods'), 'allow'],
  [ask('create pods', '', 'n'), 'allow'],
  [ask('create deployments.apps', '', 'n'), ''],
  [ask('get secrets', 'vol', 'n', 'system:node:'), 'unknown node for user "system:node:"'],
  [ask('get secrets', 'vol', 'n', 'alice'), ''],
]
for (const [attributes, expected] of cases) {
  const { user, verb, resource, subresource, namespace, name } = attributes
  test(`${user.name} ${verb} ${resource}/${subresource} ${namespace}/${name}`, async () => {
    const { node } = await cluster()
    const { decision, reason } = node.authorize(attributes)
    assert.equal(decision === 'allow' ? 'allow' : reason, expected)
  })
}

test('permissions end with the last pod that needs them', async () => {
  const { node, reader } = await cluster()
  reader.put('', 'pods', pod('p2', 'a'))
  const decision = () => node.authorize(ask('get secrets', 'vol', 'n')).decision
  reader.remove('', 'pods', 'n', 'p')
  assert.equal(decision(), 'allow')
  reader.remove('', 'pods', 'n', 'p2')
  assert.equal(decision(), 'none')
  reader.put('', 'pods', pod('p', 'b'))
  assert.equal(decision(), 'none')
  reader.put('', 'pods', pod('p', 'a'))
  assert.equal(decision(), 'allow')
})

test('a volume that is released from its claim no longer grants its secrets', async () => {
  const { node, reader } = await cluster()
  reader.put('', 'persistentvolumes', { metadata: { name: 'pv' }, spec: {} })
  assert.equal(node.authorize(ask('get secrets', 'stage', 's')).decision, 'none')
  reader.remove('storage.k8s.io', 'volumeattachments', '', 'va')
  const attachment = ask('get volumeattachments.storage.k8s.io', 'va')
  assert.equal(node.authorize(attachment).decision, 'none')
})

test('with the feature gate, a node reads the config map of its configuration', async () => {
  const { node, reader } = await cluster(22, (gate) => gate === 'DynamicKubeletConfig')
  const decision = () => node.authorize(ask('get configmaps', 'kubelet', 'k')).decision
  assert.equal(decision(), 'allow')
  reader.remove('', 'nodes', '', 'a')
  assert.equal(decision(), 'none')
})

test('a node name without the group is not a node', () => {
  const question = ask('list pods')
  const user = { ...question.user, groups: ['system:authenticated'] }
  assert.equal(new NodeAuthorizer(22, none).authorize({ ...question, user }).decision, 'none')
  assert.equal(new NodeAuthorizer(22, none).rulesFor(user).incomplete, false)
  for (const [release, incomplete] of [
    [18, false],
    [19, true],
    [22, true],
  ] as const)
    assert.equal(new NodeAuthorizer(release, none).rulesFor(question.user).incomplete, incomplete)
})

const selecting = (attributes: Attributes, fieldSelector: string): Attributes => ({
  ...attributes,
  selectors: selectorsOfQuery(attributes.verb, new URLSearchParams({ fieldSelector })),
})
const noSelector = 'can only list/watch pods with spec.nodeName field selector'
const newCases: [Attributes, string][] = [
  [selecting(ask('list pods'), 'spec.nodeName=a'), 'allow'],
  [selecting(ask('watch pods'), 'status.phase!=Running,spec.nodeName=a'), 'allow'],
  [selecting(ask('list pods'), 'spec.nodeName=b'), noSelector],
  [selecting(ask('list pods'), 'spec.nodeName!=a'), noSelector],
  [ask('list pods'), noSelector],
  [ask('watch pods', 'p', 'n'), 'allow'],
  [ask('get pods', 'p', 'n'), 'allow'],
  [ask('get pods', 'mirror', 'n'), 'allow'],
  [ask('get pods', 'other', 'n'), related],
  [ask('get pods/log', 'p', 'n'), ''],
  [ask('patch pods/status', 'other', 'n'), 'allow'],
  [ask('create pods/eviction', 'other', 'n'), 'allow'],
  [ask('update pods', 'p', 'n'), ''],
  [ask('get nodes', 'a'), 'allow'],
  [ask('get nodes', 'b'), "node 'a' cannot read 'b', only its own Node object"],
  [ask('list nodes'), "node 'a' cannot read all nodes, only its own Node object"],
  [ask('patch nodes/status', 'b'), 'allow'],
  [ask('delete nodes', 'a'), ''],
  [ask('get serviceaccounts', 'bot', 'n'), 'allow'],
  [ask('get serviceaccounts', 'bbot', 'n'), related],
  [ask('get resourceclaims.resource.k8s.io', 'given', 'n'), 'allow'],
  [ask('get resourceclaims.resource.k8s.io', 'made', 'n'), 'allow'],
  [ask('get resourceclaims.resource.k8s.io', 'other', 'n'), related],
  [ask('get resourceslices.resource.k8s.io', 'slice'), 'allow'],
  [ask('get resourceslices.resource.k8s.io', 'foreign'), related],
  [selecting(ask('deletecollection resourceslices.resource.k8s.io'), 'spec.nodeName=a'), 'allow'],
  [
    ask('list resourceslices.resource.k8s.io'),
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
  ],
  [ask('create podcertificaterequests.certificates.k8s.io', '', 'n'), 'allow'],
  [ask('get podcertificaterequests.certificates.k8s.io', 'request', 'n'), 'allow'],
  [
    ask('delete podcertificaterequests.certificates.k8s.io', 'request', 'n'),
    'nodes may not delete podcertificaterequests',
  ],
  [
    ask('patch csinodes/status.storage.k8s.io', 'a'),
    'CSINode status access requires CSIVolumeHealth feature',
  ],
]
for (const [attributes, expected] of newCases) {
  const { verb, resource, subresource, name } = attributes
  test(`1.37: a node may ${verb} ${resource}/${subresource} ${name}: ${expected}`, async () => {
    const { node, reader } = await cluster(37, (gate) => gate !== 'CSIVolumeHealth')
    reader.put('', 'pods', {
      ...pod('claiming', 'a', {
        resourceClaims: [
          { name: 'x', resourceClaimName: 'given' },
          { name: 'y', resourceClaimTemplateName: 't' },
        ],
      }),
      status: { resourceClaimStatuses: [{ name: 'y', resourceClaimName: 'made' }] },
    })
    const owned = (name: string, nodeName: string) => ({ metadata: { name }, spec: { nodeName } })
    reader.put('resource.k8s.io', 'resourceslices', owned('slice', 'a'))
    reader.put('resource.k8s.io', 'resourceslices', owned('foreign', 'b'))
    reader.put('certificates.k8s.io', 'podcertificaterequests', {
      metadata: { name: 'request', namespace: 'n' },
      spec: { nodeName: 'a' },
    })
    const { decision, reason } = node.authorize(attributes)
    assert.equal(decision === 'allow' ? 'allow' : reason, expected)
  })
}

test('a claim that is created for a running pod belongs to its node from then on', async () => {
  const { node, reader } = await cluster(37, (gate) => gate === 'DynamicResourceAllocation')
  const claim = ask('get resourceclaims.resource.k8s.io', 'made', 'n')
  const waiting = pod('w', 'a', { resourceClaims: [{ name: 'y', resourceClaimTemplateName: 't' }] })
  reader.put('', 'pods', waiting)
  assert.equal(node.authorize(claim).decision, 'none')
  const statuses = [{ name: 'y', resourceClaimName: 'made' }]
  reader.put('', 'pods', { ...waiting, status: { resourceClaimStatuses: statuses } })
  assert.equal(node.authorize(claim).decision, 'allow')
})
