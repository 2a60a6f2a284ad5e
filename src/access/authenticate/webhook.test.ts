import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { authority, client, type Made } from '#access/certificates.suite.ts'
import {
  type CounterpartAnswer,
  type Counterpart,
  counterpart,
  folder,
  kubeconfig,
} from '#access/counterpart.suite.ts'
import { readKubeconfig } from '#access/kubeconfig.ts'
import { ReviewWebhook } from '#access/review-webhook.ts'
import { TokenCache } from './token-cache.ts'
import { WebhookTokenAuthenticator } from './webhook.ts'

const files = folder()
const fast = { firstDelayMs: 1, factor: 1, jitter: 0, attempts: 3 }
let clients: Made
let service: Counterpart
let config: string
let seen: { body: Loose; path: string; name: string | undefined }[] = []
let answers: CounterpartAnswer[] = []

before(async () => {
  clients = await authority('clients')
  const own = await client(clients, 'apiserver', [])
  service = await counterpart(({ body, path, clientName }) => {
    seen.push({ body: JSON.parse(body), path, name: clientName })
    return answers.shift() ?? { status: 500 }
  }, clients)
  config = files.file(
    'config',
    kubeconfig(
      `${service.url}/authenticate`,
      { 'certificate-authority': files.file('ca.crt', service.authority.pem) },
      {
        'client-certificate-data': Buffer.from(own.pem).toString('base64'),
        'client-key': files.file('client.key', own.keyPem),
      },
    ),
  )
})
after(async () => {
  await service.stop()
  files.remove()
})

async function methodOf(version: 'v1' | 'v1beta1' = 'v1', apiAudiences: string[] = []) {
  seen = []
  answers = []
  const webhook = new ReviewWebhook(await readKubeconfig(config), fast)
  return new WebhookTokenAuthenticator(webhook, version, apiAudiences)
}

const review = (status: Loose, version = 'v1'): CounterpartAnswer => ({
  body: { kind: 'TokenReview', apiVersion: `authentication.k8s.io/${version}`, status },
})
const jane = {
  authenticated: true,
  user: { username: 'jane', uid: '42', groups: ['a'], extra: { k: ['v'] } },
}

test('the configured version is sent, with our certificate, to the exact path', async () => {
  for (const version of ['v1', 'v1beta1'] as const) {
    const method = await methodOf(version)
    answers = [review(jane, version)]
    assert.deepEqual(await method.authenticateToken('t', []), {
      user: { name: 'jane', uid: '42', groups: ['a'], extra: { k: ['v'] } },
    })
    const [{ body, path, name } = assert.fail()] = seen
    assert.equal(path, '/authenticate')
    assert.equal(name, 'apiserver')
    assert.equal(body.apiVersion, `authentication.k8s.io/${version}`)
    assert.deepEqual(body.spec, { token: 't' })
  }
})

test('audiences', async () => {
  const method = await methodOf('v1', ['api'])
  answers = [review({ ...jane, audiences: ['b', 'x'] }), review(jane), review(jane)]
  assert.deepEqual(await method.authenticateToken('t', ['a', 'b']), {
    user: jane.user && { name: 'jane', uid: '42', groups: ['a'], extra: { k: ['v'] } },
    audiences: ['b'],
  })
  assert.deepEqual(seen[0]?.body.spec.audiences, ['a', 'b'])
  assert.equal(
    await method.authenticateToken('t', ['a']),
    undefined,
    'none named, none of ours asked',
  )
  const own = await method.authenticateToken('t', ['api'])
  assert.ok(own && 'user' in own)
  assert.deepEqual(own.audiences, ['api'])
  answers = [review({ ...jane, audiences: ['b', 'x', 'a'] })]
  const both = await method.authenticateToken('other', ['a', 'b'])
  assert.ok(both && 'user' in both)
  assert.deepEqual(both.audiences, ['b', 'a'], 'in the order of the service')
})

const nobody: [string, CounterpartAnswer[], RegExp | undefined, number?][] = [
  ['it rejects the token', [review({ authenticated: false })], undefined],
  [
    'an empty status',
    [{ body: { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' } }],
    undefined,
  ],
  [
    'it rejects the token with a reason',
    [review({ authenticated: false, error: 'expired' })],
    /^expired$/,
  ],
  ['authenticated is a string', [review({ ...jane, authenticated: 'true' })], undefined],
  ['it names no user', [review({ authenticated: true })], /malformed user/],
  [
    'its user has no name',
    [review({ authenticated: true, user: { groups: ['system:masters'] } })],
    /malformed user/,
  ],
  [
    'its groups are not a list',
    [review({ authenticated: true, user: { username: 'x', groups: 'a' } })],
    /malformed user/,
  ],
  [
    'its extra is malformed',
    [review({ authenticated: true, user: { username: 'x', extra: { a: 'b' } } })],
    /malformed user/,
  ],
  [
    'it speaks another version',
    [review(jane, 'v1beta1')],
    /no authentication\.k8s\.io\/v1 TokenReview/,
  ],
  [
    'it answers with another kind',
    [{ body: { ...jane, kind: 'Status', apiVersion: 'v1' } }],
    /no authentication/,
  ],
  ['it answers with no JSON', [{ body: '<html>' }], /no JSON/],
  ['it answers with null', [{ body: 'null' }], /no authentication/],
  ['it forbids', [{ status: 403, body: review(jane) }], /status 403/, 1],
  ['it redirects', [{ status: 302, headers: { location: 'https://evil' } }], /status 302/, 1],
  [
    'it fails and fails',
    [{ status: 500 }, { status: 429 }, { status: 504 }, review(jane)],
    /status 504/,
    3,
  ],
  ['it hangs up', ['reset', 'reset', 'reset', review(jane)], /socket hang up|ECONNRESET/, 3],
  ['it sends too much', [{ body: 'x'.repeat(2_000_000) }], /larger than/, 1],
]
for (const [name, replies, error, attempts] of nobody)
  test(`every token is rejected when ${name}`, async () => {
    const method = await methodOf()
    answers = [...replies]
    const verdict = await method.authenticateToken('secret-token', [])
    assert.ok(verdict === undefined || 'refused' in verdict)
    if (error === undefined) assert.equal(verdict, undefined)
    else assert.match(verdict?.refused ?? '', error)
    assert.doesNotMatch(JSON.stringify(verdict ?? ''), /secret-token/)
    if (attempts !== undefined) assert.equal(seen.length, attempts)
  })

test('temporary failures are retried', async () => {
  const method = await methodOf()
  answers = [{ status: 500 }, 'reset', review(jane)]
  assert.ok('user' in ((await method.authenticateToken('t', [])) ?? {}))
  answers = [{ status: 503, headers: { 'retry-after': '1' } }, review(jane)]
  assert.ok('user' in ((await method.authenticateToken('t', [])) ?? {}))
})

test('a missing service rejects every token', async () => {
  const gone = files.file('gone', kubeconfig('https://127.0.0.1:1/', {}))
  const webhook = new ReviewWebhook(await readKubeconfig(gone), fast)
  const verdict = await new WebhookTokenAuthenticator(webhook, 'v1', []).authenticateToken('t', [])
  assert.match(JSON.stringify(verdict), /refused/)
})

test('a service with a certificate of another authority rejects every token', async () => {
  const other = files.file(
    'other',
    kubeconfig(service.url, {
      'certificate-authority-data': Buffer.from(clients.pem).toString('base64'),
    }),
  )
  const webhook = new ReviewWebhook(await readKubeconfig(other), fast)
  const verdict = await new WebhookTokenAuthenticator(webhook, 'v1', []).authenticateToken('t', [])
  assert.match(JSON.stringify(verdict), /refused/)
})

test('results are cached for a while, failures are not, and concurrent requests share one call', async () => {
  let now = 0
  const method = await methodOf()
  const cache = new TokenCache(method, { successTtlMs: 100, failureTtlMs: 50 }, { now: () => now })
  const requested = () => seen.length
  answers = [review(jane), review({ authenticated: false }), { status: 403 }, review(jane)]
  const both = await Promise.all([
    cache.authenticateToken('t', []),
    cache.authenticateToken('t', []),
  ])
  assert.deepEqual(both[0], both[1])
  assert.equal(requested(), 1)
  assert.ok(!(cache.authenticateToken('t', []) instanceof Promise), 'from memory')
  now = 101
  assert.equal(await cache.authenticateToken('t', []), undefined)
  assert.equal(await cache.authenticateToken('t', []), undefined)
  assert.equal(requested(), 2)
  now = 152
  assert.match(JSON.stringify(await cache.authenticateToken('t', [])), /403/)
  assert.ok('user' in ((await cache.authenticateToken('t', [])) ?? {}))
  assert.equal(requested(), 4)
  answers = [review({ authenticated: false })]
  assert.equal(
    await cache.authenticateToken('t', ['x']),
    undefined,
    'another audience is another question',
  )
})

const badConfigs: [string, RegExp][] = [
  ['[]', /the file is no object/],
  ['{}', /current-context is not set/],
  ['{{{', /: yaml: line \d+: [^\n]+$/],
  [kubeconfig('http://example.com', {}), /must use https/],
  [kubeconfig('nonsense', {}), /is no URL/],
  [kubeconfig('https://x', { 'proxy-url': 'http://p' }), /proxy-url is not supported/],
  [kubeconfig('https://x', {}, { exec: { command: 'sh' } }), /exec are not supported/],
  [kubeconfig('https://x', {}, { 'client-certificate-data': 'eA==' }), /must be given together/],
  [kubeconfig('https://x', { 'certificate-authority': '/does/not/exist' }), /ENOENT/],
  [
    kubeconfig('https://x', {
      'insecure-skip-tls-verify': true,
      'certificate-authority-data': 'eA==',
    }),
    /exclude each other/,
  ],
  ['current-context: a\ncontexts: [{name: b}]', /contexts has no entry "a"/],
]
for (const [text, error] of badConfigs)
  test(`configuration refused: ${error.source}`, async () => {
    const file = files.file('bad', text)
    await assert.rejects(readKubeconfig(file), (found: Error) => {
      assert.match(found.message, error)
      assert.ok(found.message.includes(file))
      return true
    })
  })

test('the credentials for a service', async () => {
  const token = files.file('token', 'secret\n')
  const of = async (user: object, server = 'https://x') =>
    (await readKubeconfig(files.file('c', kubeconfig(server, {}, user)))).identity().authorization
  assert.equal(await of({ token: 'abc' }), 'Bearer abc')
  assert.equal(await of({ tokenFile: token }), 'Bearer secret')
  assert.equal(await of({ username: 'u', password: 'p' }), 'Basic dTpw')
  assert.equal(await of({}, 'http://127.0.0.1:8080/x'), undefined)
})
