import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { pem } from '#base/certificate.ts'
import * as der from '#base/der.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { certificateRequests } from '#controllers/resources.ts'
import { certificateApproving } from './approving.ts'
import { certificateUsages } from './certificate-usages.ts'
import { isOver } from './cleaning.ts'
import { certificateSigning } from './signing.ts'

const resource = certificateRequests(22)
const kubeletUsages = ['digital signature', 'key encipherment', 'client auth']

interface Asked {
  readonly organizations?: string[]
  readonly commonName: string
  readonly names?: Buffer[]
  readonly keys?: { privateKey: KeyObject; publicKey: KeyObject }
}

/** A request as a client makes it: names, key, requested extensions, signed. */
function requestPem({ organizations = [], commonName, names = [], keys }: Asked): string {
  const { privateKey, publicKey } = keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const attribute = (type: string, value: string) =>
    der.set(der.sequence(der.oid(type), der.utf8String(value)))
  const extension = der.sequence(der.oid('2.5.29.17'), der.octetString(der.sequence(...names)))
  const attributes =
    names.length === 0
      ? der.tagged(0xa0)
      : der.tagged(
          0xa0,
          der.sequence(der.oid('1.2.840.113549.1.9.14'), der.set(der.sequence(extension))),
        )
  const info = der.sequence(
    der.integer(0),
    der.sequence(
      ...organizations.map((value) => attribute('2.5.4.10', value)),
      attribute('2.5.4.3', commonName),
    ),
    publicKey.export({ type: 'spki', format: 'der' }),
    attributes,
  )
  const algorithm = der.sequence(der.oid('1.2.840.10045.4.3.2'))
  return pem(
    'CERTIFICATE REQUEST',
    der.sequence(info, algorithm, der.bitString(sign('sha256', info, privateKey))),
  )
}

const request = (name: string, signerName: string, usages: string[], text: string): KubeObject => ({
  metadata: { name },
  spec: { signerName, usages, request: Buffer.from(text).toString('base64') },
})

async function approve(client: ApiClient, name: string) {
  const live = await client.get(resource, '', name)
  const status = {
    conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'm' }],
  }
  await client.update(resource, { ...live, status }, 'approval')
}

test('what is approved is signed by the authority, with its subject and names', async () => {
  const cluster = await startCluster()
  try {
    const { client, surroundings } = cluster
    cluster.run(certificateSigning)
    const text = requestPem({
      organizations: ['system:nodes'],
      commonName: 'system:node:n1',
      names: [
        der.tagged(0x82, Buffer.from('n1.example.com')),
        der.tagged(0x87, Buffer.from([10, 0, 0, 1])),
      ],
    })
    const usages = ['digital signature', 'key encipherment', 'server auth']
    await client.create(
      resource,
      '',
      request('serving', 'kubernetes.io/kubelet-serving', usages, text),
    )
    await client.create(resource, '', request('other', 'example.com/mine', usages, text))
    await approve(client, 'other')
    await approve(client, 'serving')
    const issued = async (name: string) =>
      (await client.get(resource, '', name)).status?.certificate
    await until('a certificate', async () => Boolean(await issued('serving')))
    const certificate = new X509Certificate(Buffer.from(await issued('serving'), 'base64'))
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n1')
    assert.equal(certificate.subjectAltName, 'DNS:n1.example.com, IP Address:10.0.0.1')
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    const authority = surroundings.authority?.certificate as X509Certificate
    assert.ok(certificate.checkIssued(authority) && certificate.verify(authority.publicKey))
    assert.equal(await issued('other'), undefined)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('what a signer does not sign fails with the reason', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(certificateSigning)
    const signer = (short: string) => `kubernetes.io/${short}`
    const node = { organizations: ['system:nodes'], commonName: 'system:node:n1' }
    const dns = [der.tagged(0x82, Buffer.from('n'))]
    const cases: [signer: string, usages: string[], asked: Asked, said: string][] = [
      [
        'kube-apiserver-client',
        ['client auth', 'server auth'],
        { commonName: 'x' },
        'invalid usage for client certificate: server auth',
      ],
      [
        'kube-apiserver-client',
        ['key encipherment'],
        { commonName: 'x' },
        'missing required usage for client certificate: client auth',
      ],
      [
        'kube-apiserver-client-kubelet',
        kubeletUsages,
        { commonName: 'system:node:n1' },
        'subject organization is not system:nodes',
      ],
      [
        'kube-apiserver-client-kubelet',
        kubeletUsages,
        { ...node, commonName: 'n1' },
        'subject common name does not begin with system:node:',
      ],
      [
        'kube-apiserver-client-kubelet',
        kubeletUsages,
        { ...node, names: dns },
        'DNS subjectAltNames are not allowed',
      ],
      [
        'kube-apiserver-client-kubelet',
        ['client auth'],
        node,
        'usages did not match [client auth digital signature key encipherment]',
      ],
      ['kubelet-serving', ['server auth'], node, 'DNS or IP subjectAltName is required'],
    ]
    for (const [i, [short, usages, asked, said]] of cases.entries()) {
      const name = `case-${i}`
      await client.create(resource, '', request(name, signer(short), usages, requestPem(asked)))
      await approve(client, name)
      let failed: KubeObject | undefined
      await until(said, async () => {
        failed = (await client.get(resource, '', name)).status.conditions.find(
          (c: KubeObject) => c.type === 'Failed',
        )
        return failed !== undefined
      })
      assert.equal(failed?.reason, 'SignerValidationFailure')
      assert.equal(failed?.message, said)
    }
  } finally {
    await cluster.stop()
  }
})

/**
 * The bits of the key usage as the certificate has them, in hex; undefined without the extension.
 */
function keyUsageOf(certificate: X509Certificate): string | undefined {
  const type = der.oid('2.5.29.15')
  const at = certificate.raw.indexOf(type)
  if (at < 0) return undefined
  // After the type: critical (3 bytes), an octet string, in it the bit string.
  const [bits] = der.valuesIn(certificate.raw.subarray(at + type.length + 5)) ?? []
  const value = bits?.contents ?? certificate.raw.subarray(at + type.length + 7)
  return value.toString('hex')
}

const extended = (last: number) => `1.3.6.1.5.5.7.3.${last}`
const usageCases: [usages: string[], keyUsage: string | undefined, extended: string[]][] = [
  [['client auth'], undefined, [extended(2)]],
  [['digital signature', 'key encipherment', 'client auth'], '05a0', [extended(2)]],
  [['signing', 'server auth'], '0780', [extended(1)]],
  [['client auth', 'server auth', 'key encipherment'], '0520', [extended(1), extended(2)]],
  [['s/mime', 'email protection', 'code signing'], undefined, [extended(3), extended(4)]],
  [['cert sign', 'crl sign', 'key agreement'], '010e', []],
  [['decipher only', 'content commitment'], '074080', []],
  [['netscape sgc', 'any'], undefined, ['2.5.29.37.0', '2.16.840.1.113730.4.1']],
]

test('a certificate may be used for the requested usages, and for nothing else', async () => {
  const cluster = await startCluster({ release: 18 })
  try {
    const { client } = cluster
    cluster.run(certificateSigning)
    const beta = certificateRequests(18)
    for (const [i, [usages, keyUsage, expected]] of usageCases.entries()) {
      const name = `usage-${i}`
      const text = requestPem({ commonName: 'x' })
      await client.create(beta, '', request(name, 'kubernetes.io/legacy-unknown', usages, text))
      const live = await client.get(beta, '', name)
      const status = { conditions: [{ type: 'Approved', reason: 'Test', message: 'm' }] }
      await client.update(beta, { ...live, status }, 'approval')
      const issued = async () => (await client.get(beta, '', name)).status?.certificate
      await until(usages.join(), async () => Boolean(await issued()))
      const certificate = new X509Certificate(Buffer.from(await issued(), 'base64'))
      assert.deepEqual(certificate.keyUsage ?? [], expected, usages.join())
      assert.equal(keyUsageOf(certificate), keyUsage, usages.join())
      assert.equal(certificate.ca, false)
    }
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
  assert.throws(() => certificateUsages(['client auth', 'x']), /unrecognized usage values: \["x"\]/)
})

const dayMs = 24 * 3_600_000
const lifeCases: [what: string, release: number, seconds: number | undefined, lifeMs: number][] = [
  ['as long as it may be', 22, undefined, 365 * dayMs - 5 * 60_000],
  ['a day', 22, 86_400, dayMs - 5 * 60_000],
  ['an hour, which is short', 22, 3600, 3_600_000],
  ['ten minutes at least', 22, 600, 600_000],
  ['longer than it may be', 22, 2 * 365 * 86_400, 365 * dayMs - 5 * 60_000],
]
for (const [what, release, seconds, lifeMs] of lifeCases) {
  test(`the life of a certificate: ${what}`, async () => {
    const cluster = await startCluster({ release })
    try {
      const { client } = cluster
      cluster.run(certificateSigning)
      const text = requestPem({ commonName: 'x' })
      const asked = request('r', 'kubernetes.io/kube-apiserver-client', ['client auth'], text)
      if (seconds !== undefined) asked.spec.expirationSeconds = seconds
      await client.create(resource, '', asked)
      const before = Date.now()
      await approve(client, 'r')
      const issued = async () => (await client.get(resource, '', 'r')).status?.certificate
      await until('a certificate', async () => Boolean(await issued()))
      const certificate = new X509Certificate(Buffer.from(await issued(), 'base64'))
      const difference = Date.parse(certificate.validTo) - before - lifeMs
      assert.ok(difference > -2000 && difference < 10_000, `${difference}`)
    } finally {
      await cluster.stop()
    }
  })
}

test('requests of kubelets are approved if the requester has the right', async () => {
  const allowed = new Set<string>()
  const cluster = await startCluster({
    wrap: (client) =>
      new Proxy(client, {
        get(target, name: keyof ApiClient) {
          const method = (target[name] as (...args: unknown[]) => unknown).bind(target)
          if (name !== 'create') return method
          return async (ref: { plural: string }, namespace: string, object: KubeObject) => {
            if (ref.plural !== 'subjectaccessreviews') return method(ref, namespace, object)
            return { status: { allowed: allowed.has(object.spec.resourceAttributes.subresource) } }
          }
        },
      }),
  })
  try {
    const { client } = cluster
    cluster.run(certificateApproving, certificateSigning)
    const signer = 'kubernetes.io/kube-apiserver-client-kubelet'
    const text = requestPem({ organizations: ['system:nodes'], commonName: 'system:node:n1' })
    await client.create(resource, '', request('refused', signer, kubeletUsages, text))
    allowed.add('nodeclient')
    await client.create(resource, '', request('approved', signer, kubeletUsages, text))
    await client.create(
      resource,
      '',
      request('other', 'kubernetes.io/kube-apiserver-client', ['client auth'], text),
    )
    const status = async (name: string) => (await client.get(resource, '', name)).status ?? {}
    await until('a certificate', async () => Boolean((await status('approved')).certificate))
    const [condition] = (await status('approved')).conditions
    assert.equal(condition.reason, 'AutoApproved')
    assert.equal(
      condition.message,
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    )
    assert.deepEqual(await status('other'), {})
  } finally {
    await cluster.stop()
  }
})

test('requests are kept as long as a client may read them', () => {
  const now = Date.parse('2030-01-02T00:00:00Z')
  const ago = (hours: number) => new Date(now - hours * 3_600_000).toISOString()
  const made = (hours: number, status: object = {}): KubeObject => ({
    metadata: { name: 'x', creationTimestamp: ago(hours) },
    status,
  })
  const condition = (type: string, hours: number) => ({
    conditions: [{ type, lastUpdateTime: ago(hours) }],
  })
  const cases: [string, KubeObject, boolean][] = [
    ['pending for an hour', made(1), false],
    ['pending for more than a day', made(25), true],
    ['denied just now', made(2, condition('Denied', 0.5)), false],
    ['denied long ago', made(2, condition('Denied', 1.5)), true],
    ['failed long ago', made(2, condition('Failed', 1.5)), true],
    ['approved long ago, not issued', made(30, condition('Approved', 29)), false],
    ['issued long ago', made(2, { ...condition('Approved', 1.5), certificate: 'eA==' }), true],
    ['issued just now', made(2, { ...condition('Approved', 0.5), certificate: 'eA==' }), false],
  ]
  for (const [name, object, expected] of cases) assert.equal(isOver(object, now), expected, name)
})
