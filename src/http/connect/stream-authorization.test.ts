/** Which permissions a user needs to open a stream into a pod. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes, Decision } from '#access/authorize.ts'
import { ApiError } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { Kind } from '#kinds/kind.ts'
import { handleConnection } from './connect-handlers.ts'
import type { ConnectParts } from './connect-parts.ts'

const kind = { subresources: new Map() } as unknown as Kind
const none: Decision = { decision: 'none', reason: '' }

/** Returns the error of a stream to a pod that does not exist, and what happened before. */
async function open(subresource: string, verb: string, decision: Decision | undefined) {
  const steps: string[] = []
  const target = { group: '', version: 'v1', resource: 'pods', subresource, verb, isResource: true }
  const exchange = {
    target: { ...target, namespace: 'ns', name: 'p', authorizedName: 'p', path: '' },
    query: new URLSearchParams(subresource === 'portforward' ? 'ports=1' : 'command=ls&stdout=1'),
    user: { name: 'ann', groups: [] },
    warnings: [],
    wire: { headers: {} },
  } as unknown as Exchange
  const parts = {
    admission: { mutate: async () => void steps.push('admitted'), validate: async () => {} },
    reader: { get: async () => void steps.push('read') },
    createAuthorizer: decision && {
      name: 'one',
      async authorize({ user, verb: asked, resource, subresource: sub, name }: Attributes) {
        steps.push(`${user.name} ${asked} ${resource}/${sub} ${name}`)
        return decision
      },
    },
  } as unknown as ConnectParts
  try {
    await handleConnection(exchange, kind, parts)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [...steps, `${error.code} ${error.message}`]
  }
  return steps
}

const missing = '404 pods "p" not found'
const rows: [name: string, subresource: string, verb: string, Decision | undefined, string[]][] = [
  ['get is enough without the gate', 'exec', 'get', undefined, ['admitted', 'read', missing]],
  ['POST is authorized already', 'exec', 'create', none, ['admitted', 'read', missing]],
  [
    'create is allowed',
    'attach',
    'get',
    { decision: 'allow', reason: '' },
    ['admitted', 'ann create pods/attach p', 'read', missing],
  ],
  ...['exec', 'attach', 'portforward'].map((sub): [string, string, string, Decision, string[]] => [
    `${sub} without create`,
    sub,
    'get',
    { decision: 'none', reason: 'why' },
    ['admitted', `ann create pods/${sub} p`, '403 pods "p" is forbidden: why'],
  ]),
  [
    'create is denied',
    'exec',
    'get',
    { decision: 'deny', reason: '' },
    ['admitted', 'ann create pods/exec p', '403 pods "p" is forbidden: '],
  ],
  [
    'the authorizer fails',
    'exec',
    'get',
    { decision: 'none', reason: '', error: 'no webhook' },
    ['admitted', 'ann create pods/exec p', '500 no webhook'],
  ],
]
for (const [name, subresource, verb, decision, expected] of rows) {
  test(`a stream: ${name}`, async () => {
    assert.deepEqual(await open(subresource, verb, decision), expected)
  })
}
