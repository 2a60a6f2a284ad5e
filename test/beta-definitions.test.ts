/**
 * Definitions in their beta form, and objects of them, as releases before 1.22 have them: what is
 * kept, dropped, refused and shown by each.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

const servers: RunningServer[] = []
after(() => Promise.all(servers.map((server) => server.stop())))

const definitions = '/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions'
const group = 'old.example.com'
const things = `/apis/${group}/v1/namespaces/default/things`
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } } },
}

async function started(release: number): Promise<RunningServer> {
  const server = await startServer(['--controllers=-*', `--emulated-version=1.${release}`])
  servers.push(server)
  return server
}

const bodyOf = (plural: string, more: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: { group, version: 'v1', scope: 'Namespaced', names: { plural, kind: 'Thing' }, ...more },
})

interface Row {
  readonly release: number
  readonly noDefaults: string
  /** What is there of `spec: null`, where it is taken. */
  readonly nulls: string
  readonly missing: readonly [type: string, text: RegExp]
  readonly selfLink: string | undefined
  readonly wrong: RegExp
}

const rows: readonly Row[] = [
  {
    release: 15,
    noDefaults: 'must not be set',
    nulls: 'refused',
    missing: ['text/plain; charset=utf-8', /^the server could not find the requested resource\n$/],
    selfLink: `${things}/a`,
    wrong:
      /is invalid: \[\]: Invalid value: map\[.*: validation failure list:\nspec\.n in body should/,
  },
  {
    release: 21,
    noDefaults:
      'must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)',
    nulls: 'dropped',
    missing: ['application/json', /"message":"things\.old\.example\.com \\"a\\" not found"/],
    selfLink: undefined,
    wrong: /is invalid: spec\.n: Invalid value: 0: spec\.n in body should/,
  },
]

for (const { release, noDefaults, nulls, missing, selfLink, wrong } of rows) {
  test(`a beta definition and its objects as 1.${release} has them`, async () => {
    const server = await started(release)
    const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
      server.ask(method, path, body)
    const defaulted = { openAPIV3Schema: { type: 'object', default: {} } }
    const refused = await ask('POST', definitions, bodyOf('others', { validation: defaulted }))
    assert.deepEqual(
      refused.body.details.causes.map(({ message }: { message: string }) => message),
      [`Forbidden: ${noDefaults}`],
    )
    const validation = { openAPIV3Schema: schema }
    const body = bodyOf('things', { validation, preserveUnknownFields: false })
    assert.equal((await ask('POST', definitions, body)).status, 201)
    for (let i = 0; (await ask('GET', things)).status !== 200; i++) {
      assert.ok(i < 2000)
      await new Promise((done) => setTimeout(done, 20))
    }
    const thing = (name: string, spec: unknown) => ({
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name },
      spec,
    })
    const made = await ask('POST', things, thing('a', { n: 2, unknown: 1 }))
    assert.deepEqual([made.body.spec, made.body.metadata.selfLink], [{ n: 2 }, selfLink])
    assert.equal((await ask('GET', `${things}/a`)).body.metadata.selfLink, selfLink)
    const empty = await ask('POST', things, thing('b', null))
    assert.equal(empty.status === 422 ? 'refused' : 'dropped', nulls, empty.text)
    assert.match((await ask('POST', things, thing('c', { n: 0 }))).body.message, wrong)
    const scale = await ask('GET', `${things}/a/scale`)
    assert.deepEqual([scale.status, scale.headers?.['content-type']], [404, missing[0]])
    assert.match(scale.text, missing[1])
  })
}
