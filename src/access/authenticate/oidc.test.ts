import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { type Counterpart, counterpart, type Handler } from '#access/counterpart.suite.ts'
import { caller } from '#access/https-call.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Clock } from '#base/clock.ts'
import { until } from '#base/until.fixture.ts'
import { signToken, tokenKey } from './json-web-token.ts'
import { fromFlags, OidcAuthenticator, type OidcSettings } from './oidc.ts'

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
type Pair = { publicKey: KeyObject; privateKey: KeyObject }
const first = pair()
const second = pair()
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

let provider: Counterpart
let issuer: string
let served: { published: Pair[]; discovery: Loose; up: boolean }
const methods: OidcAuthenticator[] = []

const handler: Handler = ({ path }) => {
  if (!served.up) return { status: 503 }
  if (path === '/.well-known/openid-configuration') return { body: served.discovery }
  const keys = served.published.map(({ publicKey }) => {
    const { id, algorithm } = tokenKey(publicKey)
    return { ...publicKey.export({ format: 'jwk' }), use: 'sig', kid: id, alg: algorithm }
  })
  // A shared secret in the set must never be used.
  return { body: { keys: [...keys, { kty: 'oct', k: 'c2VjcmV0', kid: 'oct', alg: 'HS256' }] } }
}
before(async () => {
  provider = await counterpart(handler)
  issuer = provider.url
  served = {
    published: [first],
    discovery: { issuer, jwks_uri: `${issuer}/keys` },
    up: true,
  }
})
after(async () => {
  for (const method of methods) method.stop()
  await provider.stop()
})

const clock: Clock = { now: () => Date.now() }
function oidc(more: Partial<OidcSettings> = {}, by = clock, release = 22): OidcAuthenticator {
  const method = new OidcAuthenticator(
    fromFlags(
      {
        issuerUrl: issuer,
        clientId: 'kubernetes',
        usernameClaim: 'sub',
        usernamePrefix: '',
        groupsClaim: 'groups',
        groupsPrefix: '',
        requiredClaims: {},
        signingAlgorithms: [],
        ...more,
      },
      releaseOf(release),
    ),
    caller({ ca: provider.authority.pem }),
    by,
    () => {},
    20,
  )
  methods.push(method)
  return method
}

const seconds = () => Math.floor(Date.now() / 1000)
const claims = (more: Loose = {}): Loose => ({
  iss: issuer,
  aud: 'kubernetes',
  sub: 'jane',
  exp: seconds() + 600,
  iat: seconds(),
  ...more,
})
const signed = (more: Loose = {}, by: Pair = first): string =>
  signToken(claims(more), by.privateKey, tokenKey(by.publicKey))

async function outcome(token: string, method = oidc()): Promise<string> {
  const verdict = await method.authenticateToken(token)
  if (verdict === undefined) return 'not ours'
  return 'user' in verdict ? [verdict.user.name, ...verdict.user.groups].join(' ') : verdict.refused
}

test('a valid token of the provider, with names prefixed by the issuer', async () => {
  assert.equal(await outcome(signed()), `${issuer}#jane`)
  assert.equal(await outcome(signed({ aud: ['other', 'kubernetes'] })), `${issuer}#jane`)
})

const mapped: [string, Partial<OidcSettings>, Loose, string][] = [
  ['no prefix', { usernamePrefix: '-' }, {}, 'jane'],
  ['a prefix', { usernamePrefix: 'oidc:' }, {}, 'oidc:jane'],
  ['email is not prefixed', { usernameClaim: 'email' }, { email: 'j@x' }, 'j@x'],
  [
    'email with a prefix',
    { usernameClaim: 'email', usernamePrefix: 'p:' },
    { email: 'j@x' },
    'p:j@x',
  ],
  ['a verified email', { usernameClaim: 'email' }, { email: 'j@x', email_verified: true }, 'j@x'],
  ['groups', { usernamePrefix: '-', groupsPrefix: 'g:' }, { groups: ['a', 'b'] }, 'jane g:a g:b'],
  ['one group', { usernamePrefix: '-' }, { groups: 'a' }, 'jane a'],
  [
    'a groups claim that is not configured',
    { usernamePrefix: '-', groupsClaim: '' },
    { groups: 3 },
    'jane',
  ],
  ['a required claim', { usernamePrefix: '-', requiredClaims: { hd: 'x' } }, { hd: 'x' }, 'jane'],
  ['a claim called __proto__', { usernamePrefix: '-', groupsClaim: '__proto__' }, {}, 'jane'],
]
for (const [name, settings, more, expected] of mapped)
  test(name, async () => assert.equal(await outcome(signed(more), oidc(settings)), expected))

const refused: [string, Partial<OidcSettings>, Loose, string | RegExp][] = [
  ['another audience', {}, { aud: 'other' }, /^oidc: verify token: expected audience "kubernetes"/],
  ['no audience', {}, { aud: undefined }, /expected audience/],
  ['another issuer', {}, { iss: 'https://elsewhere' }, 'not ours'],
  ['no issuer', {}, { iss: undefined }, 'not ours'],
  ['expired', {}, { exp: 1 }, 'oidc: verify token: token is expired'],
  ['without an end', {}, { exp: undefined }, 'oidc: verify token: token is expired'],
  ['whose end is text', {}, { exp: '99999999999' }, 'oidc: verify token: token is expired'],
  ['from the future', {}, { nbf: 99_999_999_999 }, /before the nbf/],
  [
    'without a name',
    {},
    { sub: undefined },
    'oidc: parse username claims "sub": claim not present',
  ],
  ['with a number for a name', {}, { sub: 7 }, 'oidc: parse username claims "sub": not a string'],
  [
    'with an unverified email',
    { usernameClaim: 'email' },
    { email: 'j@x', email_verified: false },
    'oidc: email not verified',
  ],
  [
    'with a mistyped verification',
    { usernameClaim: 'email' },
    { email: 'j@x', email_verified: 'true' },
    /parse 'email_verified' claim/,
  ],
  ['with mistyped groups', {}, { groups: [{}] }, 'oidc: parse groups claim "groups": not strings'],
  [
    'with an object for groups',
    {},
    { groups: {} },
    'oidc: parse groups claim "groups": not strings',
  ],
  [
    'without a required claim',
    { requiredClaims: { hd: 'x' } },
    {},
    'oidc: required claim hd not present in ID token',
  ],
  [
    'with another value of it',
    { requiredClaims: { hd: 'x' } },
    { hd: 'y' },
    'oidc: required claim hd value does not match',
  ],
  [
    'with a mistyped one',
    { requiredClaims: { hd: 'x' } },
    { hd: ['x'] },
    'oidc: parse claim hd: not a string',
  ],
  [
    'with distributed groups',
    {},
    { _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: 'https://evil' } } },
    /^oidc: could not expand distributed claims: the claim "groups" is distributed, which is not supported$/,
  ],
]
for (const [name, settings, more, expected] of refused)
  test(`refused: a token ${name}`, async () => {
    const found = await outcome(signed(more), oidc(settings))
    if (typeof expected === 'string') assert.equal(found, expected)
    else assert.match(found, expected)
  })

const part = (value: Loose) => Buffer.from(JSON.stringify(value)).toString('base64url')
const forged: [string, () => string][] = [
  ['of a stranger', () => signed({}, second)],
  ['unsigned', () => `${part({ alg: 'none' })}.${part(claims())}.`],
  [
    'signed with the public key as a shared secret',
    () => {
      const text = `${part({ alg: 'HS256' })}.${part(claims())}`
      const pem = first.publicKey.export({ type: 'spki', format: 'pem' })
      return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`
    },
  ],
  [
    'signed with the shared secret in the set of keys',
    () => {
      const text = `${part({ alg: 'HS256', kid: 'oct' })}.${part(claims())}`
      return `${text}.${createHmac('sha256', 'secret').update(text).digest('base64url')}`
    },
  ],
  ['by an algorithm that is not listed', () => signed({}, ec)],
  [
    'carrying its own key',
    () => {
      const head = { alg: 'RS256', jwk: second.publicKey.export({ format: 'jwk' }) }
      const [, body, tail] = signed({}, second).split('.')
      return `${part(head)}.${body}.${tail}`
    },
  ],
]
for (const [name, make] of forged)
  test(`refused: a token ${name}`, async () =>
    assert.match(await outcome(make()), /^oidc: verify token: /))

test('listed algorithms are accepted', async () => {
  served.published = [first, ec]
  const method = oidc({ signingAlgorithms: ['RS256', 'ES256'], usernamePrefix: '-' })
  assert.equal(await outcome(signed({}, ec), method), 'jane')
  served.published = [first]
})

test('a new key is fetched when a token needs it, and a removed one is dropped', async () => {
  const method = oidc({ usernamePrefix: '-' })
  assert.equal(await outcome(signed(), method), 'jane')
  served.published = [second]
  assert.equal(await outcome(signed({}, second), method), 'jane')
  assert.match(await outcome(signed(), method), /^oidc: verify token/)
  served.published = [first]
})

test('tokens with unknown keys cause only a limited number of requests to the provider', async () => {
  const method = oidc({ usernamePrefix: '-' })
  await outcome(signed(), method)
  const before = provider.count()
  for (let i = 0; i < 30; i++) await outcome(signed({ i }, second), method)
  assert.ok(provider.count() - before <= 5)
  assert.equal(await outcome(signed(), method), 'jane')
})

test('a clock that is set back does not prevent fetching new keys', async () => {
  let ms = Date.now() + 86_400_000
  let elapsed = 0
  const method = oidc({ usernamePrefix: '-' }, { now: () => ms, elapsed: () => elapsed })
  for (let i = 0; i < 6; i++) await outcome(signed({ i }, second), method)
  ms = Date.now()
  elapsed = 60_000
  served.published = [second]
  assert.equal(await outcome(signed({}, second), method), 'jane')
  served.published = [first]
})

test('tokens with known keys are accepted while the provider is unavailable', async () => {
  const method = oidc({ usernamePrefix: '-' })
  await outcome(signed(), method)
  served.up = false
  assert.equal(await outcome(signed(), method), 'jane')
  assert.match(await outcome(signed({}, second), method), /status 503/)
  served.up = true
})

test('a provider that is unavailable at start is discovered later', async () => {
  served.up = false
  const method = oidc({ usernamePrefix: '-' })
  assert.equal(await outcome(signed(), method), 'oidc: authenticator not initialized')
  served.up = true
  await until('the keys', async () => (await outcome(signed(), method)) === 'jane')
})

test('a provider that names another issuer is rejected', async () => {
  const { discovery } = served
  served.discovery = { ...discovery, issuer: 'https://elsewhere' }
  assert.equal(await outcome(signed()), 'oidc: authenticator not initialized')
  served.discovery = { ...discovery, jwks_uri: 'http://localhost/keys' }
  assert.equal(await outcome(signed()), 'oidc: authenticator not initialized')
  served.discovery = discovery
})

test('a provider with the wrong certificate is rejected', async () => {
  const settings = {
    issuerUrl: issuer,
    clientId: 'kubernetes',
    usernameClaim: 'sub',
    usernamePrefix: '',
    groupsClaim: '',
    groupsPrefix: '',
    requiredClaims: {},
    signingAlgorithms: [],
  }
  const method = new OidcAuthenticator(
    fromFlags(settings, releaseOf(22)),
    caller({}),
    clock,
    () => {},
    10_000,
  )
  methods.push(method)
  assert.equal(await outcome(signed(), method), 'oidc: authenticator not initialized')
})

const badSettings: [Partial<OidcSettings>, RegExp][] = [
  [{ issuerUrl: 'http://x' }, /has invalid scheme \("http"\), require 'https'/],
  [{ issuerUrl: 'x' }, /has invalid scheme/],
  [{ usernameClaim: '' }, /no username claim provided/],
  [{ signingAlgorithms: ['HS256'] }, /oidc: unsupported signing alg: "HS256"/],
  [{ signingAlgorithms: ['none'] }, /unsupported signing alg/],
]
for (const [settings, error] of badSettings)
  test(`settings refused: ${JSON.stringify(settings)}`, () =>
    assert.throws(() => oidc(settings), error))

for (const [release, expected] of [
  [31, {}],
  [32, { 'authentication.kubernetes.io/credential-id': ['JTI=token-1'] }],
] as const)
  test(`the id of a token as 1.${release}: ${JSON.stringify(expected)}`, async () => {
    const verdict = await oidc({}, clock, release).authenticateToken(signed({ jti: 'token-1' }))
    assert.ok(verdict !== undefined && 'user' in verdict)
    assert.deepEqual(verdict.user.extra, expected)
  })
