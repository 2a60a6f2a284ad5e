/** Selectors of lists and watches: which objects match, and which fields a kind does not know. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import { parseFieldSelector } from '#api/field-selector.ts'
import type { Entry } from '#watchcache/entry.ts'
import { type Fixture, refusalOf, startVerbs } from './fixture.suite.ts'
import { select } from './selection.ts'

let verbs: Fixture
before(async () => {
  verbs = await startVerbs()
  const labels: Record<string, Record<string, string>> = {
    a: { n: 'a', size: '3' },
    b: { n: 'b', size: '10' },
    c: { size: 'many' },
    d: {},
  }
  for (const [name, own] of Object.entries(labels)) {
    await verbs.create('configmaps', { metadata: { name, labels: own } })
  }
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await verbs.create('pods', { metadata: { name: 'p' }, spec: { ...spec, nodeName: 'one' } })
  await verbs.create('pods', { metadata: { name: 'q' }, spec: { ...spec, restartPolicy: 'Never' } })
  await verbs.create('secrets', { metadata: { name: 's' }, type: 'example.com/own' })
  await verbs.create('secrets', { metadata: { name: 't' } })
  await verbs.settled()
})
after(() => verbs.stop())

const namesOf = async (plural: string, query: string) =>
  (await verbs.list(plural, query)).entries.map(({ name }) => name).join(' ')

test('labels', async () => {
  const cases: [selector: string, names: string][] = [
    ['n', 'a b'],
    ['!n', 'c d'],
    ['n=a', 'a'],
    ['n==a', 'a'],
    ['n!=a', 'b c d'],
    ['n in (a,b)', 'a b'],
    ['n notin (a)', 'b c d'],
    ['size>5', 'b'],
    ['size<5', 'a'],
    ['size,!n', 'c'],
    ['n=a,size=10', ''],
    ['', 'a b c d'],
  ]
  for (const [selector, names] of cases) {
    const query = `labelSelector=${encodeURIComponent(selector)}`
    assert.equal(await namesOf('configmaps', query), names, selector)
  }
})

test('field selectors: name and namespace of all kinds, other fields of some', async () => {
  const cases: [plural: string, selector: string, outcome: string][] = [
    ['configmaps', 'metadata.name=b', 'b'],
    ['configmaps', 'metadata.name!=b', 'a c d'],
    ['configmaps', 'metadata.namespace=default', 'a b c d'],
    ['configmaps', 'metadata.namespace=other', ''],
    ['configmaps', 'metadata.name=a,metadata.name=b', ''],
    ['configmaps', 'metadata.name=a,metadata.name=a', 'a'],
    ['configmaps', 'metadata.name=a,metadata.name!=a', ''],
    ['configmaps', 'metadata.name!=a,metadata.name=a', ''],
    ['configmaps', 'metadata.name!=a,metadata.name!=c', 'b d'],
    ['pods', 'status.phase=Pending,status.phase=Running', ''],
    ['configmaps', 'data.n=a', '400 BadRequest'],
    ['configmaps', 'metadata.uid=x', '400 BadRequest'],
    ['configmaps', '__proto__=x', '400 BadRequest'],
    ['pods', 'spec.nodeName=one', 'p'],
    ['pods', 'spec.nodeName=', 'q'],
    ['pods', 'spec.restartPolicy=Never', 'q'],
    ['pods', 'status.phase=Pending', 'p q'],
    ['pods', 'spec.nodeName=one,status.phase!=Pending', ''],
    ['pods', 'spec.hostname=x', '400 BadRequest'],
    ['secrets', 'type=example.com/own', 's'],
    ['secrets', 'type!=example.com/own', 't'],
  ]
  for (const [plural, selector, outcome] of cases) {
    const query = `fieldSelector=${encodeURIComponent(selector)}`
    const got = /^\d{3} /.test(outcome)
      ? await refusalOf(namesOf(plural, query))
      : await namesOf(plural, query)
    assert.equal(got, outcome, `${plural} ${selector}`)
  }
})

test('thousands of requirements are matched against thousands of objects quickly', () => {
  const text = Array.from({ length: 4000 }, (_, i) => `metadata.name!=x${i}`).join(',')
  const { matches } = select(verbs.target('pods').kind, [], parseFieldSelector(text))
  const spentMs = processorMs(() => {
    for (let i = 0; i < 10_000; i++) assert.ok(matches?.({ name: `y${i}` } as Entry))
  })
  assert.ok(spentMs < 500, `${spentMs} ms`)
})

test('both selectors must match, in pages too', async () => {
  const both = `labelSelector=${encodeURIComponent('n')}&fieldSelector=${encodeURIComponent('metadata.name!=a')}`
  assert.equal(await namesOf('configmaps', both), 'b')
  const page = await verbs.list('configmaps', 'labelSelector=n&limit=1')
  assert.deepEqual(
    [page.entries.length, page.remaining, page.continueToken !== ''],
    [1, undefined, true],
  )
})
