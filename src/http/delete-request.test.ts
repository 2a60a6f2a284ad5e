/** Delete options come from the query or the body; only dryRun may come from both. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Served, startServed } from './served.fixture.ts'

let served: Served
before(async () => {
  served = await startServed()
})
after(() => served.stop())

const configMaps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'

test('rejected and accepted options', async () => {
  await served.verbs.create('configmaps', { metadata: { name: 'kept' } })
  const cases: [query: string, body: string | undefined, status: number, message?: RegExp][] = [
    ['gracePeriodSeconds=', undefined, 400, /^strconv.ParseInt: parsing "": invalid syntax$/],
    ['gracePeriodSeconds=x', undefined, 400, /^strconv.ParseInt: parsing "x": invalid syntax$/],
    ['propagationPolicy=Bogus', undefined, 422, /Unsupported value: "Bogus"/],
    ['orphanDependents=true&propagationPolicy=Orphan', undefined, 422, /cannot be both set/],
    ['dryRun=x', undefined, 422, /Unsupported value/],
    ['', '{"propagationPolicy":"Bogus"}', 422, /Unsupported value: "Bogus"/],
    ['', '{"preconditions":{"uid":"x"}}', 409, /UID in the precondition \(x\) does not match/],
    [
      '',
      '{"preconditions":{"resourceVersion":"1"}}',
      409,
      /ResourceVersion in the precondition \(1\) does not match/,
    ],
    ['uid=x', undefined, 409, /UID in the precondition \(x\) does not match/],
    ['resourceVersion=1', undefined, 409, /ResourceVersion in the precondition \(1\) does not/],
    ['', '[]', 500, /^couldn't get version\/kind; json parse error: json: cannot unmarshal array/],
    ['', '{', 500, /^couldn't get version\/kind; json parse error: unexpected end of JSON input$/],
    ['', '{"apiVersion":"a/b/c"}', 500, /^unexpected GroupVersion string: a\/b\/c$/],
    ['', '{"dryRun":[1]}', 500, /^v1.DeleteOptions.DryRun: \[\]string: ReadString: expects " or n/],
    [
      '',
      '{"gracePeriodSeconds":1.0}',
      500,
      /^v1.DeleteOptions.GracePeriodSeconds: assertInteger: /,
    ],
    ['', '{"preconditions":7}', 500, /^v1.DeleteOptions.Preconditions: readObjectStart: expect /],
    ['', '{"dryRun":["All"],"dryRun":null,"preconditions":{"uid":"x"}}', 409],
    ['', '{"kind":"Pod","apiVersion":"v1"}', 500, /^no kind "Pod" is registered for version "v1"/],
    // If there is a body, even an empty one, only dryRun of the query is used.
    ['gracePeriodSeconds=x', '{"dryRun":["All"]}', 200],
    ['dryRun=x', '{"dryRun":["All"]}', 422, /Unsupported value/],
    ['dryRun=All', '{}', 200],
    ['dryRun=All', '{"propagationPolicy":"Orphan"}', 200],
    ['dryRun=All', 'null', 200],
    ['dryRun=All', undefined, 200],
  ]
  for (const [query, body, status, message] of cases) {
    const requested = body === undefined ? {} : { body }
    const answer = await served.ask('DELETE', `${configMaps}/kept?${query}`, requested)
    assert.equal(answer.status, status, `${query} ${body}: ${answer.text}`)
    if (message !== undefined) assert.match(answer.json.message, message)
  }
  assert.equal((await served.ask('GET', `${configMaps}/kept`)).status, 200)
  // null is a body without options, so the query is not used and no dependent is orphaned.
  const query = 'propagationPolicy=Orphan'
  const answer = await served.ask('DELETE', `${configMaps}/kept?${query}`, { body: 'null' })
  assert.equal(answer.status, 200)
  assert.equal((await served.ask('GET', `${configMaps}/kept`)).status, 404)
})

/** Options in the protobuf envelope, as Go clients send them. */
const enveloped = (apiVersion: string, kind: string, raw: readonly number[]): Buffer => {
  const part = (number: number, bytes: Buffer) =>
    Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes])
  const stated = Buffer.concat([part(1, Buffer.from(apiVersion)), part(2, Buffer.from(kind))])
  return Buffer.concat([Buffer.from('k8s\0'), part(1, stated), part(2, Buffer.from(raw))])
}

test('options in protobuf have the same effect as in JSON', async () => {
  await served.verbs.create('configmaps', { metadata: { name: 'packed' } })
  const path = `${configMaps}/packed`
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const uid = [18, 3, 10, 1, 120]
  const cases: [body: Buffer, status: number, message: RegExp][] = [
    [enveloped('v1', 'DeleteOptions', uid), 409, /UID in the precondition \(x\) does not match/],
    [enveloped('apps/v1', 'DeleteOptions', uid), 409, /UID in the precondition \(x\)/],
    [enveloped('', '', uid), 409, /UID in the precondition \(x\)/],
    [enveloped('v1', 'DeleteOptions', [34, 1, 120]), 422, /Unsupported value: "x"/],
    [enveloped('v1', 'DeleteOptions', [8]), 500, /^unexpected EOF$/],
    [enveloped('v1', 'Pod', []), 500, /^no kind "Pod" is registered for version "v1"/],
    [Buffer.from('xyz'), 500, /^provided data does not appear to be a protobuf message/],
    [Buffer.from('k8s\0'), 500, /^empty body$/],
  ]
  for (const [body, status, message] of cases) {
    const answer = await served.ask('DELETE', path, { body, headers })
    assert.equal(answer.status, status, `${body.toString('hex')}: ${answer.text}`)
    assert.match(answer.json.message, message)
  }
  const orphaning = enveloped('v1', 'DeleteOptions', [34, 6, ...Buffer.from('Orphan')])
  assert.equal((await served.ask('DELETE', path, { body: orphaning, headers })).status, 200)
  const left = await served.ask('GET', path)
  assert.deepEqual(left.json.metadata.finalizers, ['orphan'])
})

test('deletecollection validates its selectors before its options', async () => {
  const cases: [query: string, body: string | undefined, status: number][] = [
    ['fieldSelector=data.n%3Da&dryRun=x', undefined, 400],
    ['fieldSelector=data.n%3Da', '{', 400],
    ['labelSelector=%3Da&dryRun=x', undefined, 400],
    ['limit=x&dryRun=x', undefined, 400],
    ['labelSelector=a%3Db&dryRun=x', undefined, 422],
    ['labelSelector=a%3Db', undefined, 200],
  ]
  for (const [query, body, status] of cases) {
    const requested = body === undefined ? {} : { body }
    const answer = await served.ask('DELETE', `${configMaps}?${query}`, requested)
    assert.equal(answer.status, status, `${query}: ${answer.text}`)
    if (query.includes('data.n'))
      assert.match(answer.json.message, /not a known field selector|field label not supported/)
  }
})

test("deletecollection accepts options of the groups that the collection's group knows", async () => {
  const budgets = '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets'
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const cases: [path: string, kind: string, apiVersion: string | undefined, message: string][] = [
    [pods, 'DeleteOptions', undefined, ''],
    [pods, 'DeleteOptions', 'apps/v1', ''],
    [
      pods,
      'DeleteOptions',
      'nope/v1',
      'no kind "DeleteOptions" is registered for version "nope/v1"',
    ],
    [pods, 'DeleteOptions', 'meta.k8s.io/v1', 'no kind "DeleteOptions" is registered'],
    [pods, 'Pod', undefined, 'converting (v1.Pod) to (v1.DeleteOptions): unknown conversion'],
    [pods, 'Nope', 'v1', 'no kind "Nope" is registered for version "v1"'],
    [pods, 'ListOptions', 'apps/v1', 'converting (v1.ListOptions) to (v1.DeleteOptions)'],
    [pods, 'Status', 'apps/v1', 'converting (v1.Status) to (v1.DeleteOptions)'],
    [budgets, 'PodDisruptionBudget', undefined, 'converting (v1beta1.PodDisruptionBudget) to'],
    [budgets, 'Pod', undefined, 'no kind "Pod" is registered for version "policy/v1beta1"'],
    [definitions, 'Pod', 'v1', 'no kind "Pod" is registered for version "v1"'],
    [definitions, 'DeleteOptions', 'v1', ''],
  ]
  for (const [path, kind, apiVersion, message] of cases) {
    const body = JSON.stringify({ kind, apiVersion })
    const answer = await served.ask('DELETE', `${path}?labelSelector=a%3Db`, { body })
    assert.equal(answer.status, message === '' ? 200 : 500, `${path} ${body}: ${answer.text}`)
    assert.ok(message === '' || answer.json.message.startsWith(message), answer.json.message)
  }
})

test('an immediate deletion returns a Status, a delayed one the object', async () => {
  const finalizers = ['example.com/hold']
  await served.verbs.create('configmaps', { metadata: { name: 'gone' } })
  await served.verbs.create('configmaps', { metadata: { name: 'held', finalizers } })
  const gone = await served.ask('DELETE', `${configMaps}/gone`)
  assert.equal(gone.json.kind, 'Status')
  assert.equal(gone.json.status, 'Success')
  assert.deepEqual(Object.keys(gone.json.details).sort(), ['kind', 'name', 'uid'])
  const held = await served.ask('DELETE', `${configMaps}/held`)
  assert.equal(held.json.kind, 'ConfigMap')
  assert.ok(held.json.metadata.deletionTimestamp)
  assert.equal(held.json.metadata.deletionGracePeriodSeconds, 0)
  assert.equal((await served.ask('DELETE', `${pods}/none`)).status, 404)
})
