/** Permissions of kubelets that a release added or removed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Authorizer } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { AdmissionRequest } from './admission.ts'
import { nodeRestriction } from './node-restriction.ts'
import { catalogOf, kindOf, outcome, pod, requestOf } from './requests.suite.ts'

const newest = catalogOf(37)
const kindIn = (apiVersion: string, plural: string) => kindOf(apiVersion, plural, newest)
const podKind = kindIn('v1', 'pods')
const nodeKind = kindIn('v1', 'nodes')
const claimKind = kindIn('v1', 'persistentvolumeclaims')
const accountKind = kindIn('v1', 'serviceaccounts')
const sliceKind = kindIn('resource.k8s.io/v1', 'resourceslices')
const csiKind = kindIn('storage.k8s.io/v1', 'csinodes')
const signingKind = kindIn('certificates.k8s.io/v1', 'certificatesigningrequests')
const certificateKind = kindIn('certificates.k8s.io/v1beta1', 'podcertificaterequests')

const user = { name: 'system:node:n1', uid: '', groups: ['system:nodes'], extra: {} }
/** Allows nodes to request what the operator has named. */
const authorizer: Authorizer = {
  name: 'test',
  authorize: ({ verb, resource, name }) => {
    const isNamed = ['vault', 'example.com:allowed'].includes(resource) && name === 'bot'
    const isRequest = verb.startsWith('request-serviceaccounts-')
    return { decision: isNamed && isRequest ? 'allow' : 'none', reason: '' }
  },
}

const reader = new MemoryReader()
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1-uid', controller: true }
reader.put('', 'nodes', { metadata: { name: 'n1', uid: 'n1-uid' } })
reader.put('', 'serviceaccounts', { metadata: { name: 'bot', namespace: 'ns', uid: 'bot-uid' } })
const sources = [
  { serviceAccountToken: { audience: 'mounted' } },
  { podCertificate: { signerName: 'example.com/mounted' } },
]
const volumes = [
  { name: 'projected', projected: { sources } },
  { name: 'driven', csi: { driver: 'example.com' } },
  { name: 'claimed', persistentVolumeClaim: { claimName: 'c' } },
]
const onNode = { nodeName: 'n1', serviceAccountName: 'bot' }
reader.put('', 'pods', pod({ ...onNode, volumes }, { uid: 'p-uid' }))
reader.put('', 'pods', pod({ ...onNode, nodeName: 'n2' }, { name: 'far', uid: 'far-uid' }))
const lost = { name: 'lost', csi: { driver: 'gone.example.com' } }
reader.put('', 'pods', pod({ ...onNode, volumes: [lost] }, { name: 'lost', uid: 'lost-uid' }))
reader.put('', 'persistentvolumeclaims', {
  metadata: { name: 'c', namespace: 'ns' },
  spec: { volumeName: 'v' },
})
const gce = { gcePersistentDisk: { pdName: 'd' } }
reader.put('', 'persistentvolumes', { metadata: { name: 'v' }, spec: gce })
for (const [name, audience] of [
  ['example.com', 'driven'],
  ['pd.csi.storage.gke.io', 'claimed'],
] as const)
  reader.put('storage.k8s.io', 'csidrivers', {
    metadata: { name },
    spec: { tokenRequests: [{ audience }] },
  })

const mirror = (spec: Loose) =>
  requestOf(
    'CREATE',
    podKind,
    pod(
      { nodeName: 'n1', ...spec },
      { annotations: { 'kubernetes.io/config.mirror': '' }, ownerReferences: [owner] },
    ),
    { user },
  )
const status = (next: Loose) =>
  requestOf(
    'UPDATE',
    podKind,
    { ...pod({ nodeName: 'n1' }), status: next },
    {
      user,
      subresource: 'status',
      old: { ...pod({ nodeName: 'n1' }), status: {} },
    },
  )
const token = (audiences: string[], name = 'p') =>
  requestOf(
    'CREATE',
    accountKind,
    {
      metadata: { name: 'bot' },
      spec: {
        audiences,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: `${name}-uid` },
      },
    },
    { user, name: 'bot', subresource: 'token' },
  )
const slice = (operation: 'CREATE' | 'DELETE', nodeName: string) => {
  const object = { metadata: { name: 's' }, spec: { nodeName } }
  return requestOf(operation, sliceKind, operation === 'CREATE' ? object : undefined, {
    user,
    name: 's',
    ...(operation === 'DELETE' && { old: object }),
  })
}
/** `/O=dev/CN=u` */
const signingRequest = Buffer.from(
  `-----BEGIN CERTIFICATE REQUEST-----\nMIHUMHwCAQAwGjEMMAoGA1UECgwDZGV2MQowCAYDVQQDDAF1MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqY+QvNq1owFRVHGymlwklz7wH8IZzSwaXpRwTomGnc6DPl6vBLpCqtcWcvvcVMNkePD09T1m5X5ZsGwby565taAAMAoGCCqGSM49BAMCA0gAMEUCIQDzWOPFvyJsuXE/xgpXkApDaXrzlCYMyDWfoUvca22SlAIgM80Kbxf3+XZ9FCDQsivNhBqLYMr9SKY2d7i0lA1+Q90=\n-----END CERTIFICATE REQUEST-----\n`,
).toString('base64')
const signing = (signerName: string) =>
  requestOf(
    'CREATE',
    signingKind,
    { metadata: { name: 'r' }, spec: { signerName, request: signingRequest } },
    { user },
  )
const certificate = (changes: Loose = {}) =>
  requestOf(
    'CREATE',
    certificateKind,
    {
      metadata: { name: 'r' },
      spec: {
        nodeName: 'n1',
        nodeUID: 'n1-uid',
        podName: 'p',
        podUID: 'p-uid',
        serviceAccountName: 'bot',
        serviceAccountUID: 'bot-uid',
        signerName: 'example.com/mounted',
        ...changes,
      },
    },
    { user },
  )
const csiStatus = (nodeId: string) => {
  const node = (id: string) => ({ metadata: { name: 'n1' }, spec: { drivers: [{ nodeID: id }] } })
  return requestOf('UPDATE', csiKind, node(nodeId), {
    user,
    subresource: 'status',
    old: node('a') as never,
  })
}
const claimStatus = (allocated: Loose) => {
  const claim = (more: Loose) => ({ metadata: { name: 'c' }, spec: {}, status: more })
  return requestOf('UPDATE', claimKind, claim({ allocatedResources: allocated }), {
    user,
    subresource: 'status',
    old: claim({}) as never,
  })
}
const ownedNode = requestOf(
  'UPDATE',
  nodeKind,
  { metadata: { name: 'n1', ownerReferences: [owner] } },
  { user, old: { metadata: { name: 'n1' } } as never },
)

const noPod = '403 pods "p" is forbidden: node "n1" '
const reference = (what: string) => `${noPod}can not create pods that reference ${what}`
const noToken = '403 serviceaccounts "bot" is forbidden: '
const unknownAudience = 'audience "other" not found in pod spec volume'
const noSlice = '403 resourceslices.resource.k8s.io "s" is forbidden: can only '
const sameNode = 'ResourceSlice with the same NodeName as the requesting node'
const noCertificate = '403 podcertificaterequests.certificates.k8s.io "r" is forbidden: '
const wrongName =
  '403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: can only create a node CSR with CN=system:node:n1'
const noCsi = '403 csinodes.storage.k8s.io "n1" is forbidden: '
const all = () => true

type Answers = [release: number, expected: RegExp | string][]
const rows: [what: string, request: AdmissionRequest, gate: (name: string) => boolean, Answers][] =
  [
    [
      'a mirror pod with a trust bundle',
      mirror({ volumes: [{ projected: { sources: [{ clusterTrustBundle: {} }] } }] }),
      all,
      [
        [28, 'admitted'],
        [29, reference('clustertrustbundles')],
      ],
    ],
    [
      'a mirror pod with a device',
      mirror({ resourceClaims: [{ name: 'd' }] }),
      all,
      [
        [31, 'admitted'],
        [32, reference('resourceclaims')],
      ],
    ],
    [
      'a mirror pod with an account',
      mirror({ serviceAccountName: 'bot' }),
      all,
      [
        [33, reference('a service account')],
        [34, reference('serviceaccounts')],
      ],
    ],
    [
      'a mirror pod with a volume of a driver',
      mirror({ volumes: [{ csi: { driver: 'd' } }] }),
      all,
      [
        [33, 'admitted'],
        [34, reference('csidrivers (via CSI volumes)')],
      ],
    ],
    [
      'a mirror pod with a volume of its own',
      mirror({ volumes: [{ emptyDir: {} }, { projected: { sources: [{ downwardAPI: {} }] } }] }),
      all,
      [[37, 'admitted']],
    ],
    [
      'devices in the status of a pod',
      status({ resourceClaimStatuses: [{ name: 'd' }] }),
      all,
      [[37, `${noPod}cannot update resource claim statues`]],
    ],
    [
      'extended devices in the status of a pod',
      status({ extendedResourceClaimStatus: { resourceClaimName: 'c' } }),
      all,
      [[37, `${noPod}cannot update extended resource claim status`]],
    ],
    [
      'owners of its Node',
      ownedNode,
      all,
      [
        [30, 'admitted'],
        [31, '403 nodes "n1" is forbidden: node "n1" is not allowed to modify ownerReferences'],
      ],
    ],
    ['its own slice', slice('CREATE', 'n1'), all, [[37, 'admitted']]],
    [
      'the slice of another node',
      slice('CREATE', 'n2'),
      all,
      [[37, `${noSlice}create ${sameNode}`]],
    ],
    [
      'the deletion of the slice of another node',
      slice('DELETE', 'n2'),
      all,
      [
        [30, 'admitted'],
        [31, `${noSlice}delete ${sameNode}`],
      ],
    ],
    [
      'a certificate of another name',
      signing('kubernetes.io/kubelet-serving'),
      () => false,
      [
        [30, 'admitted'],
        [31, wrongName],
      ],
    ],
    [
      'a certificate of another name where a gate allows it',
      signing('kubernetes.io/kubelet-serving'),
      all,
      [[31, 'admitted']],
    ],
    ['a certificate of another signer', signing('example.com/x'), () => false, [[31, 'admitted']]],
    ['a token for a mounted audience', token(['mounted']), all, [[32, 'admitted']]],
    ['a token for an audience of a driver', token(['driven']), all, [[32, 'admitted']]],
    ['a token for an audience of a migrated volume', token(['claimed']), all, [[32, 'admitted']]],
    [
      'a token for an audience that a right allows',
      token(['vault']),
      all,
      [
        [32, `${noToken}audience "vault" not found in pod spec volume`],
        [33, 'admitted'],
      ],
    ],
    [
      'a token for another audience',
      token(['other']),
      all,
      [
        [32, `${noToken}${unknownAudience}`],
        [
          36,
          `${noToken}${unknownAudience}, system:node:n1 is not authorized to request tokens for this audience`,
        ],
        [37, `${noToken}system:node:n1 is not authorized to request tokens for audience "other"`],
      ],
    ],
    [
      'a token for another audience without the gate',
      token(['other']),
      () => false,
      [[32, 'admitted']],
    ],
    [
      'a token for two audiences',
      token(['a', 'b']),
      all,
      [[37, `${noToken}node may only request 0 or 1 audiences`]],
    ],
    [
      'a token for a pod whose driver is unknown',
      token(['other'], 'lost'),
      all,
      [
        [
          37,
          `${noToken}error validating audience "other": csidriver.storage.k8s.io "gone.example.com" not found`,
        ],
      ],
    ],
    ['a certificate for its pod', certificate(), all, [[37, 'admitted']]],
    [
      'a certificate without the gate',
      certificate(),
      () => false,
      [[37, `${noCertificate}PodCertificateRequest feature gate is disabled`]],
    ],
    [
      'a certificate for a pod elsewhere',
      certificate({ podName: 'far', podUID: 'far-uid' }),
      all,
      [
        [
          37,
          `${noCertificate}pod "ns/far" is not running on node "n1" named in the PodCertificateRequest`,
        ],
      ],
    ],
    [
      'a certificate for a pod that is not there',
      certificate({ podName: 'no' }),
      all,
      [
        [
          37,
          '500 while retrieving pod "ns/no" named in the PodCertificateRequest: pod "no" not found',
        ],
      ],
    ],
    [
      'a certificate for another node',
      certificate({ nodeName: 'n2' }),
      all,
      [
        [
          37,
          `${noCertificate}PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"`,
        ],
      ],
    ],
    [
      'a certificate for an account that was made again',
      certificate({ serviceAccountUID: 'old' }),
      all,
      [
        [
          37,
          '500 PodCertificateRequest for pod "ns/p" names service account UID "old", which differs from the running service account ("bot-uid")',
        ],
      ],
    ],
    [
      'a certificate of a signer that the pod does not name',
      certificate({ signerName: 'example.com/other' }),
      all,
      [
        [36, 'admitted'],
        [
          37,
          `${noCertificate}pod "ns/p" does not mount a podCertificate projected volume for signer "example.com/other"`,
        ],
      ],
    ],
    [
      'a certificate of a signer that a right allows',
      certificate({ signerName: 'example.com/allowed' }),
      all,
      [[37, 'admitted']],
    ],
    [
      'the status of its CSINode without the gate',
      csiStatus('a'),
      () => false,
      [[37, `${noCsi}CSIVolumeHealth feature gate is disabled`]],
    ],
    ['the status of its CSINode', csiStatus('a'), all, [[37, 'admitted']]],
    [
      'the spec of its CSINode with the status',
      csiStatus('b'),
      all,
      [[37, `${noCsi}node "n1" is not allowed to modify CSINode spec via status`]],
    ],
    [
      'what a claim was allocated',
      claimStatus({ storage: '1Gi' }),
      () => false,
      [
        [29, /fields other than status\.capacity and status\.conditions/],
        [30, /fields other than status\.quantity and status\.conditions/],
      ],
    ],
    [
      'what a claim was allocated with the gate',
      claimStatus({ storage: '1Gi' }),
      all,
      [[32, 'admitted']],
    ],
  ]
for (const [what, request, feature, answers] of rows)
  for (const [release, expected] of answers)
    test(`${what} as 1.${release}: ${expected}`, async () => {
      const plugin = nodeRestriction({ authorizer, feature, release: releaseOf(release) })
      const answer = await outcome(plugin, request, reader)
      if (typeof expected === 'string') assert.equal(answer, expected)
      else assert.match(answer, expected)
    })
