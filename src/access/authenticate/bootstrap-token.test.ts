import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { BootstrapTokenAuthenticator } from './bootstrap-token.ts'

const token = 'abcdef.0123456789abcdef'
const now = Date.parse('2024-05-01T00:00:00Z')
const fields = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}

async function outcome(
  given: string,
  data: Record<string, string | undefined> = {},
  object: object = {},
): Promise<string> {
  const reader = new MemoryReader()
  const encoded = Object.entries({ ...fields, ...data })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [key, Buffer.from(value as string).toString('base64')])
  reader.put('', 'secrets', {
    metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(encoded),
    ...object,
  })
  const method = new BootstrapTokenAuthenticator(reader, { now: () => now })
  const verdict = await method.authenticateToken(given)
  if (verdict === undefined || !('user' in verdict)) return 'nobody'
  return `${verdict.user.name} ${verdict.user.groups.join(' ')}`
}

const nobody: [string, Record<string, string | undefined>, object?][] = [
  ['another secret', { 'token-secret': 'ffffffffffffffff' }],
  ['no secret', { 'token-secret': undefined }],
  ['another id inside', { 'token-id': 'fedcba' }],
  ['expired', { expiration: '2024-04-30T23:59:59Z' }],
  ['expiring now', { expiration: '2024-05-01T00:00:00Z' }],
  ['expiry on no day', { expiration: '2025-02-30T00:00:00Z' }],
  ['unreadable expiry', { expiration: 'tomorrow' }],
  ['not for authentication', { 'usage-bootstrap-authentication': 'false' }],
  ['silent about its use', { 'usage-bootstrap-authentication': undefined }],
  ['a group of others', { 'auth-extra-groups': 'system:bootstrappers:ok,system:masters' }],
  ['another type', {}, { type: 'Opaque' }],
  [
    'being deleted',
    {},
    {
      metadata: {
        namespace: 'kube-system',
        name: 'bootstrap-token-abcdef',
        deletionTimestamp: 'x',
      },
    },
  ],
  ['no data', {}, { data: undefined }],
]
for (const [name, data, object] of nobody)
  test(`rejected: ${name}`, async () => assert.equal(await outcome(token, data, object), 'nobody'))

test('known', async () => {
  assert.equal(await outcome(token), 'system:bootstrap:abcdef system:bootstrappers')
  assert.equal(
    await outcome(token, {
      expiration: '2024-05-01T02:00:01+02:00',
      'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a',
    }),
    'system:bootstrap:abcdef system:bootstrappers system:bootstrappers:a system:bootstrappers:z',
  )
})

for (const form of [
  'abcdef.0123456789abcde',
  'ABCDEF.0123456789abcdef',
  `${token}\n`,
  `x${token}`,
  '',
])
  test(`not looked up: ${JSON.stringify(form)}`, async () =>
    assert.equal(await outcome(form), 'nobody'))
