/**
 * Hostile expressions and objects over HTTP: each request ends by cost, in bounded memory, and
 * requests of other clients are answered meanwhile.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

/** What an evaluation without limits would exceed at once: each step doubles half a megabyte. */
const memoryMiBMax = 1500
const text = 'a'.repeat(500_000)
const times = (count: number, part: string) => part.repeat(count)

let server: RunningServer
before(async () => {
  server = await startServer(['--emulated-version=1.37'])
})
after(() => server.stop())

const peakMiB = () => {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))
  return Number(line?.[1]) / 1024
}

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const letters = "object.data.t.split('')"
const all = (name: string, inside: string) => `${letters}.all(${name}, ${inside})`

/** Expressions that the server takes. A ConfigMap with the long text meets each. */
const policyAttacks: Readonly<Record<string, string>> = {
  doubled: `${letters}.map(a, object.data.t)${times(10, '.map(x, x + x)')}.size() > 0`,
  joined: `${letters}.map(a, object.data.t).join(',').size() > 0`,
  nested: all('a', all('b', all('c', 'true'))),
  replaced: "object.data.t.replace('', object.data.t).replace('', object.data.t).size() > 0",
  formatted: `'${times(500, '%s')}'.format([${times(499, 'object.data.t,')}object.data.t]) == ''`,
  matched: `${letters}.exists(a, object.data.t.matches('(a*)*b' + a))`,
}

const bodyOf = (data: string) => ({ metadata: { name: 'a' }, data: { t: data } })
const write = (namespace: string, data: string) =>
  server.ask('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, bodyOf(data))

/** Creates a policy for a namespace of its own, and waits until it has an effect. */
async function enforce(name: string, expression: string): Promise<void> {
  const labels = { attack: name }
  await server.ask('POST', '/api/v1/namespaces', { metadata: { name, labels } })
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'] }
  const resourceRules = [{ ...rule, resources: ['configmaps'] }]
  const never = { expression: "object.data.t != 'never'", message: 'in force' }
  const made = await server.ask('POST', policies, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules }, validations: [never, { expression }] },
  })
  assert.equal(made.status, 201, made.text)
  const bound = await server.ask('POST', `${policies.replace(/ies$/, 'y')}bindings`, {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: labels } },
    },
  })
  assert.equal(bound.status, 201, bound.text)
  await until('the policy has an effect', async () =>
    (await write(name, 'never')).text.includes('in force'),
  )
}

test('policies with hostile expressions end by cost', async (t) => {
  for (const [name, expression] of Object.entries(policyAttacks))
    await t.test(name, async () => {
      await enforce(name, expression)
      const { status, body } = await write(name, text)
      assert.equal(status, 422)
      assert.match(body.message, /operation cancelled: actual cost limit exceeded/)
    })
  assert.ok(peakMiB() < memoryMiBMax, `${peakMiB()} MiB`)
})

test('other requests are answered while hostile ones are', async () => {
  const wanted = 5
  const roundsMax = 100
  let answered = 0
  const attacks = Object.keys(policyAttacks).map(async (name) => {
    for (let round = 0; answered < wanted && round < roundsMax; round++)
      assert.equal((await write(name, text)).status, 422, name)
    assert.ok(answered >= wanted, `only ${answered} requests were answered meanwhile`)
  })
  const others = (async () => {
    while (answered < wanted) {
      assert.equal((await server.ask('GET', '/api/v1/namespaces/default')).status, 200)
      answered++
    }
  })()
  await Promise.all([...attacks, others])
  assert.ok(peakMiB() < memoryMiBMax, `${peakMiB()} MiB`)
})

const string = { type: 'string' }
const list = { type: 'array', items: string }

/** Rules that a definition may not have: they do not compile, or could cost too much. */
const ruleAttacks: [title: string, rule: string, message: RegExp][] = [
  ['deep parentheses', `${times(4000, '(')}true${times(4000, ')')}`, /recursion limit exceeded/],
  ['a long path', `self${times(4000, '.a')} == 1`, /compilation failed: ERROR/],
  ['nested macros', 'self.l.all(a, self.l.all(b, self.l.all(c, true)))', /exceeds budget/],
  ['a search in each element', 'self.l.all(a, self.t.contains(a))', /exceeds budget/],
  [
    'a pattern with many states',
    "self.t.matches('(a{1000}){1000}b')",
    /repeat count|invalid matches/,
  ],
]

const definition = (rule: string) => ({
  metadata: { name: 'attacks.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'attacks', kind: 'Attack' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { t: string, l: list },
                'x-kubernetes-validations': [{ rule }],
              },
              free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
})

for (const [title, rule, message] of ruleAttacks)
  test(`a definition with ${title} is rejected`, async () => {
    const { status, body } = await server.ask('POST', definitions, definition(rule))
    assert.equal(status, 422)
    assert.match(body.message, message)
  })

test('custom objects with hostile values end by cost', async () => {
  const doubled = `[self.t]${times(9, '.map(x, x + x)')}[0].size() >= 0`
  const made = await server.ask('POST', definitions, definition(doubled))
  assert.equal(made.status, 201, made.text)
  const attacks = '/apis/example.com/v1/namespaces/default/attacks'
  await until('the kind is served', async () => (await server.ask('GET', attacks)).status === 200)
  const create = (spec: object, free = '{}') => {
    const metadata = { name: 'a' }
    const whole = { apiVersion: 'example.com/v1', kind: 'Attack', metadata, spec, free: 0 }
    const body = Buffer.from(JSON.stringify(whole).replace('"free":0', `"free":${free}`))
    return server.ask('POST', `${attacks}?dryRun=All`, body)
  }
  assert.equal((await create({ t: 'a' })).status, 201)
  const large = await create({ t: times(5, text) })
  assert.equal(large.status, 422)
  assert.match(large.body.message, /call cost exceeds limit|out of cost budget/)
  const deep = await create({ t: 'a' }, `${times(5000, '{"a":')}1${times(5000, '}')}`)
  assert.equal(deep.status, 400)
  assert.equal((await server.ask('GET', '/readyz')).text, 'ok')
  assert.ok(peakMiB() < memoryMiBMax, `${peakMiB()} MiB`)
})
