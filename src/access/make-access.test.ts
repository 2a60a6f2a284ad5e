import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Credentials } from './authenticate.ts'
import type { Attributes } from './authorize.ts'
import { bootstrapPolicy } from './authorize/bootstrap-policy.ts'
import { pluralOf } from './authorize/reconcile.ts'
import { bearerToken } from './authenticate/bearer.ts'
import { authority, client, type Made } from './certificates.suite.ts'
import { folder } from './counterpart.suite.ts'
import { type Access, makeAccess } from './make-access.ts'
import { MemoryReader } from './memory-reader.suite.ts'
import type { AccessSettings, AccessSurroundings } from './settings.ts'

const ordinary: AccessSettings = {
  givenFlags: new Set(),
  anonymousAuth: true,
  clientCaFile: undefined,
  tokenAuthFile: undefined,
  basicAuthFile: undefined,
  authenticationConfig: undefined,
  authorizationConfig: undefined,
  enableBootstrapTokenAuth: false,
  serviceAccountKeyFile: [],
  serviceAccountSigningKeyFile: undefined,
  serviceAccountIssuer: ['https://kubernetes.default.svc'],
  serviceAccountJwksUri: undefined,
  apiAudiences: [],
  serviceAccountLookup: true,
  serviceAccountMaxTokenExpirationMs: 0,
  serviceAccountExtendTokenExpiration: true,
  oidcIssuerUrl: undefined,
  oidcClientId: undefined,
  oidcUsernameClaim: 'sub',
  oidcUsernamePrefix: undefined,
  oidcGroupsClaim: undefined,
  oidcGroupsPrefix: undefined,
  oidcRequiredClaim: new Map(),
  oidcCaFile: undefined,
  oidcSigningAlgs: ['RS256'],
  authenticationTokenWebhookConfigFile: undefined,
  authenticationTokenWebhookCacheTtlMs: 120_000,
  authenticationTokenWebhookVersion: 'v1beta1',
  requestheaderClientCaFile: undefined,
  requestheaderAllowedNames: [],
  requestheaderUsernameHeaders: [],
  requestheaderUidHeaders: [],
  requestheaderGroupHeaders: [],
  requestheaderExtraHeadersPrefix: [],
  authorizationMode: ['RBAC'],
  authorizationPolicyFile: undefined,
  authorizationWebhookConfigFile: undefined,
  authorizationWebhookVersion: 'v1beta1',
  authorizationWebhookCacheAuthorizedTtlMs: 300_000,
  authorizationWebhookCacheUnauthorizedTtlMs: 30_000,
}
import type { User } from './user.ts'

const files = folder()
after(() => files.remove())
let people: Made
let proxies: Made
before(async () => {
  people = await authority('people')
  proxies = await authority('proxies')
})

const clock = { now: () => Date.now() }
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

async function access(
  more: Partial<AccessSettings> = {},
  surroundings: Partial<AccessSurroundings> = {},
) {
  const reader = new MemoryReader()
  for (const object of bootstrapPolicy(22))
    reader.put('rbac.authorization.k8s.io', pluralOf(object), object)
  const reported: string[] = []
  const settings: AccessSettings = {
    ...ordinary,
    tokenAuthFile: files.file(
      'tokens.csv',
      'admin-token,admin,1,"system:masters"\nalice-token,alice,2,"dev"\nbob-token,bob,3,"dev,ops"',
    ),
    clientCaFile: files.file('people.crt', people.pem),
    requestheaderClientCaFile: files.file('proxies.crt', proxies.pem),
    requestheaderAllowedNames: ['front'],
    requestheaderUsernameHeaders: ['X-Remote-User'],
    requestheaderGroupHeaders: ['X-Remote-Group'],
    requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
    serviceAccountSigningKeyFile: files.file('sa.key', keyPem),
    ...more,
  }
  const made = await makeAccess(
    settings,
    {
      release: 22,
      feature: () => false,
      externalAddress: '127.0.0.1:6443',
      ownClientAuthorities: [],
      ownTokenKeys: [],
      servingKey: undefined,
      report: (message) => reported.push(message),
      ...surroundings,
    },
    reader,
    clock,
  )
  await made.follow()
  return { made, reader, reported }
}

const request = (headers: Credentials['headers'], shown?: Made): Credentials => ({
  headers,
  token: bearerToken(headers.authorization),
  certificate: shown && (() => shown.certificate),
})
async function who(made: Access, credentials: Credentials): Promise<string> {
  const verdict = await made.authenticate(credentials)
  if (verdict === undefined) return 'nobody'
  return 'user' in verdict ? [verdict.user.name, ...verdict.user.groups].join(' ') : '401'
}

test('every client gets the user of its credentials', async () => {
  const { made } = await access()
  const carol = await client(people, 'carol', ['dev'])
  const front = await client(proxies, 'front', [])
  const stranger = await client(await authority('people'), 'admin', ['system:masters'])
  const remote = { 'x-remote-user': 'dave', 'x-remote-group': ['a', 'b'] }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const cases: [string, Credentials, string][] = [
    ['a token', request(bearer('alice-token')), 'alice dev system:authenticated'],
    ['a certificate', request({}, carol), 'carol dev system:authenticated'],
    ['a proxy', request(remote, front), 'dave a b system:authenticated'],
    ['nothing', request({}), 'system:anonymous system:unauthenticated'],
    ['an unknown token', request(bearer('nope')), '401'],
    ['a stranger’s certificate', request({}, stranger), '401'],
    [
      'a stranger’s certificate, a good token',
      request(bearer('bob-token'), stranger),
      'bob dev ops system:authenticated',
    ],
    ['headers without a proxy', request(remote), 'system:anonymous system:unauthenticated'],
    ['headers with a user’s certificate', request(remote, carol), 'carol dev system:authenticated'],
    [
      'headers with a token',
      request({ ...remote, ...bearer('alice-token') }),
      'alice dev system:authenticated',
    ],
    ['basic', request({ authorization: 'Basic YTpi' }), 'system:anonymous system:unauthenticated'],
    [
      'half a header',
      request({ authorization: 'Bearer' }),
      'system:anonymous system:unauthenticated',
    ],
    ['a huge token', request(bearer('x'.repeat(100_000))), '401'],
    [
      'two tokens',
      request({ authorization: ['Bearer alice-token', 'Bearer admin-token'] }),
      'alice dev system:authenticated',
    ],
  ]
  for (const [name, credentials, expected] of cases)
    assert.equal(await who(made, credentials), expected, name)
  made.stop()
})

test('static tokens and known certificates are synchronous', async () => {
  const { made } = await access()
  const carol = await client(people, 'carol', ['dev'])
  for (const credentials of [request({ authorization: 'Bearer alice-token' }), request({}, carol)])
    assert.ok(!(made.authenticate(credentials) instanceof Promise))
})

const uidFlags: [headers: string[], hasGate: boolean, problem: RegExp][] = [
  [['X-Remote-Uid'], false, /requires the "RemoteRequestHeaderUID" feature to be enabled$/],
  [['X-Uid'], true, /without specifying the standard X-Remote-Uid header/],
]
for (const [requestheaderUidHeaders, hasGate, problem] of uidFlags)
  test(`--requestheader-uid-headers=${requestheaderUidHeaders}, gate ${hasGate}`, () =>
    assert.rejects(access({ requestheaderUidHeaders }, { feature: () => hasGate }), problem))

test('without anonymous requests there is no anonymous user', async () => {
  const { made } = await access({ anonymousAuth: false })
  assert.equal(await who(made, request({})), 'nobody')
})

const ask = (user: User, verb: string, resource: string, namespace = ''): Attributes => ({
  user,
  verb,
  isResource: !resource.startsWith('/'),
  group: '',
  version: 'v1',
  resource: resource.startsWith('/') ? '' : resource,
  subresource: '',
  namespace,
  name: '',
  path: resource.startsWith('/') ? resource : '',
})
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })

test('the bootstrap policy authorizes', async () => {
  const { made } = await access({ authorizationMode: ['Node', 'RBAC'] })
  const known = user('alice', 'system:authenticated')
  const nobody = user('system:anonymous', 'system:unauthenticated')
  const node = user('system:node:a', 'system:nodes', 'system:authenticated')
  const cases: [Attributes, string][] = [
    [ask(user('x', 'system:masters'), 'delete', 'nodes'), 'allow'],
    [ask(known, 'get', '/healthz'), 'allow'],
    [ask(known, 'get', '/metrics'), 'none'],
    [ask(known, 'list', 'pods', 'n'), 'none'],
    [ask(nobody, 'get', '/version'), 'allow'],
    [ask(nobody, 'get', '/api'), 'none'],
    [ask(node, 'list', 'pods'), 'allow'],
    [ask(node, 'list', 'secrets'), 'none'],
    [ask(user('system:kube-scheduler'), 'list', 'pods'), 'allow'],
  ]
  for (const [attributes, expected] of cases) {
    const decision = made.authorizer.authorize(attributes)
    assert.ok(!(decision instanceof Promise))
    assert.equal(decision.decision, expected, JSON.stringify(attributes))
  }
})

test('a token that we sign is accepted in requests and reviews', async () => {
  const { made, reader } = await access()
  const account = { metadata: { namespace: 'n', name: 'bot', uid: 'b' } }
  reader.put('', 'serviceaccounts', account)
  const bound = {
    account,
    audiences: made.apiAudiences,
    expirationSeconds: 600,
    warnAfterSeconds: 0,
  }
  const token = made.mint?.bound(bound, Date.now()) ?? ''
  const groups = 'system:serviceaccounts system:serviceaccounts:n system:authenticated'
  const expected = `system:serviceaccount:n:bot ${groups}`
  assert.equal(await who(made, request({ authorization: `Bearer ${token}` })), expected)
  const verdict = await made.reviewToken(token, made.apiAudiences)
  assert.ok(verdict && 'user' in verdict)
  assert.deepEqual(verdict.audiences, ['https://kubernetes.default.svc'])
  assert.equal(verdict.user.groups.at(-1), 'system:authenticated')
  assert.equal(await made.reviewToken('x'.repeat(100_000), []), undefined)
})

test('keys: the configured ones or our own; tokens that we sign are accepted', async () => {
  const own = await access({ serviceAccountSigningKeyFile: undefined }, { ownTokenKeys: [keyPem] })
  assert.ok(own.made.mint)
  assert.ok(own.made.openId?.keySet.includes('"kty":"EC"'))
  const none = await access({ serviceAccountSigningKeyFile: undefined })
  assert.equal(none.made.mint, undefined)
  assert.equal(none.made.openId, undefined)
  const odd = await access({ serviceAccountIssuer: ['me'] })
  assert.equal(odd.made.openId, undefined)
  assert.match(odd.reported[0] ?? '', /issuer URL must use https scheme/)
})

test('the serving key verifies tokens only if no key is configured', async () => {
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const servingKey = other.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const signer = await access({ serviceAccountSigningKeyFile: files.file('tls.key', servingKey) })
  const account = { metadata: { namespace: 'n', name: 'bot', uid: 'b' } }
  const audiences = signer.made.apiAudiences
  const bound = { account, audiences, expirationSeconds: 600, warnAfterSeconds: 0 }
  const token = signer.made.mint?.bound(bound, Date.now()) ?? ''
  const rows: [given: string[], key: string | undefined, known: boolean][] = [
    [[], servingKey, true],
    [[], undefined, false],
    [[files.file('given.key', keyPem)], servingKey, false],
    [[], 'no key at all', false],
  ]
  for (const [serviceAccountKeyFile, key, known] of rows) {
    const { made, reader } = await access({ serviceAccountKeyFile }, { servingKey: key })
    reader.put('', 'serviceaccounts', account)
    const verdict = await made.reviewToken(token, audiences)
    assert.equal(verdict !== undefined && 'user' in verdict, known)
    assert.equal(made.openId?.keySet.includes('"kty":"RSA"'), false)
  }
})

test('headers that specify a user are removed', async () => {
  const { made } = await access()
  for (const name of [
    'authorization',
    'impersonate-user',
    'impersonate-extra-x',
    'x-remote-user',
    'x-remote-extra-y',
  ])
    assert.ok(made.isIdentityHeader(name), name)
  assert.ok(!made.isIdentityHeader('accept'))
  assert.equal(made.clientAuthorities().length, 2)
})

// the new contents of the files, whether they differ, and the resulting users of carol and of the
// proxy that names dave
const reread: [string, () => [people: string, proxies: string], boolean, string, string][] = [
  ['the same', () => [people.pem, proxies.pem], false, 'carol', 'dave'],
  ['one more', () => [`${proxies.pem}\n${people.pem}`, proxies.pem], true, 'carol', 'dave'],
  ['another for people', () => [proxies.pem, proxies.pem], true, '401', 'dave'],
  ['another for proxies', () => [people.pem, people.pem], true, 'carol', '401'],
  // Then her certificate is that of a proxy, which names no user, and the proxy's certificate is
  // that of a user.
  ['the one for the other', () => [proxies.pem, people.pem], true, '401', 'front'],
  ['nothing', () => ['', ''], false, 'carol', 'dave'],
  ['nothing readable, and another', () => ['x', people.pem], true, 'carol', '401'],
]
for (const [what, pems, isOther, person, proxied] of reread)
  test(`authorities are read again: ${what}`, async () => {
    const { made, reported } = await access({ requestheaderAllowedNames: [] })
    const carol = request({}, await client(people, 'carol', []))
    const front = request({ 'x-remote-user': 'dave' }, await client(proxies, 'front', []))
    const names = async () =>
      [await who(made, carol), await who(made, front)].map((told) => told.split(' ')[0])
    assert.deepEqual(await names(), ['carol', 'dave'])
    const [first, second] = pems()
    files.file('people.crt', first)
    files.file('proxies.crt', second)
    assert.equal(made.readAuthorities(), isOther)
    assert.deepEqual(await names(), [person, proxied])
    const unread = [first, second].filter((pem) => !pem.includes('BEGIN')).length
    assert.equal(reported.filter((line) => line.includes('stay as they were')).length, unread)
    assert.equal(made.clientAuthorities().length, what === 'one more' ? 3 : 2)
  })

test('basic authentication up to 1.18', async () => {
  const basicAuthFile = files.file('passwords.csv', 'pw,erin,5')
  const { made } = await access({ basicAuthFile }, { release: 18 })
  const header = { authorization: `Basic ${Buffer.from('erin:pw').toString('base64')}` }
  assert.equal(await who(made, request(header)), 'erin system:authenticated')
  const wrong = { authorization: `Basic ${Buffer.from('erin:no').toString('base64')}` }
  assert.equal(await who(made, request(wrong)), '401')
  assert.equal(made.challenge, 'Basic realm="kubernetes-master"')
  await assert.rejects(
    access({ basicAuthFile }, { release: 19 }),
    /--basic-auth-file is not known to release 1\.19/,
  )
})

const unusable: [string, () => Partial<AccessSettings>, RegExp][] = [
  ['tokens', () => ({ tokenAuthFile: files.file('t', 'a,b,c\nd') }), /token file '.*', line 2/],
  ['no file', () => ({ tokenAuthFile: '/does/not/exist' }), /ENOENT/],
  ['authorities', () => ({ clientCaFile: files.file('c', 'x') }), /valid certificates/],
  [
    'authorities of a provider',
    () => ({
      oidcIssuerUrl: 'https://issuer.example',
      oidcClientId: 'x',
      oidcCaFile: files.file('o', 'x'),
    }),
    /valid certificates: .*o$/,
  ],
  ['keys', () => ({ serviceAccountKeyFile: [files.file('k', 'x')] }), /public key file/],
  [
    'policies',
    () => ({ authorizationMode: ['ABAC'], authorizationPolicyFile: files.file('p', '{') }),
    /policy file .*line 1/,
  ],
  ['no policies', () => ({ authorizationMode: ['ABAC'] }), /--authorization-policy-file/],
  ['no mode', () => ({ authorizationMode: [] }), /at least one authorization mode/],
  [
    'webhooks',
    () => ({ authenticationTokenWebhookConfigFile: files.file('w', '[]') }),
    /invalid configuration/,
  ],
]
for (const [name, settings, error] of unusable)
  test(`a start without usable ${name} fails`, async () => {
    await assert.rejects(access(settings()), error)
  })

test('if everything is allowed, there is no anonymous user', async () => {
  const { made, reported } = await access({ authorizationMode: ['AlwaysAllow'] })
  assert.equal(await who(made, request({})), 'nobody')
  assert.match(reported[0] ?? '', /anonymous/)
})

test('modes are used in order', async () => {
  const { made } = await access({ authorizationMode: ['AlwaysDeny', 'AlwaysAllow'] })
  const decision = await made.authorizer.authorize(ask(user('x'), 'get', 'pods'))
  assert.equal(decision.decision, 'allow')
})
