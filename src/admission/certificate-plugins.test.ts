/** Nobody gets a client certificate of the group that may do everything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { certificateSubjectRestriction } from './certificate-plugins.ts'
import { kindOf, outcome, requestOf } from './requests.suite.ts'

const pem = (der: string) =>
  Buffer.from(
    `-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`,
  ).toString('base64')
/** `/O=system:masters/CN=u` */
const master = pem(
  'MIHgMIGHAgEAMCUxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQowCAYDVQQDDAF1MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEF6PW95amcfE6JMOgi2YOpWHOEkVtOFvtw6Sfkpkh7hqmopcQ39aCH74giJuOLRGIYUmRysQSeKW65WSqfUbtB6AAMAoGCCqGSM49BAMCA0gAMEUCIF01KQA8GQVV1MTYFUYRtRYriLVFCjJv70EkdZgQ94OlAiEAsnPFvUY2O93x90BwzVBZRJnoW+bahEn29rET/MwyUa8=',
)
/** The same, with the letters of the organisation in two bytes each. */
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
    'what is no request',
    'CREATE',
    client,
    'eA==',
    `${refused}failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`,
  ],
]
for (const [title, operation, signerName, request, expected] of cases) {
  test(`${title}: ${expected}`, async () => {
    const object = { metadata: { name: 'c' }, spec: { signerName, request } }
    const asked = requestOf(operation, kind, object, operation === 'UPDATE' ? { old: object } : {})
    assert.equal(await outcome(certificateSubjectRestriction, asked, new MemoryReader()), expected)
  })
}
