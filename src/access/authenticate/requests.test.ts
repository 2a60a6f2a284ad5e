import assert from 'node:assert/strict'
import type { X509Certificate } from 'node:crypto'
import { before, test } from 'node:test'
import type {
  Authenticator,
  Credentials,
  TokenAuthenticator,
  AuthenticationResult,
} from '#access/authenticate.ts'
import { authority, client, type Made } from '#access/certificates.suite.ts'
import type { User } from '#access/user.ts'
import {
  BearerAuthenticator,
  bearerToken,
  tokenLengthMax,
  WebSocketAuthenticator,
  withoutTokenProtocol,
} from './bearer.ts'
import { Authorities } from './certificate-chain.ts'
import { RequestHeaderAuthenticator } from './request-header.ts'
import { AudienceAgnostic, RequestAuthenticator, TokenUnion } from './union.ts'

const clock = { now: () => Date.now() }
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
const alice = user('alice', 'dev')
const known = (token: string, who: User): TokenAuthenticator => ({
  name: token,
  authenticateToken: (given) => (given === token ? { user: who } : undefined),
})
const request = (more: Partial<Credentials>): Credentials => ({
  headers: {},
  token: undefined,
  certificate: undefined,
  ...more,
})

const headers: [string | string[] | undefined, string | undefined][] = [
  ['Bearer abc', 'abc'],
  ['bEaReR abc', 'abc'],
  ['  Bearer abc  ', 'abc'],
  ['Bearer abc def', 'abc'],
  ['Bearer  abc', undefined],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearerabc', undefined],
  ['Token abc', undefined],
  ['Basic YTpi', undefined],
  ['', undefined],
  [undefined, undefined],
  [['Bearer first', 'Bearer second'], 'first'],
]
for (const [header, token] of headers)
  test(`token of ${JSON.stringify(header)}`, () => assert.equal(bearerToken(header), token))

test('an unknown token is rejected, not ignored', async () => {
  const method = new BearerAuthenticator(known('good', alice), [])
  assert.deepEqual(await method.authenticate(request({ token: 'good' })), {
    user: alice,
    consumed: ['authorization'],
  })
  assert.deepEqual(await method.authenticate(request({ token: 'bad' })), {
    refused: 'invalid bearer token',
  })
  assert.equal(await method.authenticate(request({})), undefined)
})

test('oversized tokens are rejected before any method reads them', async () => {
  const never: TokenAuthenticator = { name: '', authenticateToken: () => assert.fail() }
  const method = new BearerAuthenticator(never, [])
  const token = 'x'.repeat(tokenLengthMax + 1)
  assert.deepEqual(await method.authenticate(request({ token })), {
    refused: 'invalid bearer token',
  })
})

const protocol = (token: string) =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const sockets: [string | string[], string][] = [
  [`${protocol('good')}, v4.channel.k8s.io`, 'alice'],
  [['v4.channel.k8s.io', protocol('good')], 'alice'],
  [`${protocol('bad')}, x`, 'invalid bearer token'],
  [protocol('good'), 'missing additional subprotocol'],
  [`${protocol('good')},`, 'alice'],
  [
    `${protocol('good')}, ${protocol('good')}, x`,
    'multiple base64.bearer.authorization tokens specified',
  ],
  [
    'base64url.bearer.authorization.k8s.io.*, x',
    'invalid base64.bearer.authorization token encoding',
  ],
  ['base64url.bearer.authorization.k8s.io._w, x', 'invalid base64.bearer.authorization token'],
  ['base64url.bearer.authorization.k8s.io., x', 'nothing'],
  ['v4.channel.k8s.io', 'nothing'],
]
for (const [header, expected] of sockets)
  test(`web socket ${JSON.stringify(header)}: ${expected}`, async () => {
    const method = new WebSocketAuthenticator(known('good', alice), [])
    const upgrade = { connection: 'keep-alive, Upgrade', upgrade: 'websocket' }
    const sent = { ...upgrade, 'sec-websocket-protocol': header }
    const verdict = await method.authenticate(request({ headers: sent }))
    const shown = verdict && ('user' in verdict ? verdict.user.name : verdict.refused)
    assert.equal(shown ?? 'nothing', expected)
    const plain = { 'sec-websocket-protocol': header }
    assert.equal(await method.authenticate(request({ headers: plain })), undefined)
  })

test('the remaining subprotocols', () =>
  assert.equal(withoutTokenProtocol(['a, b', `${protocol('t')},c`]), 'a,b,c'))

const refusing = (why: string, name = 'r'): Authenticator => ({
  name,
  authenticate: () => ({ refused: why }),
})
const slow = (verdict: AuthenticationResult): Authenticator => ({
  name: 'slow',
  authenticate: async () => verdict,
})
const broken: Authenticator = {
  name: 'broken',
  authenticate: () => Promise.reject(new Error('away')),
}
const thrower: Authenticator = {
  name: 'thrower',
  authenticate: () => {
    throw new Error('malformed')
  },
}
const nothing: Authenticator = { name: 'nothing', authenticate: () => undefined }
const success: Authenticator = { name: 'success', authenticate: () => ({ user: alice }) }

const unions: [string, Authenticator[], boolean, string][] = [
  ['the first success wins', [nothing, refusing('no'), success, broken], true, 'alice'],
  ['refusals do not stop others', [refusing('no'), slow({ user: alice })], true, 'alice'],
  [
    'without credentials the request is anonymous',
    [nothing, slow(undefined)],
    true,
    'system:anonymous',
  ],
  ['without credentials, and anonymous requests are disabled', [nothing], false, 'nothing'],
  ['rejected credentials are never anonymous', [refusing('no'), nothing], true, 'no'],
  [
    'the error has each rejection once',
    [refusing('a'), refusing('b'), refusing('a')],
    true,
    '[a, b]',
  ],
  ['a method that breaks has refused', [broken, nothing], true, 'away'],
  ['a method that throws has refused', [thrower, nothing], true, 'malformed'],
  ['a method that throws does not stop others', [thrower, success], true, 'alice'],
  ['a method may throw after a slow one', [slow(undefined), thrower, success], true, 'alice'],
  ['no method at all', [], true, 'system:anonymous'],
]
for (const [name, methods, welcome, expected] of unions)
  test(name, async () => {
    const verdict = await new RequestAuthenticator(methods, () => welcome).authenticate(request({}))
    const shown = verdict && ('user' in verdict ? verdict.user.name : verdict.refused)
    assert.equal(shown ?? 'nothing', expected)
  })

test('synchronous methods stay synchronous', () => {
  const union = new RequestAuthenticator([nothing, success], () => true)
  assert.ok(!(union.authenticate(request({})) instanceof Promise))
})

test('authenticated users are in system:authenticated, and stay the same object', () => {
  const union = new RequestAuthenticator([success], () => true)
  const [a, b] = [union.authenticate(request({})), union.authenticate(request({}))]
  assert.ok(a && b && 'user' in a && 'user' in b)
  assert.deepEqual(a.user.groups, ['dev', 'system:authenticated'])
  assert.equal(a.user, b.user)
  assert.deepEqual(alice.groups, ['dev'])
  const already = user('x', 'system:unauthenticated')
  assert.equal(union.member(already), already)
})

test('audiences of methods that do not support audiences', async () => {
  const own = ['api', 'other']
  const method = new AudienceAgnostic(known('t', alice), own)
  const audiences = async (requested: readonly string[]) => {
    const verdict = await new TokenUnion([method]).authenticateToken('t', requested)
    return verdict && 'user' in verdict ? verdict.audiences : verdict
  }
  assert.deepEqual(await audiences(own), ['api', 'other'])
  assert.deepEqual(await audiences(['x', 'other']), ['other'])
  assert.deepEqual(await audiences(['other', 'x', 'api', 'other']), ['other', 'api', 'other'])
  assert.equal(await audiences(['x']), undefined)
  assert.equal(await audiences([]), undefined)
})

let proxies: Made
let front: Made
let people: Made
before(async () => {
  proxies = await authority('proxies')
  front = await client(proxies, 'front', [])
  people = await authority('people')
})

const proxyMethod = (allowedNames: string[] = []) =>
  new RequestHeaderAuthenticator(
    new Authorities([proxies.certificate]),
    {
      allowedNames,
      usernameHeaders: ['X-Remote-User', 'X-Other-User'],
      uidHeaders: ['X-Remote-Uid'],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
    },
    clock,
  )
const through = (sent: Credentials['headers'], certificate?: X509Certificate) =>
  request({ headers: sent, ...(certificate && { certificate: () => certificate }) })

test('a proxy specifies the user', () => {
  const sent = {
    'x-remote-user': 'alice',
    'x-remote-uid': 'u1',
    'x-remote-group': ['dev', 'ops, or not', ''],
    'x-remote-extra-acme.com%2fproject': ['p1', 'p2'],
    'x-remote-extra-__proto__': 'p',
    accept: '*/*',
  }
  const verdict = proxyMethod(['front']).authenticate(through(sent, front.certificate))
  assert.ok(verdict && 'user' in verdict)
  assert.deepEqual(verdict.user.name, 'alice')
  assert.deepEqual(verdict.user.uid, 'u1')
  assert.deepEqual(verdict.user.groups, ['dev', 'ops, or not'])
  assert.deepEqual(Object.entries(verdict.user.extra), [
    ['acme.com/project', ['p1', 'p2']],
    ['__proto__', ['p']],
  ])
  assert.deepEqual([...(verdict.consumed ?? [])].sort(), [
    'x-remote-extra-__proto__',
    'x-remote-extra-acme.com%2fproject',
    'x-remote-group',
    'x-remote-uid',
    'x-remote-user',
  ])
})

test('a proxy specifies the user in any language', () => {
  const sent = (text: string) => Buffer.from(text).toString('latin1')
  const headers = { 'x-remote-user': sent('jürgen'), 'x-remote-group': sent('開発') }
  const verdict = proxyMethod().authenticate(through(headers, front.certificate))
  assert.ok(verdict && 'user' in verdict)
  assert.deepEqual([verdict.user.name, verdict.user.groups], ['jürgen', ['開発']])
})

test('the first header with a value is used', () => {
  const sent = { 'x-remote-user': '', 'x-other-user': ['bob', 'carol'] }
  const verdict = proxyMethod().authenticate(through(sent, front.certificate))
  assert.ok(verdict && 'user' in verdict)
  assert.equal(verdict.user.name, 'bob')
})

const admin = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }
const smuggled: [string, () => Promise<Credentials>, string][] = [
  ['without a certificate', async () => through(admin), 'nothing'],
  [
    'with a user’s certificate',
    async () => through(admin, (await client(people, 'front', [])).certificate),
    'x509: certificate signed by unknown authority',
  ],
  [
    'with another proxy’s certificate',
    async () => through(admin, (await client(proxies, 'side', [])).certificate),
    'x509: subject with cn=side is not in the allowed list',
  ],
  [
    'with a lapsed certificate',
    async () =>
      through(
        admin,
        (await client(proxies, 'front', [], { notAfter: new Date(Date.now() - 1) })).certificate,
      ),
    'x509: certificate has expired',
  ],
  [
    'under names that only look alike',
    async () => through({ x_remote_user: 'admin' }, front.certificate),
    'nothing',
  ],
]
for (const [name, make, expected] of smuggled)
  test(`headers ${name} are ignored`, async () => {
    const verdict = proxyMethod(['front']).authenticate(await make())
    const shown = verdict && ('user' in verdict ? verdict.user.name : verdict.refused)
    assert.equal(shown ?? 'nothing', expected)
  })

test('headers that are removed from the request', () => {
  const method = proxyMethod()
  for (const name of ['x-remote-user', 'x-other-user', 'x-remote-group', 'x-remote-extra-any'])
    assert.ok(method.isIdentityHeader(name), name)
  assert.ok(!method.isIdentityHeader('accept'))
  assert.throws(
    () =>
      new RequestHeaderAuthenticator(
        new Authorities([]),
        {
          allowedNames: [],
          usernameHeaders: [' '],
          uidHeaders: [],
          groupHeaders: [],
          extraHeaderPrefixes: [],
        },
        clock,
      ),
    /empty header/,
  )
})
