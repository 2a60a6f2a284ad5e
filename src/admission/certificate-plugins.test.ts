/** A user cannot get a client certificate of the group system:masters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Authorizer } from '#access/authorize.ts'
import { certificateSubjectRestriction, clusterTrustBundleAttest } from './certificate-plugins.ts'
import { catalogOf, kindOf, outcome, requestOf } from './requests.suite.ts'

const pem = (der: string) =>
  Buffer.from(
    `-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`,
  ).toString('base64')
/** `/O=system:masters/CN=u` */
const master = pem(
  'MIHgMIGHAgEAMCUxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQowCAYDVQQDDAF1MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEF6PW95amcfE6JMOgi2YOpWHOEkVtOFvtw6Sfkpkh7hqmopcQ39aCH74giJuOLRGIYUmRysQSeKW65WSqfUbtB6AAMAoGCCqGSM49BAMCA0gAMEUCIF01KQA8GQVV1MTYFUYRtRYriLVFCjJv70EkdZgQ94OlAiEAsnPFvUY2O93x90BwzVBZRJnoW+bahEn29rET/MwyUa8=',
)
/** The same with two bytes per character in the organization. */
const wideMaster = pem(
  'MIHuMIGWAgEAMDQxJTAjBgNVBAoeHABzAHkAcwB0AGUAbQA6AG0AYQBzAHQAZQByAHMxCzAJBgNVBAMeAgB1MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEs0nGLG/Rv70U/FNPLsaWK5NWf1dLVogR3xjgElBBHiaku/W4WMtFwQZixQWW0Ctmr+69xoSoDCtRjyGzLC3ylKAAMAoGCCqGSM49BAMCA0cAMEQCICYCoNC9kjgxmAP7uNmLA9QA9ggMwjvlrLJlWtl7ScdJAiBdSGxtcqUOLubIM6Ae4KTdaZdqMzZBqEQwDq6uC25LKg==',
)
/** `/O=dev/CN=u` */
const developer = pem(
  'MIHUMHwCAQAwGjEMMAoGA1UECgwDZGV2MQowCAYDVQQDDAF1MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqY+QvNq1owFRVHGymlwklz7wH8IZzSwaXpRwTomGnc6DPl6vBLpCqtcWcvvcVMNkePD09T1m5X5ZsGwby565taAAMAoGCCqGSM49BAMCA0gAMEUCIQDzWOPFvyJsuXE/xgpXkApDaXrzlCYMyDWfoUvca22SlAIgM80Kbxf3+XZ9FCDQsivNhBqLYMr9SKY2d7i0lA1+Q90=',
)
const kind = kindOf('certificates.k8s.io/v1', 'certificatesigningrequests')
const client = 'kubernetes.io/kube-apiserver-client'
const refused = '403 certificatesigningrequests.certificates.k8s.io "c" is forbidden: '

const cases: [
  title: string,
  operation: 'CREATE' | 'UPDATE',
  signerName: string,
  request: string,
  expected: string,
][] = [
  [
    'a client of the privileged group',
    'CREATE',
    client,
    master,
    `${refused}use of ${client} signer with system:masters group is not allowed`,
  ],
  [
    'a client of the privileged group, written otherwise',
    'CREATE',
    client,
    wideMaster,
    `${refused}use of ${client} signer with system:masters group is not allowed`,
  ],
  ['a client of another group', 'CREATE', client, developer, 'admitted'],
  ['for another signer', 'CREATE', 'example.com/signer', master, 'admitted'],
  ['one that is there already', 'UPDATE', client, master, 'admitted'],
  [
    'not a certificate request',
    'CREATE',
    client,
    'eA==',
    `${refused}failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`,
  ],
]
for (const [title, operation, signerName, request, expected] of cases) {
  test(`${title}: ${expected}`, async () => {
    const object = { metadata: { name: 'c' }, spec: { signerName, request } }
    const requested = requestOf(
      operation,
      kind,
      object,
      operation === 'UPDATE' ? { old: object } : {},
    )
    assert.equal(
      await outcome(certificateSubjectRestriction, requested, new MemoryReader()),
      expected,
    )
  })
}

const bundles = kindOf('certificates.k8s.io/v1beta1', 'clustertrustbundles', catalogOf(33))
const bundle = (signerName: string, trustBundle = 'a', finalizers: string[] = []) => ({
  metadata: { name: 'b', finalizers },
  spec: { signerName, trustBundle },
})
/** May attest for one signer, and for all signers of a domain. */
const authorizer: Authorizer = {
  name: 'test',
  async authorize({ verb, resource, name }) {
    const allowed = ['example.com/one', 'example.org/*'].includes(name)
    const isMeant = verb === 'attest' && resource === 'signers' && allowed
    return { decision: isMeant ? 'allow' : 'none', reason: '' }
  },
}
const wrongSigner = (signer: string) =>
  `403 clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "${signer}"`
const attests: [what: string, next: object, old: object | undefined, expected: string][] = [
  ['of no signer', bundle(''), undefined, 'admitted'],
  ['of its signer', bundle('example.com/one'), undefined, 'admitted'],
  ['of a signer of its domain', bundle('example.org/any'), undefined, 'admitted'],
  ['of another signer', bundle('example.com/two'), undefined, wrongSigner('example.com/two')],
  [
    'of another signer, changed',
    bundle('example.com/two', 'b'),
    bundle('example.com/two'),
    wrongSigner('example.com/two'),
  ],
  [
    'of another signer, with another finalizer',
    bundle('example.com/two', 'a', ['x']),
    bundle('example.com/two'),
    'admitted',
  ],
]
for (const [what, next, old, expected] of attests)
  test(`a trust bundle ${what}: ${expected}`, async () => {
    const operation = old === undefined ? 'CREATE' : 'UPDATE'
    const requested = requestOf(operation, bundles, next, { old: old as never })
    const plugin = clusterTrustBundleAttest(authorizer)
    assert.equal(await outcome(plugin, requested, new MemoryReader()), expected)
  })
