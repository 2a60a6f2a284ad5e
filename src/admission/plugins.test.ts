import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes, Authorizer } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { rememberEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { certificateApproval, certificateSigning } from './certificate-plugins.ts'
import { releaseOf } from '#api/releases/change.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { eventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { namespaceAutoProvision, namespaceExists } from './namespace-existence.ts'
import { ownerReferencesPermission } from './owner-references-permission.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { podNodeSelector } from './pod-node-selector.ts'
import { podTolerationRestriction } from './pod-toleration-restriction.ts'
import { catalog, kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'
import { runtimeClassPlugin } from './runtime-class.ts'
import { securityContextDeny } from './security-context-deny.ts'

function withEmpty(field: string): Loose {
  const holder = {}
  rememberEmpty(holder, field)
  return holder
}

function readerWith(...objects: [group: string, plural: string, object: Loose][]): MemoryReader {
  const reader = new MemoryReader()
  reader.put('', 'namespaces', { metadata: { name: 'ns' } })
  for (const [group, plural, object] of objects) reader.put(group, plural, object as never)
  return reader
}

const allowing = (allows: (requested: Attributes) => boolean): Authorizer => ({
  name: 'Test',
  authorize: (requested) => ({ decision: allows(requested) ? 'allow' : 'none', reason: '' }),
})
const nobody = allowing(() => false)
const create = (object: Loose, kind = podKind, changes: Partial<AdmissionRequest> = {}) =>
  requestOf('CREATE', kind, object, changes)
const refused = '403 pods "p" is forbidden: '

const runtimeClass: [string, string, Loose] = [
  'node.k8s.io',
  'runtimeclasses',
  {
    metadata: { name: 'rc' },
    overhead: { podFixed: { cpu: '100m' } },
    scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] },
  },
]
const ingressClass = (name: string): [string, string, Loose] => [
  'networking.k8s.io',
  'ingressclasses',
  {
    metadata: { name, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
  },
]
const ingressKind = kindOf('networking.k8s.io/v1', 'ingresses')
const serviceKind = kindOf('v1', 'services')
const csrKind = kindOf('certificates.k8s.io/v1', 'certificatesigningrequests')
const csr = { metadata: { name: 'c' }, spec: { signerName: 'example.com/signer' } }
const claimKind = kindOf('v1', 'persistentvolumeclaims')
const claim = (storage: string, phase = 'Bound') => ({
  metadata: { name: 'c' },
  spec: { storageClassName: 'fast', resources: { requests: { storage } } },
  status: { phase },
})
const runtime = runtimeClassPlugin(() => true, 22)
const toleration = podTolerationRestriction({ whitelist: [{ key: 'ok', operator: 'Exists' }] })
const owner = (more: Loose) => ({
  metadata: {
    name: 'm',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', ...more }],
  },
})
const owners = ownerReferencesPermission({
  authorizer: nobody,
  kindNamed: (apiVersion, kind) => catalog.byKind(apiVersion, kind),
})
const mapKind = kindOf('v1', 'configmaps')

const cases: [
  name: string,
  plugin: AdmissionPlugin,
  request: AdmissionRequest,
  reader: MemoryReader,
  expected: string,
][] = [
  [
    'an unknown runtime class',
    runtime,
    create(pod({ runtimeClassName: 'x' })),
    readerWith(),
    `${refused}pod rejected: RuntimeClass "x" not found`,
  ],
  [
    'a selector against the runtime class',
    runtime,
    create(pod({ runtimeClassName: 'rc', nodeSelector: { a: 'c' } })),
    readerWith(runtimeClass),
    `${refused}conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c`,
  ],
  [
    'overhead without a class',
    runtime,
    create(pod({ overhead: { cpu: '1' } })),
    readerWith(),
    `${refused}pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
  ],
  [
    'two default ingress classes',
    defaultIngressClass(releaseOf(22)),
    create({ metadata: { name: 'i' }, spec: {} }, ingressKind),
    readerWith(ingressClass('a'), ingressClass('b')),
    '403 ingresses.networking.k8s.io "i" is forbidden: Internal error occurred: 2 default IngressClasses were found, only 1 allowed',
  ],
  [
    'growing an unbound claim',
    persistentVolumeClaimResize,
    requestOf('UPDATE', claimKind, claim('2Gi'), { old: claim('1Gi', 'Pending') }),
    readerWith(),
    '403 persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded',
  ],
  [
    'growing in a class that does not',
    persistentVolumeClaimResize,
    requestOf('UPDATE', claimKind, claim('2Gi'), { old: claim('1Gi') }),
    readerWith(),
    '403 persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  ],
  [
    'an unbound claim that stays as large as it is',
    persistentVolumeClaimResize,
    requestOf('UPDATE', claimKind, claim('1Gi'), { old: claim('1Gi', 'Pending') }),
    readerWith(),
    'admitted',
  ],
  [
    'growing in a class that does',
    persistentVolumeClaimResize,
    requestOf('UPDATE', claimKind, claim('2Gi'), { old: claim('1Gi') }),
    readerWith([
      'storage.k8s.io',
      'storageclasses',
      { metadata: { name: 'fast' }, allowVolumeExpansion: true },
    ]),
    'admitted',
  ],
  [
    'approving without the right',
    certificateApproval(nobody),
    requestOf('UPDATE', csrKind, csr, { old: csr, subresource: 'approval' }),
    readerWith(),
    '403 certificatesigningrequests.certificates.k8s.io "c" is forbidden: user not permitted to approve requests with signerName "example.com/signer"',
  ],
  [
    'approving with the right to all of a domain',
    certificateApproval(
      allowing(({ name, verb }) => name === 'example.com/*' && verb === 'approve'),
    ),
    requestOf('UPDATE', csrKind, csr, { old: csr, subresource: 'approval' }),
    readerWith(),
    'admitted',
  ],
  [
    'signing without the right',
    certificateSigning(nobody),
    requestOf(
      'UPDATE',
      csrKind,
      { ...csr, status: { certificate: 'x' } },
      { old: csr, subresource: 'status' },
    ),
    readerWith(),
    '403 certificatesigningrequests.certificates.k8s.io "c" is forbidden: user not permitted to sign requests with signerName "example.com/signer"',
  ],
  [
    'a status without a certificate',
    certificateSigning(nobody),
    requestOf('UPDATE', csrKind, csr, { old: csr, subresource: 'status' }),
    readerWith(),
    'admitted',
  ],
  [
    'everything denied',
    alwaysDeny,
    create({ metadata: { generateName: 'g-' } }),
    readerWith(),
    '403 pods "g-" is forbidden: admission control is denying all modifications',
  ],
  [
    'external addresses',
    denyServiceExternalIps,
    create({ metadata: { name: 's' }, spec: { externalIPs: ['1.2.3.4'] } }, serviceKind),
    readerWith(),
    '403 services "s" is forbidden: Use of external IPs is denied by admission control',
  ],
  [
    'external addresses that were there',
    denyServiceExternalIps,
    requestOf(
      'UPDATE',
      serviceKind,
      { metadata: {}, spec: { externalIPs: ['1.2.3.4'] } },
      { old: { metadata: {}, spec: { externalIPs: ['1.2.3.4', '5.6.7.8'] } } },
    ),
    readerWith(),
    'admitted',
  ],
  [
    'hard anti-affinity',
    limitPodHardAntiAffinityTopology,
    create(
      pod({
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }],
          },
        },
      }),
    ),
    readerWith(),
    `${refused}affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed`,
  ],
  [
    'a namespace that is not there',
    namespaceExists,
    create(pod()),
    new MemoryReader(),
    '404 namespaces "ns" not found',
  ],
  [
    'a user of choice',
    securityContextDeny,
    create(pod({ securityContext: { fsGroup: 1 } })),
    readerWith(),
    `${refused}pod.Spec.SecurityContext.FSGroup is forbidden`,
  ],
  [
    'groups of choice, though none',
    securityContextDeny,
    create(pod({ securityContext: withEmpty('supplementalGroups') })),
    readerWith(),
    `${refused}pod.Spec.SecurityContext.SupplementalGroups is forbidden`,
  ],
  [
    'a user of choice in a container',
    securityContextDeny,
    create(pod({ containers: [{ securityContext: { runAsUser: 1 } }] })),
    readerWith(),
    `${refused}SecurityContext.RunAsUser is forbidden`,
  ],
  [
    'labels that the namespace forbids',
    podNodeSelector(22, { podNodeSelectorPluginConfig: { ns: 'a=b' } }),
    create(pod({ nodeSelector: { z: 'x' } })),
    readerWith(),
    `${refused}pod node label selector labels conflict with its namespace whitelist`,
  ],
  [
    'another node than the namespace wants',
    podNodeSelector(22, { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b' } }),
    create(pod({ nodeSelector: { a: 'x' } })),
    readerWith(),
    `${refused}pod node label selector conflicts with its namespace node label selector`,
  ],
  [
    'a toleration that the namespace does not allow',
    toleration,
    create(pod({ tolerations: [{ key: 'no', operator: 'Exists' }] })),
    readerWith(),
    '500 pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist',
  ],
  [
    'a toleration that is allowed',
    toleration,
    create(pod({ tolerations: [{ key: 'ok', operator: 'Exists', effect: 'NoExecute' }] })),
    readerWith(),
    'admitted',
  ],
  ['an owner', owners, create(owner({}), mapKind), readerWith(), 'admitted'],
  [
    'an owner that is held up',
    owners,
    create(owner({ blockOwnerDeletion: true }), mapKind),
    readerWith(),
    `403 configmaps "m" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`,
  ],
  [
    'an owner of an unknown kind',
    owners,
    create(owner({ blockOwnerDeletion: true, kind: 'Podd' }), mapKind),
    readerWith(),
    '403 configmaps "m" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Podd: no matches for kind "Podd" in version "v1"',
  ],
]
for (const [name, plugin, request, reader, expected] of cases) {
  test(name, async () => assert.equal(await outcome(plugin, request, reader), expected))
}

test('a runtime class whose name is not a path segment is not found, or cannot be requested', async () => {
  const object = { metadata: { name: 'p' }, spec: { runtimeClassName: '' } }
  const stated = (release: number) =>
    outcome(
      runtimeClassPlugin(() => true, release),
      create(object),
      readerWith(),
    )
  assert.match(await stated(18), /^403 .*RuntimeClass "" not found$/)
  assert.match(await stated(19), /^500 resource name may not be empty$/)
})

test('a pod gets the overhead and scheduling of its runtime class', async () => {
  const object = pod({ runtimeClassName: 'rc', tolerations: [{ key: 'x', operator: 'Exists' }] })
  assert.equal(await outcome(runtime, create(object), readerWith(runtimeClass)), 'admitted')
  assert.deepEqual(object.spec.overhead, { cpu: '100m' })
  assert.deepEqual(object.spec.nodeSelector, { a: 'b' })
  assert.deepEqual(
    object.spec.tolerations.map(({ key }: Loose) => key),
    ['x', 'k'],
  )
})

test('the only default ingress class', async () => {
  const object = { metadata: { name: 'i' }, spec: {} as Loose }
  rememberEmpty(object.spec, 'rules')
  assert.equal(
    await outcome(
      defaultIngressClass(releaseOf(22)),
      create(object, ingressKind),
      readerWith(ingressClass('a')),
    ),
    'admitted',
  )
  assert.equal(object.spec.ingressClassName, 'a')
  assert.ok(wasWrittenEmpty(object.spec, 'rules'))
})

test('images are always pulled, and an update without new images is unchanged', async () => {
  const object = pod()
  assert.equal(await outcome(alwaysPullImages, create(object), readerWith()), 'admitted')
  assert.equal(object.spec.containers[0].imagePullPolicy, 'Always')
  const same = pod()
  assert.equal(
    await outcome(
      alwaysPullImages,
      requestOf('UPDATE', podKind, same, { old: pod() }),
      readerWith(),
    ),
    'admitted',
  )
  assert.equal(same.spec.containers[0].imagePullPolicy, undefined)
})

test('extended resources are tolerated', async () => {
  const object = pod({
    containers: [
      { resources: { requests: { 'example.com/gpu': '1', cpu: '1', 'kubernetes.io/x': '1' } } },
    ],
  })
  await outcome(extendedResourceToleration, create(object), readerWith())
  assert.deepEqual(object.spec.tolerations, [
    { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
  ])
})

test('a missing namespace is created, except in a dry run', async () => {
  const made: string[] = []
  const plugin = namespaceAutoProvision(
    async ({ metadata }) => void made.push(metadata.name as string),
  )
  await outcome(plugin, create(pod(), podKind, { dryRun: true }), new MemoryReader())
  await outcome(plugin, create(pod()), new MemoryReader())
  assert.deepEqual(made, ['ns'])
})

test('the rate of events is limited', async () => {
  let now = 0
  const plugin = eventRateLimit({ limits: [{ type: 'Namespace', qps: 1, burst: 2 }] }, () => now)
  const post = () =>
    outcome(plugin, create({ metadata: { name: 'e' } }, kindOf('v1', 'events')), readerWith())
  assert.deepEqual(
    [await post(), await post(), await post()],
    ['admitted', 'admitted', '429 Too many requests: limit reached on type Namespace for key ns'],
  )
  now = 1000
  assert.equal(await post(), 'admitted')
  assert.throws(
    () => eventRateLimit({ limits: [{ type: 'Odd', qps: 1, burst: 1 }] }, () => 0),
    /unknown event rate limit type: Odd/,
  )
})
