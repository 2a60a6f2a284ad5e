import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { signToken, tokenKey } from './json-web-token.ts'
import { readPublicKeys, readSigningKey, type SigningKey } from './key-files.ts'
import { openIdDocuments } from './openid-documents.ts'
import { ServiceAccountAuthenticator } from './service-account.ts'
import { TokenMint, warnOnlySeconds } from './service-account-token.ts'

const pem = (key: KeyObject) =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }) as string
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ec384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signing = (pair: { privateKey: KeyObject }) => readSigningKey(pem(pair.privateKey), 'sa.key')

const issuer = 'https://kubernetes.default.svc'
const start = Date.parse('2024-05-01T00:00:00Z')
const account: KubeObject = { metadata: { namespace: 'n', name: 'bot', uid: 'bot-uid' } }

function cluster(lookup = true, minor = 22) {
  const reader = new MemoryReader()
  const clock = { time: start, now: () => clock.time }
  const keys = [rsa, ec, ec384].flatMap(({ publicKey }) => readPublicKeys(pem(publicKey), 'sa.pub'))
  const settings = {
    keys,
    issuers: [issuer, 'https://old'],
    apiAudiences: [issuer],
    lookup,
    release: releaseOf(minor),
    feature: () => minor > 30,
  }
  const method = new ServiceAccountAuthenticator(settings, reader, clock)
  reader.put('', 'serviceaccounts', account)
  const outcome = async (token: string, audiences: readonly string[] = [issuer]) => {
    const verdict = await method.authenticateToken(token, audiences)
    return verdict && ('user' in verdict ? verdict.user.name : verdict.refused)
  }
  return { reader, clock, method, outcome }
}

const keep = (reader: MemoryReader, name: string, token: string, labels = {}): void =>
  reader.put('', 'secrets', {
    metadata: { namespace: 'n', name, uid: `${name}-uid`, labels },
    data: { token: Buffer.from(token).toString('base64') },
  })
const name = 'system:serviceaccount:n:bot'
const request = { account, audiences: [issuer], expirationSeconds: 600, warnAfterSeconds: 0 }
const forged = 'square/go-jose: error in cryptographic primitive'

const decode = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => Buffer.from(part, 'base64url').toString())

test('the claims of a legacy token', () => {
  const [, claims] = decode(new TokenMint(issuer, signing(rsa)).forSecret(account, 'bot-token-x'))
  assert.equal(
    claims,
    '{"iss":"kubernetes/serviceaccount","kubernetes.io/serviceaccount/namespace":"n","kubernetes.io/serviceaccount/secret.name":"bot-token-x","kubernetes.io/serviceaccount/service-account.name":"bot","kubernetes.io/serviceaccount/service-account.uid":"bot-uid","sub":"system:serviceaccount:n:bot"}',
  )
})

test('the claims of a bound token', () => {
  const key = signing(rsa)
  const pod = { metadata: { namespace: 'n', name: 'p', uid: 'p-uid' } }
  const token = new TokenMint(issuer, key).bound({ ...request, pod, warnAfterSeconds: 60 }, start)
  assert.deepEqual(decode(token), [
    `{"alg":"RS256","kid":"${key.id}"}`,
    `{"aud":["${issuer}"],"exp":1714522200,"iat":1714521600,"iss":"${issuer}","kubernetes.io":{"namespace":"n","pod":{"name":"p","uid":"p-uid"},"serviceaccount":{"name":"bot","uid":"bot-uid"},"warnafter":1714521660},"nbf":1714521600,"sub":"${name}"}`,
  ])
})

for (const [kind, pair] of Object.entries({ rsa, ec, ec384 }))
  test(`tokens signed with ${kind} are good, in both kinds`, async () => {
    const { reader, outcome, method } = cluster()
    const mint = new TokenMint(issuer, signing(pair))
    assert.equal(await outcome(mint.bound(request, start)), name)
    const kept = mint.forSecret(account, 's')
    keep(reader, 's', kept)
    assert.equal(await outcome(kept), name)
    const verdict = method.authenticateToken(kept, [issuer])
    assert.ok(!(verdict instanceof Promise), 'a known token needs no waiting')
    assert.deepEqual(verdict, {
      user: {
        name,
        uid: 'bot-uid',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:n'],
        extra: {},
      },
      audiences: [issuer],
      annotations: { 'authentication.k8s.io/legacy-token': name },
    })
  })

test('the pod of a token is part of the user', async () => {
  const { reader, method } = cluster()
  const pod = { metadata: { namespace: 'n', name: 'p', uid: 'p-uid' } }
  reader.put('', 'pods', pod)
  const token = new TokenMint(issuer, signing(rsa)).bound({ ...request, pod }, start)
  const verdict = await method.authenticateToken(token, [])
  assert.ok(verdict && 'user' in verdict)
  assert.deepEqual(verdict.user.extra, {
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': ['p-uid'],
  })
})

test('a second issuer is accepted, tokens of other issuers are ignored', async () => {
  const { outcome } = cluster()
  assert.equal(
    await outcome(new TokenMint('https://old', signing(rsa)).bound(request, start)),
    name,
  )
  assert.equal(
    await outcome(new TokenMint('https://x', signing(rsa)).bound(request, start)),
    undefined,
  )
  for (const junk of [
    '',
    'a',
    'a.b',
    'a.b.c',
    '...',
    'e30.e30.',
    'alice-token',
    `${'.'.repeat(50)}`,
  ])
    assert.equal(await outcome(junk), undefined, junk)
})

test('audiences must match', async () => {
  const { outcome, method } = cluster()
  const token = new TokenMint(issuer, signing(rsa)).bound(
    { ...request, audiences: ['a', 'b'] },
    start,
  )
  assert.equal(
    await outcome(token),
    `token audiences ["a" "b"] is invalid for the target audiences ["${issuer}"]`,
  )
  const requested: [string[], string[]][] = [
    [['b', 'c'], ['b']],
    [
      ['b', 'c', 'a', 'b'],
      ['b', 'a', 'b'],
    ],
  ]
  for (const [audiences, reported] of requested) {
    const verdict = await method.authenticateToken(token, audiences)
    assert.ok(verdict && 'user' in verdict)
    assert.deepEqual(verdict.audiences, reported)
  }
})

test('the time claims of a token', async () => {
  const { clock, outcome } = cluster()
  const token = new TokenMint(issuer, signing(rsa)).bound(request, start)
  const at = async (seconds: number) => {
    clock.time = start + seconds * 1000
    return outcome(token)
  }
  assert.equal(await at(0), name)
  assert.equal(await at(659), name, 'clocks may differ by a minute')
  assert.equal(await at(661), 'Token has expired.')
  assert.equal(await at(-61), 'Token could not be validated.')
  assert.equal(await at(10), name)
  // The time at which it was issued is not checked.
  assert.equal(await outcome(signed({ ...good, iat: start / 1000 + 600 })), name)
})

function signed(claims: Loose, key: SigningKey = signing(rsa)): string {
  return signToken(claims, key.privateKey, key)
}
const good = {
  iss: issuer,
  aud: [issuer],
  sub: name,
  exp: start / 1000 + 600,
  'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'bot', uid: 'bot-uid' } },
}

const noDate = 'square/go-jose/jwt: expected number value to unmarshal NumericDate'
const noAudience = 'square/go-jose/jwt: expected string or array value to unmarshal to Audience'
const part = (value: Loose) => Buffer.from(JSON.stringify(value)).toString('base64url')
const publicPem = pem(rsa.publicKey)
const forgeries: [string, () => string, string | undefined][] = [
  ['of a stranger', () => signed(good, signing(stranger)), forged],
  [
    'of a stranger under our key’s name',
    () => signed(good, { ...signing(stranger), id: signing(rsa).id }),
    forged,
  ],
  ['unsigned', () => `${part({ alg: 'none' })}.${part(good)}.`, forged],
  ['unsigned, oddly spelled', () => `${part({ alg: 'nOnE' })}.${part(good)}.`, forged],
  [
    'signed with the public key as a shared secret',
    () => {
      const text = `${part({ alg: 'HS256' })}.${part(good)}`
      return `${text}.${createHmac('sha256', publicPem).update(text).digest('base64url')}`
    },
    forged,
  ],
  [
    'of one key kind dressed up as the other',
    () => {
      const [, body, tail] = signed(good, signing(ec)).split('.')
      return `${part({ alg: 'RS256' })}.${body}.${tail}`
    },
    forged,
  ],
  [
    'with an empty curve signature',
    () => `${part({ alg: 'ES256' })}.${part(good)}.${'A'.repeat(86)}`,
    forged,
  ],
  [
    'with claims changed after signing',
    () => {
      const [head, , tail] = signed(good).split('.')
      return `${head}.${part({ ...good, sub: 'system:serviceaccount:kube-system:admin' })}.${tail}`
    },
    forged,
  ],
  [
    'insisting on an extension',
    () => {
      const key = signing(rsa)
      const [, body] = signed(good, key).split('.')
      return `${part({ alg: 'RS256', crit: ['x'], x: 1 })}.${body}.AAAA`
    },
    forged,
  ],
  ['that never ends', () => signed({ ...good, exp: undefined }), 'Token has expired.'],
  ['whose end is text', () => signed({ ...good, exp: '9999999999' }), noDate],
  ['whose audience is a number', () => signed({ ...good, aud: 3 }), noAudience],
  ['whose audience is null', () => signed({ ...good, aud: null }), noAudience],
  ['whose end is null', () => signed({ ...good, exp: null }), noDate],
  [
    'of the old kind, whose end is text',
    () => signed({ iss: 'kubernetes/serviceaccount', sub: name, exp: 'x' }),
    noDate,
  ],
  ['whose issuer is a list', () => signed({ ...good, iss: [issuer] }), undefined],
  [
    'for another uid',
    () =>
      signed({
        ...good,
        'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'bot', uid: 'x' } },
      }),
    'ServiceAccount UID (bot-uid) does not match claim (x)',
  ],
  [
    'for an account that is not there',
    () =>
      signed({
        ...good,
        'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'no', uid: 'x' } },
      }),
    'serviceaccounts "no" not found',
  ],
  [
    'of the old kind, without its claims',
    () => signed({ iss: 'kubernetes/serviceaccount', sub: name }),
    'namespace claim is missing',
  ],
  [
    'of the old kind, whose names disagree',
    () => {
      const text = new TokenMint(issuer, signing(rsa))
        .forSecret(account, 's')
        .split('.')[1] as string
      const claims = JSON.parse(Buffer.from(text, 'base64url').toString())
      return signed({ ...claims, sub: 'system:serviceaccount:n:admin' })
    },
    'sub claim is invalid',
  ],
]
for (const [what, make, expected] of forgeries)
  test(`a token ${what} is refused`, async () => {
    const { outcome } = cluster()
    const token = make()
    assert.equal(await outcome(token), expected)
    assert.equal(await outcome(token), expected, 'and the second time, too')
  })

test('a legacy token ends with its Secret or account at once', async () => {
  const { reader, outcome } = cluster()
  const token = new TokenMint(issuer, signing(rsa)).forSecret(account, 's')
  assert.equal(await outcome(token), 'Token has been invalidated')
  keep(reader, 's', token)
  assert.equal(await outcome(token), name)
  keep(reader, 's', 'another')
  assert.equal(await outcome(token), "Token does not match server's copy")
  keep(reader, 's', token)
  assert.equal(await outcome(token), name)
  reader.put('', 'serviceaccounts', { metadata: { ...account.metadata, uid: 'new' } })
  assert.equal(await outcome(token), 'ServiceAccount UID (new) does not match claim (bot-uid)')
  reader.put('', 'serviceaccounts', account)
  assert.equal(await outcome(token), name)
  reader.remove('', 'secrets', 'n', 's')
  assert.equal(await outcome(token), 'Token has been invalidated', 'replayed after its end')
})

checkBoundaries(
  async (release, labels: Record<string, string>) => {
    const { reader, outcome } = cluster(true, release)
    const token = new TokenMint(issuer, signing(rsa)).forSecret(account, 's')
    keep(reader, 's', token, labels)
    return outcome(token)
  },
  [
    [
      'a legacy token whose Secret is labelled as invalid',
      [28, 29],
      { 'kubernetes.io/legacy-token-invalid-since': '2024-01-01' },
      name,
      "the token in secret n/s for service account n/bot has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token",
    ],
    [
      'a legacy token whose Secret has an empty label',
      [28, 29],
      { 'kubernetes.io/legacy-token-invalid-since': '' },
      name,
      name,
    ],
  ],
)

test('without lookup a legacy token stays valid', async () => {
  const { outcome } = cluster(false)
  assert.equal(await outcome(new TokenMint(issuer, signing(rsa)).forSecret(account, 's')), name)
})

test('a bound token ends with its pod, a minute after the grace period', async () => {
  const { reader, clock, outcome } = cluster()
  const pod = { metadata: { namespace: 'n', name: 'p', uid: 'p-uid' } }
  const token = new TokenMint(issuer, signing(rsa)).bound({ ...request, pod }, start)
  assert.equal(await outcome(token), 'Token has been invalidated')
  reader.put('', 'pods', pod)
  assert.equal(await outcome(token), name)
  const deletionTimestamp = new Date(start + 30_000).toISOString()
  reader.put('', 'pods', { metadata: { ...pod.metadata, deletionTimestamp } })
  assert.equal(await outcome(token), name)
  clock.time = start + 91_000
  assert.equal(await outcome(token), 'Token has been invalidated')
  reader.put('', 'pods', { metadata: { ...pod.metadata, uid: 'again' } })
  assert.equal(await outcome(token), 'Pod UID (again) does not match claim (p-uid)')
  reader.remove('', 'pods', 'n', 'p')
  assert.equal(await outcome(token), 'Token has been invalidated')
})

test('a known token is looked up again only after a change', async () => {
  const { reader, outcome } = cluster()
  const token = new TokenMint(issuer, signing(rsa)).bound(request, start)
  await outcome(token)
  const { gets } = reader
  for (let i = 0; i < 5; i++) await outcome(token)
  assert.equal(reader.gets, gets)
  reader.put('', 'serviceaccounts', account)
  await outcome(token)
  assert.ok(reader.gets > gets)
})

test('stale tokens are reported, not rejected', async () => {
  const { clock, method } = cluster()
  const warn = { ...request, expirationSeconds: 10_000, warnAfterSeconds: warnOnlySeconds }
  const token = new TokenMint(issuer, signing(rsa)).bound(warn, start)
  clock.time = start + (warnOnlySeconds + 5) * 1000
  const verdict = await method.authenticateToken(token, [])
  assert.ok(verdict && 'user' in verdict)
  assert.deepEqual(verdict.annotations, {
    'authentication.k8s.io/stale-token': `subject: ${name}, seconds after warning threshold: 5`,
  })
})

test('the documents with which others verify our tokens', () => {
  const keys = [tokenKey(rsa.publicKey), tokenKey(ec.publicKey)]
  const settings = { issuer, keySetUri: '', externalAddress: '10.0.0.1:6443', keys }
  const made = openIdDocuments(settings)
  assert.ok('keySet' in made)
  assert.equal(
    made.configuration,
    `{"issuer":"${issuer}","jwks_uri":"https://10.0.0.1:6443/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256","RS256"]}`,
  )
  const [first, second] = JSON.parse(made.keySet).keys
  assert.deepEqual(Object.keys(first), ['use', 'kty', 'kid', 'alg', 'n', 'e'])
  assert.deepEqual(Object.keys(second), ['use', 'kty', 'kid', 'crv', 'alg', 'x', 'y'])
  for (const bad of ['', 'http://x', 'kubernetes', 'https://x?q', 'https://x#f'])
    assert.ok('problem' in openIdDocuments({ ...settings, issuer: bad }), bad)
})

test('key files', () => {
  const many = `${pem(rsa.publicKey)}\n${pem(ec.privateKey)}`
  assert.equal(readPublicKeys(many, 'f').length, 2)
  assert.throws(() => readPublicKeys('', 'f'), /public key file f/)
  const ed = generateKeyPairSync('ed25519')
  assert.throws(() => readPublicKeys(pem(ed.publicKey), 'f'), /must be RSA, or ECDSA/)
  assert.throws(() => readSigningKey(pem(rsa.publicKey), 'f'), /private key file f/)
})

test('a token of 1.37 has an ID and its node, and ends with the node that it is bound to', async () => {
  const { reader, method, outcome } = cluster(true, 37)
  const mint = new TokenMint(issuer, signing(rsa))
  const node: KubeObject = { metadata: { name: 'node', uid: 'node-uid' } }
  const pod: KubeObject = { metadata: { namespace: 'n', name: 'p', uid: 'p-uid' } }
  reader.put('', 'nodes', node)
  reader.put('', 'pods', pod)
  const ofPod = mint.bound({ ...request, pod, node, id: 'x' }, start)
  const verdict = await method.authenticateToken(ofPod, [issuer])
  assert.ok(verdict !== undefined && 'user' in verdict)
  assert.deepEqual(verdict.user.extra, {
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': ['p-uid'],
    'authentication.kubernetes.io/credential-id': ['JTI=x'],
    'authentication.kubernetes.io/node-name': ['node'],
    'authentication.kubernetes.io/node-uid': ['node-uid'],
  })
  const ofNode = mint.bound({ ...request, node, id: 'y' }, start)
  assert.equal(await outcome(ofNode), name)
  reader.remove('', 'nodes', '', 'node')
  assert.equal(await outcome(ofNode), 'service account token has been invalidated')
  // The pod determines whether its token is valid, not the pod's node.
  assert.equal(await outcome(ofPod), name)
  reader.put('', 'nodes', { metadata: { name: 'node', uid: 'other' } })
  assert.equal(
    await outcome(ofNode),
    'node UID (other) does not match service account node ref claim (node-uid)',
  )
})

test('errors of tokens are sentences since 1.23', async () => {
  const { reader, clock, outcome } = cluster(true, 23)
  const token = new TokenMint(issuer, signing(rsa)).bound(request, start)
  reader.put('', 'serviceaccounts', { metadata: { ...account.metadata, uid: 'other' } })
  assert.equal(await outcome(token), 'service account UID (other) does not match claim (bot-uid)')
  clock.time += 3_600_000
  assert.equal(await outcome(token), 'service account token has expired')
})
