import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import * as der from '#base/der.ts'
import { contextFor, linesOf, named } from '#kinds/behaviour/behaviour.suite.ts'
import { certificateProblem, certificateRequestProblem } from './certificate-request.ts'
import { certificateSigningRequest } from './certificate-signing-request.ts'
import { defaultSigner, requestNames } from './kubelet-request.ts'
import { decodePem } from './pem.ts'
import { checkSignerName } from './signer-name.ts'
import { FieldPath } from '#api/field-path.ts'

const attribute = (oid: string, text: string) =>
  der.set(der.sequence(der.oid(oid), der.utf8String(text)))

/** A PEM request for a subject, with DNS names, signed with its own key. */
function pemRequest(organization: string, commonName: string, dnsNames: string[] = []): Buffer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = der.sequence(...dnsNames.map((name) => der.tagged(0x82, Buffer.from(name))))
  const extension = der.sequence(der.oid('2.5.29.17'), der.octetString(names))
  const wanted = der.sequence(der.oid('1.2.840.113549.1.9.14'), der.set(der.sequence(extension)))
  const info = der.sequence(
    der.integer(0),
    der.sequence(attribute('2.5.4.10', organization), attribute('2.5.4.3', commonName)),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.tagged(0xa0, ...(dnsNames.length > 0 ? [wanted] : [])),
  )
  return asPem(info, privateKey)
}

function asPem(info: Buffer, key: KeyObject): Buffer {
  const signature = der.bitString(sign('sha256', info, key))
  const request = der.sequence(info, der.sequence(der.oid('1.2.840.10045.4.3.2')), signature)
  const body = request.toString('base64').replace(/.{64}/g, '$&\n')
  return Buffer.from(
    `text\n-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`,
  )
}

const node = pemRequest('system:nodes', 'system:node:a')
const served = pemRequest('system:nodes', 'system:node:a', ['a.b'])

test('a request is signed with the key it is for', () => {
  assert.equal(certificateRequestProblem(node), undefined)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const block = decodePem(node)
  const info = der.valuesIn(der.valuesIn(block?.bytes as Buffer)?.[0]?.contents as Buffer)?.[0]
  assert.ok(createPublicKey(privateKey))
  assert.equal(
    certificateRequestProblem(asPem(info?.whole as Buffer, privateKey)),
    'x509: ECDSA verification failure',
  )
})

const broken: [string, string][] = [
  ['', 'PEM block type must be CERTIFICATE REQUEST'],
  ['-----BEGIN X-----\nAAAA\n-----END X-----\n', 'PEM block type must be CERTIFICATE REQUEST'],
  [
    '-----BEGIN CERTIFICATE REQUEST-----\n!\n-----END CERTIFICATE REQUEST-----',
    'PEM block type must be CERTIFICATE REQUEST',
  ],
  [
    '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----',
    "asn1: structure error: tags don't match or data is truncated",
  ],
]
for (const [text, problem] of broken) {
  test(`${JSON.stringify(text)} is no request`, () => {
    assert.equal(certificateRequestProblem(Buffer.from(text)), problem)
  })
}

test('issued certificates are PEM blocks without headers', () => {
  assert.equal(certificateProblem(Buffer.from('')), undefined)
  assert.equal(
    certificateProblem(Buffer.from('x')),
    'must contain at least one CERTIFICATE PEM block',
  )
  const key = Buffer.from('-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n')
  assert.equal(certificateProblem(key), 'only CERTIFICATE PEM blocks are allowed, found "KEY"')
  const headed = Buffer.from(
    '-----BEGIN CERTIFICATE-----\nA: b\n\nAAAA\n-----END CERTIFICATE-----\n',
  )
  assert.equal(certificateProblem(headed), 'no PEM block headers are permitted')
})

test('the names a request asks for', () => {
  const names = requestNames(served)
  assert.deepEqual(names?.organizations, ['system:nodes'])
  assert.equal(names?.commonName, 'system:node:a')
  assert.equal(names?.dnsNames, 1)
})

const signers: [Buffer, string[], string][] = [
  [
    node,
    ['digital signature', 'key encipherment', 'client auth'],
    'kubernetes.io/kube-apiserver-client-kubelet',
  ],
  [
    served,
    ['digital signature', 'key encipherment', 'server auth'],
    'kubernetes.io/kubelet-serving',
  ],
  [
    served,
    ['digital signature', 'key encipherment', 'client auth'],
    'kubernetes.io/legacy-unknown',
  ],
  [pemRequest('x', 'y'), ['client auth'], 'kubernetes.io/legacy-unknown'],
  [Buffer.from('x'), [], 'kubernetes.io/legacy-unknown'],
]
for (const [request, usages, signer] of signers) {
  test(`${usages} is signed by ${signer}`, () => {
    assert.equal(defaultSigner(request.toString('base64'), usages), signer)
  })
}

test('signers are a domain and a path', () => {
  const lines = (name: string) => linesOf(checkSignerName(name, FieldPath.of('x')))
  assert.deepEqual(lines('a.b/c.d'), [])
  assert.deepEqual(lines('a'), [
    'x: Invalid value: "a": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
  ])
  assert.deepEqual(lines('a/b'), [
    'x: Invalid value: "a": should be a domain with at least two segments separated by dots',
  ])
})

const stable = contextFor({ requestApiVersion: 'certificates.k8s.io/v1' })
const beta = contextFor({ requestApiVersion: 'certificates.k8s.io/v1beta1' })
const csr = (spec: Loose = {}, status: Loose = {}): KubeObject =>
  named({
    spec: {
      request: node.toString('base64'),
      signerName: 'a.b/c',
      usages: ['any'],
      ...spec,
    },
    status,
  })
const create = (object: KubeObject, context = stable) =>
  linesOf(certificateSigningRequest.validateCreate?.(object, context) ?? [])

test('usages are known and told once, except to the beta', () => {
  const twice = csr({ usages: ['any', 'any', 'odd'], signerName: 'kubernetes.io/legacy-unknown' })
  const [unknown, again, signer] = create(twice)
  assert.match(
    unknown ?? '',
    /^spec.usages\[2\]: Unsupported value: "odd": supported values: "any", "cert sign"/,
  )
  assert.equal(again, 'spec.usages[1]: Duplicate value: "any"')
  assert.match(signer ?? '', /the legacy signerName is not allowed via this API version$/)
  assert.deepEqual(create(twice, beta), [])
})

test('who asks is what the server knows', () => {
  const object = csr({ username: 'forged', extra: { a: ['b'] }, expirationSeconds: 600 })
  const user = { name: 'u', uid: '1', groups: ['g'], extra: {} }
  certificateSigningRequest.prepareForCreate?.(object, { ...stable, user })
  assert.equal(object.spec.username, 'u')
  assert.deepEqual(object.spec.groups, ['g'])
  assert.equal(object.spec.extra, undefined)
  assert.equal(object.spec.expirationSeconds, undefined)
})

const approved = { type: 'Approved', status: 'True' }
const update = (sub: 'status' | 'approval', next: Loose, old: Loose) => {
  const object = csr({}, next)
  const before = csr({}, old)
  const rules = certificateSigningRequest.subresources?.[sub]
  rules?.prepareForUpdate?.(object, before, stable)
  return { object, lines: linesOf(rules?.validateUpdate?.(object, before, stable) ?? []) }
}

test('approval approves, once and for all, and dates it', () => {
  const { object, lines } = update('approval', { conditions: [approved] }, {})
  assert.deepEqual(lines, [])
  assert.equal(object.status.conditions[0].lastUpdateTime, stable.now)
  assert.equal(object.status.conditions[0].lastTransitionTime, stable.now)
  assert.deepEqual(update('approval', { conditions: [] }, { conditions: [approved] }).lines, [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ])
  assert.deepEqual(
    update('approval', { conditions: [approved, { type: 'Denied', status: 'True' }] }, {}).lines,
    [
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ],
  )
})

test('status does not approve', () => {
  assert.deepEqual(update('status', { conditions: [approved] }, {}).lines, [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ])
  const kept = update(
    'status',
    { conditions: [{ ...approved, message: 'x' }] },
    { conditions: [approved] },
  )
  assert.deepEqual(kept.lines, [])
  assert.equal(kept.object.status.conditions[0].message, undefined)
})

test('requests are selected by signer', () => {
  assert.deepEqual(certificateSigningRequest.selectableFields?.(csr()), {
    'spec.signerName': 'a.b/c',
  })
})
