/**
 * Section 3 of the specification and what requests to delete may say, as kube-apiserver 1.22
 * answers them. Every option is used on objects that go at once, that are held by finalizers, and
 * that have a grace.
 */
import assert from 'node:assert/strict'
import { core, type Row, specify, type Wire } from './specification.fixture.ts'

const place = `${core}/namespaces/kube-public`
const containers = [{ name: 'c', image: 'i' }]
const running = { nodeName: 'n1', containers, terminationGracePeriodSeconds: 7 }

/** An object of its own for each row. */
const kinds: Record<string, [resource: string, more: { metadata?: object; spec?: object }]> = {
  plain: ['configmaps', {}],
  held: ['configmaps', { metadata: { finalizers: ['example.com/a'] } }],
  orphaning: ['configmaps', { metadata: { finalizers: ['orphan'] } }],
  pod: ['pods', { spec: running }],
}

interface Made {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string }
}
type Options = object | ((made: Made) => object)

/**
 * The result of two deletions, one after the other. A row has the status of the response, its kind,
 * and what is left of the object: finalizers by their initials and grace.
 */
type Case = readonly [kind: string, query: string, options: Options | undefined, expected: string]
const cases: Case[] = [
  ['plain', '', undefined, '200 Status gone'],
  ['plain', '', {}, '200 Status gone'],
  ['plain', '', { gracePeriodSeconds: 100 }, '200 Status gone'],
  ['plain', '', { kind: 'Pod', apiVersion: 'v1' }, '500 Status live, 500 Status live'],
  ['plain', '', { gracePeriodSeconds: 'x' }, '500 Status live, 500 Status live'],
  ['plain', '?gracePeriodSeconds=x', undefined, '400 Status live, 400 Status live'],
  ['plain', '', { propagationPolicy: 'Background' }, '200 Status gone'],
  ['plain', '', { propagationPolicy: 'Orphan' }, '200 ConfigMap o 0, 200 ConfigMap o 0'],
  ['plain', '', { propagationPolicy: 'Foreground' }, '200 ConfigMap f 0, 200 ConfigMap f 0'],
  ['plain', '?propagationPolicy=Foreground', undefined, '200 ConfigMap f 0, 200 ConfigMap f 0'],
  ['plain', '', { propagationPolicy: 'Other' }, '422 Status live, 422 Status live'],
  ['plain', '', { orphanDependents: true }, '200 ConfigMap o 0, 200 ConfigMap o 0'],
  ['plain', '', { orphanDependents: false }, '200 Status gone'],
  [
    'plain',
    '',
    { orphanDependents: true, propagationPolicy: 'Background' },
    '422 Status live, 422 Status live',
  ],
  ['plain', '', ({ metadata: { uid } }) => ({ preconditions: { uid } }), '200 Status gone'],
  ['plain', '', { preconditions: { uid: 'other' } }, '409 Status live, 409 Status live'],
  ['plain', '', { preconditions: { resourceVersion: '1' } }, '409 Status live, 409 Status live'],
  [
    'plain',
    '',
    ({ metadata: { uid, resourceVersion } }) => ({ preconditions: { uid, resourceVersion } }),
    '200 Status gone',
  ],
  [
    'plain',
    '',
    ({ metadata: { uid } }) => ({ preconditions: { uid, resourceVersion: '1' } }),
    '409 Status live, 409 Status live',
  ],
  ['plain', '?dryRun=All', undefined, '200 Status live, 200 Status live'],
  ['plain', '', { dryRun: ['All'] }, '200 Status live, 200 Status live'],
  ['plain', '', { dryRun: ['Some'] }, '422 Status live, 422 Status live'],
  [
    'plain',
    '',
    { dryRun: ['All'], propagationPolicy: 'Foreground' },
    '200 ConfigMap live, 200 ConfigMap live',
  ],
  ['held', '', undefined, '200 ConfigMap e 0, 200 ConfigMap e 0'],
  ['held', '', { gracePeriodSeconds: 100 }, '200 ConfigMap e 0, 200 ConfigMap e 0'],
  ['held', '', { orphanDependents: false }, '202 ConfigMap e 0, 202 ConfigMap e 0'],
  ['held', '', { propagationPolicy: 'Orphan' }, '200 ConfigMap e,o 0, 200 ConfigMap e,o 0'],
  ['held', '', { propagationPolicy: 'Foreground' }, '200 ConfigMap e,f 0, 200 ConfigMap e,f 0'],
  [
    'held',
    '',
    ({ metadata: { resourceVersion } }) => ({ preconditions: { resourceVersion } }),
    '200 ConfigMap e 0, 409 Status e 0',
  ],
  // What holds it for its dependents is removed or kept by the options, and stays without any.
  ['orphaning', '', undefined, '200 ConfigMap o 0, 200 ConfigMap o 0'],
  ['orphaning', '', { propagationPolicy: 'Background' }, '200 Status gone'],
  ['orphaning', '', { propagationPolicy: 'Foreground' }, '200 ConfigMap f 0, 200 ConfigMap f 0'],
  ['pod', '', undefined, '200 Pod - 7, 200 Pod - 7'],
  ['pod', '', { gracePeriodSeconds: 3 }, '200 Pod - 3, 200 Pod - 3'],
  ['pod', '?gracePeriodSeconds=3', undefined, '200 Pod - 3, 200 Pod - 3'],
  // A body is heard before the query.
  ['pod', '?gracePeriodSeconds=3', { gracePeriodSeconds: 0 }, '200 Pod gone'],
  ['pod', '', { gracePeriodSeconds: 100 }, '200 Pod - 100, 200 Pod - 100'],
  ['pod', '', { gracePeriodSeconds: 0 }, '200 Pod gone'],
  ['pod', '', { gracePeriodSeconds: -5 }, '200 Pod - 1, 200 Pod - 1'],
  ['pod', '', { orphanDependents: false }, '202 Pod - 7, 202 Pod - 7'],
  ['pod', '', { propagationPolicy: 'Foreground' }, '200 Pod f 7, 200 Pod f 7'],
]

async function outcome(on: Wire, path: string, query: string, body: object | undefined) {
  const { status, body: answer } = await on.ask('DELETE', `${path}${query}`, body)
  const { status: found, body: left } = await on.ask('GET', path)
  const told = `${status} ${answer.kind}`
  if (found === 404) return `${told} gone`
  const { deletionTimestamp, deletionGracePeriodSeconds: grace, finalizers = [] } = left.metadata
  if (deletionTimestamp === undefined) return `${told} live`
  const initials = finalizers.map((one: string) => one[0]).join() || '-'
  return `${told} ${initials} ${grace}`
}

const rows = cases.map(([kind, query, options, expected], i): Row => {
  const said = typeof options === 'function' ? String(options) : JSON.stringify(options)
  return [
    '3',
    `${kind} ${query} ${said ?? ''}: ${expected}`,
    async (on) => {
      const [resource, more] = kinds[kind]
      const name = `deleted-${i}`
      const sent = { ...more, metadata: { name, ...more.metadata } }
      const { body: made } = await on.expect(201, 'POST', `${place}/${resource}`, sent)
      const path = `${place}/${resource}/${name}`
      const body = typeof options === 'function' ? options(made) : options
      const got = [await outcome(on, path, query, body)]
      if (!got[0].endsWith('gone')) got.push(await outcome(on, path, query, body))
      assert.equal(got.join(', '), expected)
    },
  ]
})

const collections: Row[] = [
  [
    '4.2',
    'a collection is deleted with the options of one, what is held is marked, and the answer lists it',
    async (on) => {
      const own = 'labelSelector=of=collection'
      const labels = { of: 'collection' }
      const maps = `${place}/configmaps`
      for (const [name, finalizers] of [
        ['col-a', []],
        ['col-b', ['example.com/a']],
        ['col-c', []],
      ])
        await on.expect(201, 'POST', maps, { metadata: { name, labels, finalizers } })
      const names = async (query: string) => {
        const { body } = await on.expect(200, 'GET', `${maps}?${query}`)
        return body.items.map((item: { metadata: { name: string } }) => item.metadata.name).join()
      }
      // Nothing is deleted by a dry run, by conditions that do not hold, or outside of the
      // selection.
      await on.expect(200, 'DELETE', `${maps}?${own}&dryRun=All`)
      await on.expect(409, 'DELETE', `${maps}?${own}`, { preconditions: { uid: 'other' } })
      await on.expect(200, 'DELETE', `${maps}?${own}&fieldSelector=metadata.name=col-z`)
      assert.equal(await names(own), 'col-a,col-b,col-c')
      const one = await on.expect(200, 'DELETE', `${maps}?${own}&fieldSelector=metadata.name=col-c`)
      assert.deepEqual([one.body.kind, one.body.items.length], ['ConfigMapList', 1])
      const { body } = await on.expect(200, 'DELETE', `${maps}?${own}`, {
        propagationPolicy: 'Foreground',
      })
      assert.equal(body.items.length, 2)
      assert.equal(await names(own), 'col-a,col-b')
      const { body: left } = await on.expect(200, 'GET', `${maps}/col-b`)
      assert.deepEqual(left.metadata.finalizers, ['example.com/a', 'foregroundDeletion'])
      assert.equal(left.metadata.deletionGracePeriodSeconds, 0)
    },
  ],
]

// No controllers: what they do with finalizers is their own.
specify(
  'section 3, as requests ask for it',
  ['--controllers=-*', '--disable-admission-plugins=ServiceAccount'],
  [...rows, ...collections],
)
