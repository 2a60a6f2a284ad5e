import assert from 'node:assert/strict'
import { createHash, type X509Certificate } from 'node:crypto'
import { before, test } from 'node:test'
import * as x509 from '@peculiar/x509'
import type { Credentials } from '#access/authenticate.ts'
import {
  authority,
  client,
  clientUsage,
  type Made,
  make,
  serverUsage,
} from '#access/certificates.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { Authorities, certificateBytesMax, readBundle } from './certificate-chain.ts'
import { certificateFields } from './certificate-fields.ts'
import { ClientCertificateAuthenticator } from './client-certificate.ts'

const newest = { release: releaseOf(37), feature: () => true }
const clock = { now: () => Date.now() }
const sent = (certificate: X509Certificate, ...intermediates: X509Certificate[]): Credentials => ({
  headers: {},
  token: undefined,
  certificate: () => certificate,
  intermediates: () => intermediates,
})

let root: Made
let other: Made
let middle: Made
let method: ClientCertificateAuthenticator
before(async () => {
  root = await authority('root', { keys: 'rsa' })
  other = await authority('second')
  middle = await authority('middle', { issuer: root })
  method = methodOf(root, other)
})

const methodOf = (...roots: Made[]) =>
  new ClientCertificateAuthenticator(
    new Authorities(roots.map(({ certificate }) => certificate)),
    clock,
    newest,
  )

/** The user, or the reason of the rejection. */
function outcome(made: Made, ...between: Made[]): string {
  const verdict = method.authenticate(
    sent(made.certificate, ...between.map(({ certificate }) => certificate)),
  )
  if (verdict === undefined || verdict instanceof Promise) return 'not recognised'
  return 'user' in verdict
    ? `${verdict.user.name} [${verdict.user.groups.join('|')}]`
    : verdict.refused.replace(/^verifying certificate SN=\w+ failed: /, '')
}

test('the common name is the user, organizations are groups', async () => {
  assert.equal(outcome(await client(root, 'alice', ['dev', 'ops'])), 'alice [dev|ops]')
  assert.equal(outcome(await client(other, 'bob', [])), 'bob []')
})

test('without a certificate the method does not apply', () => {
  const nothing = { headers: {}, token: undefined, certificate: undefined }
  assert.equal(method.authenticate(nothing), undefined)
})

test('a certificate without a name has no user', async () => {
  const made = await make({ subject: [{ O: ['dev'] }], issuer: root, usages: [clientUsage] })
  assert.equal(outcome(made), 'not recognised')
})

test('names are read from the DER bytes, so nothing in them is syntax', async () => {
  const odd = ['x\nCN=admin', 'a+CN=b', 'a, O=system:masters', 'back\\slash', 'ünï✓', '"q"']
  for (const text of odd) {
    const made = await make({
      subject: [{ CN: ['alice'] }, { O: [{ utf8String: text } as never] }],
      issuer: root,
    })
    assert.equal(outcome(made), `alice [${text}]`)
  }
})

test('of several names, also in one set, the last is used', async () => {
  const made = await make({
    subject: [{ CN: ['first'], O: ['a', 'b'] }, { CN: ['last'] }],
    issuer: root,
  })
  assert.match(outcome(made), /^last \[(a\|b|b\|a)\]$/)
})

const uid = (...texts: string[]) => ({
  '1.3.6.1.4.1.57683.2': texts.map((text) => ({ utf8String: text })) as never,
})
const uids: [release: number, hasGate: boolean, given: string[], expected: string][] = [
  [31, true, ['u1'], 'u1, no id'],
  [32, false, ['u1', 'u2'], ', an id'],
  [33, true, ['u1'], 'u1, an id'],
  [37, true, [], ', an id'],
  [37, true, ['u1', 'u2'], 'expected 1 UID, but found multiple: [u1 u2]'],
  [37, true, [''], 'UID cannot be an empty string'],
]
for (const [release, hasGate, given, expected] of uids)
  test(`the uids ${given.join(' and ')} as 1.${release}, gate ${hasGate}`, async () => {
    const subject = [{ CN: ['alice'] }, ...given.map((one) => uid(one))]
    const { certificate } = await make({ subject, issuer: root, usages: [clientUsage] })
    const options = { release: releaseOf(release), feature: () => hasGate }
    const roots = new Authorities([root.certificate])
    const verdict = new ClientCertificateAuthenticator(roots, clock, options).authenticate(
      sent(certificate),
    )
    assert.ok(verdict !== undefined && !(verdict instanceof Promise))
    if (!('user' in verdict)) return assert.equal(verdict.refused, expected)
    const digest = createHash('sha256').update(certificate.raw).digest('hex')
    const id = verdict.user.extra['authentication.kubernetes.io/credential-id']
    if (id !== undefined) assert.deepEqual(id, [`X509SHA256=${digest}`])
    assert.equal(`${verdict.user.uid}, ${id === undefined ? 'no' : 'an'} id`, expected)
  })

test('an intermediate authority', async () => {
  const made = await client(middle, 'alice', ['dev'])
  assert.equal(outcome(made, middle), 'alice [dev]')
  assert.equal(
    outcome(await client(middle, 'bob', [])),
    'x509: certificate signed by unknown authority',
  )
})

/** Certificates have whole seconds and take a while to make, so the times are far apart. */
const past = () => new Date(Date.now() - 60_000)
const future = () => new Date(Date.now() + 60_000)
const refused: [string, () => Promise<Made[]>, string][] = [
  [
    'expired',
    async () => [await client(root, 'a', [], { notAfter: past() })],
    'certificate has expired',
  ],
  [
    'not yet valid',
    async () => [await client(root, 'a', [], { notBefore: future() })],
    'certificate is not yet valid',
  ],
  [
    'for servers only',
    async () => [await client(root, 'a', [], { usages: [serverUsage] })],
    'certificate specifies an incompatible key usage',
  ],
  [
    'of another authority',
    async () => [await client(await authority('root'), 'admin', ['system:masters'])],
    'certificate signed by unknown authority',
  ],
  [
    'signed by itself',
    async () => [await make({ subject: [{ CN: ['admin'] }], usages: [clientUsage] })],
    'certificate signed by unknown authority',
  ],
  [
    'signed by a client',
    async () => {
      const mallory = await client(root, 'mallory', [])
      return [await client(mallory, 'admin', ['system:masters']), mallory]
    },
    'an issuer is not authorized to sign other certificates',
  ],
  [
    'signed by something that denies being an authority',
    async () => {
      const mallory = await client(root, 'mallory', [], { authority: false })
      return [await client(mallory, 'admin', []), mallory]
    },
    'an issuer is not authorized to sign other certificates',
  ],
  [
    'signed by an authority that may not sign certificates',
    async () => {
      const weak = await authority('weak', {
        issuer: root,
        keyUsages: x509.KeyUsageFlags.digitalSignature,
      })
      return [await client(weak, 'admin', []), weak]
    },
    'an issuer is not authorized to sign other certificates',
  ],
  [
    'below an expired authority',
    async () => {
      const old = await authority('old', { issuer: root, notAfter: past() })
      return [await client(old, 'admin', []), old]
    },
    'certificate has expired',
  ],
  [
    'below an authority that may not have authorities below it',
    async () => {
      const last = await authority('last', { issuer: root, pathLength: 0 })
      const below = await authority('below', { issuer: last })
      return [await client(below, 'admin', []), below, last]
    },
    'too many intermediates for path length constraint',
  ],
  [
    'below an authority for servers',
    async () => {
      const servers = await authority('servers', { issuer: root, usages: [serverUsage] })
      return [await client(servers, 'admin', []), servers]
    },
    'certificate specifies an incompatible key usage',
  ],
  [
    'with an unknown critical extension',
    async () => [
      await client(root, 'a', [], {
        extensions: [new x509.Extension('1.2.3.4', true, new Uint8Array([5, 0]))],
      }),
    ],
    'unhandled critical extension',
  ],
  [
    'with a signature that can be forged',
    async () => {
      const weak = await authority('sha1', { keys: 'sha1', issuer: root })
      return [await client(weak, 'admin', []), weak]
    },
    'certificate signed by unknown authority',
  ],
  [
    'with a key that takes long to check',
    async () => {
      const wide = await authority('wide', { keys: 'wide', issuer: root })
      return [await client(wide, 'admin', []), wide]
    },
    'certificate signed by unknown authority',
  ],
  [
    'below a forest of authorities',
    async () => {
      const one = await authority('forest')
      const same = () => authority('forest', { issuer: one, keysOf: one })
      return [
        await client(one, 'admin', []),
        ...(await Promise.all(Array.from({ length: 8 }, same))),
      ]
    },
    'too many signatures to check',
  ],
]
for (const [name, make, why] of refused)
  test(`refused: ${name}`, async () => {
    const [leaf, ...between] = await make()
    assert.equal(outcome(leaf as Made, ...between), `x509: ${why}`)
  })

test("an authority's name and key ID without its key are not trusted", async () => {
  const fake = await authority('root', { keys: 'rsa' })
  assert.match(outcome(await client(fake, 'admin', ['system:masters']), fake), /unknown authority/)
})

test('oversized certificates are rejected before parsing', async () => {
  const big = await make({
    subject: [{ CN: ['a'] }, { O: ['x'.repeat(certificateBytesMax)] }],
    issuer: root,
  })
  assert.match(outcome(big), /malformed certificate: larger than/)
})

test('cyclic chains of authorities are rejected', async () => {
  const a = await authority('a')
  const circle = [a]
  for (let i = 0; i < 12; i++) circle.push(await authority('a', { issuer: a }))
  const leaf = await client(a, 'admin', [])
  assert.match(outcome(leaf, ...circle), /^x509: /)
})

test('a known client is not verified again until its chain expires', async () => {
  let now = Date.now()
  const roots = new Authorities([root.certificate])
  const own = new ClientCertificateAuthenticator(roots, { now: () => now }, newest)
  const made = await client(middle, 'alice', ['dev'])
  const first = own.authenticate(sent(made.certificate, middle.certificate))
  const again = own.authenticate(sent(made.certificate))
  assert.deepEqual(again, first)
  assert.ok(first && again && 'user' in first && 'user' in again)
  assert.equal(first.user, again.user)
  now += 2 * 3_600_000
  assert.match(JSON.stringify(own.authenticate(sent(made.certificate))), /expired/)
})

test('a rejected certificate is verified once per connection for a while', async () => {
  let [now, elapsed, checks] = [Date.now(), 0, 0]
  const roots = new Authorities([root.certificate])
  const clock = { now: () => now, elapsed: () => elapsed }
  const own = new ClientCertificateAuthenticator(roots, clock, newest)
  const early = { notBefore: new Date(now + 60_000) }
  const { certificate } = await client(root, 'alice', [], early)
  const intermediates = () => {
    checks++
    return []
  }
  const ask = () => {
    const verdict = own.authenticate({ ...sent(certificate), intermediates })
    return verdict instanceof Promise || verdict === undefined ? verdict : Object.keys(verdict)
  }
  for (let i = 0; i < 5; i++) assert.deepEqual(ask(), ['refused'])
  assert.equal(checks, 1)
  now += 60_000
  elapsed += 10_000
  assert.deepEqual(ask(), ['user'])
})

test('bundles with several authorities are read, and invalid ones prevent the start', () => {
  assert.equal(readBundle(`${root.pem}\ntext\n${other.pem}`, 'ca.crt').length, 2)
  assert.throws(
    () => readBundle('nothing', 'ca.crt'),
    /does not contain any valid certificates: ca\.crt/,
  )
  const garbled = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
  assert.throws(() => readBundle(`${root.pem}\n${garbled}`, 'ca.crt'), /certificate 2 of ca\.crt/)
})

test('a renewed authority may have several keys under one name', async () => {
  const renewed = await Promise.all(Array.from({ length: 40 }, () => authority('renewed')))
  const made = await client(renewed.at(-1) as Made, 'alice', [])
  const authorities = new Authorities(renewed.map(({ certificate }) => certificate))
  assert.equal(authorities.verify(made.certificate, [], Date.now()).ok, true)
})

test('fields', () => {
  const fields = certificateFields(root.certificate)
  assert.equal(fields.commonName, 'root')
  assert.equal(fields.isAuthority, true)
  assert.equal(fields.pathLengthMax, undefined)
  assert.equal(fields.extendedUsages, undefined)
})
