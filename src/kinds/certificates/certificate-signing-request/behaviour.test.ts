import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import * as der from '#base/der.ts'
import { contextFor, linesOf, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { certificateRequestProblem } from './certificate-request.ts'
import { certificateSigningRequestBehaviour } from './behaviour.ts'
import { certificateProblem } from './issued-certificate.ts'
import { defaultSigner, requestNames } from './kubelet-request.ts'
import { decodePem } from './pem.ts'
import { checkSignerName } from './signer-name.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { FieldPath } from '#api/field-path.ts'

const attribute = (oid: string, text: string) =>
  der.set(der.sequence(der.oid(oid), der.utf8String(text)))
const subjectOf = (...values: Buffer[]) =>
  asPem(
    der.sequence(
      der.integer(0),
      der.sequence(...values.map((value) => der.set(der.sequence(der.oid('2.5.4.10'), value)))),
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
        type: 'spki',
        format: 'der',
      }),
      der.tagged(0xa0),
    ),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  )

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

test('the signature must match the public key in the request', () => {
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
    "asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false}) " +
      '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> ' +
      'stringType:0 timeType:0 set:false omitEmpty:false} certificateRequest @2',
  ],
]
for (const [text, problem] of broken) {
  test(`${JSON.stringify(text)} is no request`, () => {
    assert.equal(certificateRequestProblem(Buffer.from(text)), problem)
  })
}

const inPem = (type: string, bytes: Buffer): Buffer =>
  Buffer.from(`-----BEGIN ${type}-----\n${bytes.toString('base64')}\n-----END ${type}-----\n`)
const withByte = (bytes: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at] = value
  return copy
}

/**
 * The header bytes of a complete request: 30 82 xx xx, 30 81 xx with the information, 02 01 00, 30
 * xx with the subject.
 */
const whole = decodePem(node)?.bytes as Buffer
const keyAt = whole.indexOf(Buffer.from('301306072a8648ce3d0201', 'hex'))

const damaged: [what: string, damage: (request: Buffer) => Buffer, words: string | RegExp][] = [
  ['nothing', () => Buffer.alloc(0), 'asn1: syntax error: sequence truncated'],
  ['a tag', (r) => r.subarray(0, 1), 'asn1: syntax error: truncated tag or length'],
  ['half of it', (r) => r.subarray(0, r.length >> 1), 'asn1: syntax error: data truncated'],
  ['it and more', (r) => Buffer.concat([r, Buffer.of(0)]), 'asn1: syntax error: trailing data'],
  ['a set', (r) => withByte(r, 0, 0x31), /tags don't match \(16 vs \{class:0 tag:17 .* @/],
  [
    'a length without end',
    (r) => withByte(r, 1, 0x80),
    'asn1: syntax error: indefinite length found (not DER)',
  ],
  ['a length of five bytes', (r) => withByte(r, 1, 0x85), /structure error: length too large$/],
  [
    'a length with zeros in front',
    () => Buffer.of(0x30, 0x82, 0, 1),
    'asn1: structure error: superfluous leading zeros in length',
  ],
  [
    'a long word for a short length',
    () => Buffer.of(0x30, 0x81, 1, 0),
    'asn1: structure error: non-minimal length',
  ],
  ['a text for a version', (r) => withByte(r, r.indexOf('020100', 'hex'), 0x0c), / int @2$/],
  [
    'no bytes of a version',
    () => der.sequence(der.sequence(Buffer.of(2, 0))),
    'asn1: structure error: empty integer',
  ],
  ['no key', () => der.sequence(der.sequence(der.integer(0))), /: sequence truncated$/],
  [
    'a key of another algorithm',
    (r) => withByte(r, keyAt + 10, 0x09),
    'x509: cannot verify signature: algorithm unimplemented',
  ],
  ['an unknown curve', (r) => withByte(r, keyAt + 20, 0x09), 'x509: unsupported elliptic curve'],
  [
    'a compressed point',
    (r) => withByte(r, keyAt + 24, 0x02),
    'ecdsa: invalid uncompressed public key',
  ],
  [
    'a point elsewhere',
    (r) => withByte(r, keyAt + 60, 0x5a ^ (r[keyAt + 60] as number)),
    'P256 point not on curve',
  ],
  [
    'an invalid set in the subject',
    (r) => withByte(r, r.indexOf('31', 'hex'), 0x30),
    'asn1: structure error: sequence tag mismatch',
  ],
  [
    'a name that is not UTF-8',
    (r) => withByte(r, r.indexOf('system:nodes'), 0xff),
    'asn1: invalid UTF-8 string',
  ],
  [
    'another name',
    (r) => withByte(r, r.indexOf('system:nodes'), 0x41),
    'x509: ECDSA verification failure',
  ],
]
for (const [what, damage, words] of damaged) {
  test(`a request of ${what} is refused in Go's words`, () => {
    const problem = certificateRequestProblem(inPem('CERTIFICATE REQUEST', damage(whole))) ?? ''
    if (typeof words === 'string') assert.equal(problem, words)
    else assert.match(problem, words)
  })
}

const algorithm = der.sequence(der.oid('1.2.840.10045.4.3.2'))
const name = der.sequence(attribute('2.5.4.3', 'a'))
const moment = der.time(0)
const key = decodeKey(node)
const san = (list: Buffer) =>
  der.tagged(0xa3, der.sequence(der.sequence(der.oid('2.5.29.17'), der.octetString(list))))
const signed = (...body: Buffer[]) =>
  der.sequence(der.sequence(...body), algorithm, der.bitString(Buffer.of(1)))
const version = (number: number) => der.tagged(0xa0, der.integer(number))

function decodeKey(pem: Buffer): Buffer {
  const request = der.valuesIn(decodePem(pem)?.bytes as Buffer)?.[0]?.contents as Buffer
  const info = der.valuesIn(request)?.[0]?.contents as Buffer
  return der.valuesIn(info)?.[2]?.whole as Buffer
}

const validity = der.sequence(moment, moment)
const issued: [what: string, certificate: Buffer, words: string | undefined][] = [
  ['all it has', signed(der.integer(1), algorithm, name, validity, name, key), undefined],
  ['a zero', Buffer.of(0), 'malformed certificate'],
  ['an empty sequence', der.sequence(), 'malformed tbs certificate'],
  ['a version of text', signed(der.tagged(0xa0, name)), 'malformed version'],
  ['a late version', signed(version(3)), 'invalid version'],
  ['no serial number', signed(version(2), name), 'malformed serial number'],
  ['no algorithm', signed(der.integer(1)), 'malformed signature algorithm identifier'],
  [
    'two algorithms',
    signed(der.integer(1), der.sequence(der.oid('1.2.3'))),
    "inner and outer signature algorithm identifiers don't match",
  ],
  ['no issuer', signed(der.integer(1), algorithm), 'malformed issuer'],
  [
    'an issuer of numbers',
    signed(der.integer(1), algorithm, der.sequence(der.integer(1))),
    'invalid RDNSequence',
  ],
  ['no validity', signed(der.integer(1), algorithm, name), 'malformed validity'],
  [
    'a validity of names',
    signed(der.integer(1), algorithm, name, der.sequence(name)),
    'unsupported time format',
  ],
  [
    'a thirteenth month',
    signed(
      der.integer(1),
      algorithm,
      name,
      der.sequence(der.tagged(0x17, Buffer.from('701301000000Z'))),
    ),
    'malformed UTCTime',
  ],
  ['no key', signed(der.integer(1), algorithm, name, validity, name), 'malformed spki'],
  [
    'a name that is not a list',
    signed(version(2), der.integer(1), algorithm, name, validity, name, key, san(der.integer(1))),
    'invalid subject alternative names',
  ],
  [
    'a long address',
    signed(
      version(2),
      der.integer(1),
      algorithm,
      name,
      validity,
      name,
      key,
      san(der.sequence(der.tagged(0x87, Buffer.alloc(5)))),
    ),
    'cannot parse IP address of length 5',
  ],
]
for (const [what, certificate, words] of issued) {
  test(`an issued certificate of ${what}`, () => {
    const problem = certificateProblem(inPem('CERTIFICATE', certificate))
    assert.equal(problem, words === undefined ? undefined : `x509: ${words}`)
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

test('the names in a request', () => {
  const names = requestNames(served)
  assert.deepEqual(names?.organizations, ['system:nodes'])
  assert.equal(names?.commonName, 'system:node:a')
  assert.equal(names?.dnsNames, 1)
})

test('names are decoded by their string type, like those of the certificate', () => {
  const wide = Buffer.from('system:masters', 'utf16le').swap16()
  const request = subjectOf(
    der.tagged(0x1e, wide),
    der.tagged(0x14, Buffer.from('\xe9', 'latin1')),
    der.octetString(Buffer.from('no text')),
  )
  assert.deepEqual(requestNames(request)?.organizations, ['system:masters', 'é'])
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

test('a signer name is a domain and a path', () => {
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
  linesOf(certificateSigningRequestBehaviour.validateCreate?.(object, context) ?? [])

test('usages must be known and unique, except in v1beta1', () => {
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

test('the server sets the requester', () => {
  const object = csr({ username: 'forged', extra: { a: ['b'] }, expirationSeconds: 600 })
  const user = { name: 'u', uid: '1', groups: ['g'], extra: {} }
  certificateSigningRequestBehaviour.prepareForCreate?.(object, { ...stable, user })
  assert.equal(object.spec.username, 'u')
  assert.deepEqual(object.spec.groups, ['g'])
  assert.equal(object.spec.extra, undefined)
  assert.equal(object.spec.expirationSeconds, undefined)
})

const approved = { type: 'Approved', status: 'True' }
const update = (sub: 'status' | 'approval', next: Loose, old: Loose) => {
  const object = csr({}, next)
  const before = csr({}, old)
  const rules = certificateSigningRequestBehaviour.subresources?.[sub]
  rules?.prepareForUpdate?.(object, before, stable)
  return { object, lines: linesOf(rules?.validateUpdate?.(object, before, stable) ?? []) }
}

test('an approval is permanent and has a date', () => {
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

test('an update of the status cannot approve', () => {
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
  assert.deepEqual(certificateSigningRequestBehaviour.selectableFields?.(csr()), {
    'spec.signerName': 'a.b/c',
  })
})

test('a type of condition appears once, and has a status', () => {
  const failed = { type: 'Failed', status: 'True' }
  assert.deepEqual(update('status', { conditions: [failed, failed] }, {}).lines, [
    'status.conditions[1].type: Duplicate value: "Failed"',
  ])
  assert.deepEqual(update('status', { conditions: [{ type: 'Odd' }] }, {}).lines, [
    'status.conditions[0].status: Required value',
  ])
})

const begins = (count: number) => '-----BEGIN A-----\n'.repeat(count)
const pems: [what: string, text: string, found: boolean][] = [
  ['blanks in its first line', `-----BEGIN A${' '.repeat(200_000)}x\n`, false],
  ['some blocks that are broken before it', begins(50) + node, true],
  ['very many blocks that are broken', `${begins(50_000)}!\n-----END A-----\n`, false],
]
for (const [what, text, found] of pems)
  test(`a request with ${what} is read at once`, () => {
    const took = processorMs(() => assert.equal(decodePem(Buffer.from(text)) !== undefined, found))
    assert.ok(took < 2000, `${took} ms`)
  })
