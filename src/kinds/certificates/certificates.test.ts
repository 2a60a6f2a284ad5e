import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCreate, checkUpdate, contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { certificateSigningRequestBehaviour } from './certificate-signing-request/behaviour.ts'
import { clusterTrustBundleBehaviour } from './cluster-trust-bundle/behaviour.ts'
import { podCertificateRequestBehaviour } from './pod-certificate-request/behaviour.ts'

const bundle = (spec: object, name = 'a') => named({ spec }, { name })
checkCreate(clusterTrustBundleBehaviour, [
  [
    'a bundle without anchors',
    bundle({ trustBundle: 'x' }),
    [
      'spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided',
    ],
  ],
  [
    'blocks that are not certificates',
    bundle({
      trustBundle:
        '-----BEGIN KEY-----\nAA==\n-----END KEY-----\n-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n',
    }),
    [
      'spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: KEY',
      'spec.trustBundle: Invalid value: "<value omitted>": entry 1 does not parse as X.509',
    ],
  ],
])

test('the name of a trust bundle must contain the name of its signer', () => {
  const rule = clusterTrustBundleBehaviour.nameRuleOf?.(
    bundle({ signerName: 'example.com/s' }),
    contextFor({ release: 37 }),
  )
  assert.deepEqual(rule?.('example.com:s:a', false), [])
  assert.deepEqual(rule?.('a', false), [
    'ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
  ])
  assert.deepEqual(
    clusterTrustBundleBehaviour.nameRuleOf?.(bundle({}), contextFor({ release: 37 }))('a:b', false),
    ['ClusterTrustBundle without signer name must not have ":" in its name'],
  )
})

const request = (spec: object, status = {}) =>
  named({
    spec: {
      signerName: 'example.com/s',
      podName: 'p',
      podUID: 'u',
      serviceAccountName: 'default',
      serviceAccountUID: 'u',
      nodeName: 'n',
      nodeUID: 'u',
      maxExpirationSeconds: 3600,
      ...spec,
    },
    status,
  })
checkCreate(podCertificateRequestBehaviour, [
  [
    'no key, and a lifetime that is too short',
    request({ maxExpirationSeconds: 5 }),
    [
      'spec.maxExpirationSeconds: Invalid value: 5: must be in the range [3600, 7862400]',
      'spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set',
    ],
  ],
  [
    'an invalid request',
    request({ stubPKCS10Request: 'eA==', unverifiedUserAnnotations: { a: 'b' } }),
    [
      'spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")',
      'spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR',
    ],
  ],
])
const ended = (type: string) => ({
  conditions: [
    { type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-05-06T07:08:09Z' },
  ],
})
checkUpdate(
  { validateUpdate: podCertificateRequestBehaviour.subresources?.status?.validateUpdate },
  [
    ['a request is denied', request({}), request({}, ended('Denied')), []],
    [
      'what has ended stays',
      request({}, ended('Denied')),
      request({}, ended('Failed')),
      ['status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed'],
    ],
    [
      'nothing but an end changes the status',
      request({}),
      request({}, { certificateChain: 'x' }),
      [
        'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
      ],
    ],
    [
      'an issued certificate has to be there',
      request({}),
      request({}, { ...ended('Issued'), certificateChain: 'x' }),
      [
        'status.certificateChain: Invalid value: "x": issued certificate chain must contain at least one certificate',
      ],
    ],
  ],
)

const unsigned = named({ spec: { request: '', usages: [], signerName: '' } })
checkCreate(certificateSigningRequestBehaviour, [
  [
    '1.25 names what is missing',
    unsigned,
    [
      'spec.request: Invalid value: []byte{}: PEM block type must be CERTIFICATE REQUEST',
      'spec.usages: Required value: usages must be provided',
      'spec.signerName: Required value: signerName must be provided',
    ],
    contextFor({ release: 25 }),
  ],
  [
    '1.26 does not',
    unsigned,
    [
      'spec.request: Invalid value: []byte{}: PEM block type must be CERTIFICATE REQUEST',
      'spec.usages: Required value',
      'spec.signerName: Required value',
    ],
    contextFor({ release: 26 }),
  ],
])
const opposed = (minor: number, field: string): Parameters<typeof checkUpdate>[1][number] => [
  `1.${minor} reports approval and denial at ${field}`,
  named({ spec: {} }),
  named({
    spec: { request: '', usages: ['client auth'], signerName: 'a.b/c' },
    status: {
      conditions: ['Approved', 'Denied'].map((type) => ({ type, status: 'True' })),
    },
  }),
  [
    'spec.request: Invalid value: []byte{}: PEM block type must be CERTIFICATE REQUEST',
    `${field}: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`,
  ],
  contextFor({ release: minor }),
]
checkUpdate(
  { validateUpdate: certificateSigningRequestBehaviour.subresources?.approval?.validateUpdate },
  [opposed(33, 'status.conditions[1].type'), opposed(34, 'status.conditions')],
)
