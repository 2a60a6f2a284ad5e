import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { currentAnnotations, lastRevision, newestRevision } from './revisions.ts'
import { requestedRevision, rollback } from './rollback.ts'
import { rolloutOf } from './rollout.ts'
import { replicaSetName, templateHash } from './template-hash.ts'

const revision = 'deployment.kubernetes.io/revision'
const history = 'deployment.kubernetes.io/revision-history'
const request = 'deprecated.deployment.rollback.to'
const withAnnotations = (annotations: Loose): KubeObject => ({ metadata: { annotations } })

const long = Array.from({ length: 500 }, (_, i) => i + 1000).join(',')
const rows: [what: string, own: Loose, set: Loose | undefined, next: number, Loose][] = [
  ['a new one', { a: 'b', [revision]: '7' }, undefined, 1, { a: 'b', [revision]: '1' }],
  ['one without revision', {}, {}, 3, { [revision]: '3' }],
  ['an up to date one', { a: 'b' }, { a: 'c', [revision]: '3' }, 3, { a: 'b', [revision]: '3' }],
  ['a later one', {}, { [revision]: '5' }, 3, { [revision]: '5' }],
  ['an earlier one', {}, { [revision]: '1' }, 3, { [revision]: '3', [history]: '1' }],
  [
    'one that returns again',
    {},
    { [revision]: '3', [history]: '1' },
    5,
    { [revision]: '5', [history]: '1,3' },
  ],
  ['one with a strange revision', { a: 'b' }, { [revision]: 'x' }, 3, { [revision]: 'x' }],
  [
    'one with a long history',
    {},
    { [revision]: '3', [history]: long },
    4,
    { [revision]: '4', [history]: `${long.slice(-1994)},3` },
  ],
]
for (const [what, own, set, next, expected] of rows)
  test(`annotations of ${what}`, () =>
    assert.deepEqual(
      currentAnnotations(withAnnotations(own), set && withAnnotations(set), next),
      expected,
    ))

test('the newest revision and the one before it', () => {
  const sets = ['3', 'x', '10', '7'].map((number) => withAnnotations({ [revision]: number }))
  assert.equal(newestRevision([...sets, withAnnotations({})]), 10)
  assert.equal(lastRevision(sets), 7)
  assert.equal(newestRevision([]), 0)
})

test('a hash depends on the template and on the count of collisions, not on the order of keys', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } }
  const turned = { spec: { containers: [] }, metadata: { labels: { a: 'b' } } }
  assert.match(templateHash(template, undefined), /^[bcdf-hj-np-tv-xz24-9]{1,10}$/)
  assert.equal(templateHash(template, undefined), templateHash(turned, undefined))
  assert.notEqual(templateHash(template, undefined), templateHash(template, 1))
  assert.equal(replicaSetName('a'.repeat(253), 'bcd').length, 253)
})

const template = (version: string, more: Loose = {}) => ({
  metadata: { labels: { version, ...more } },
  spec: {},
})
const set = (version: string, number: string): KubeObject => ({
  metadata: { name: version, annotations: { [revision]: number, cause: version } },
  spec: { template: template(version, { 'pod-template-hash': version }) },
})
const rollbacks: [requested: string, reason: string, version: string][] = [
  ['0', 'DeploymentRollback', 'second'],
  ['1', 'DeploymentRollback', 'first'],
  ['3', 'DeploymentRollbackTemplateUnchanged', 'third'],
  ['9', 'DeploymentRollbackRevisionNotFound', 'third'],
]
for (const [requested, reason, version] of rollbacks)
  test(`a rollback to ${requested}: ${reason}`, () => {
    const deployment: KubeObject = {
      metadata: { name: 'web', annotations: { [request]: requested, cause: 'third' } },
      spec: { template: template('third') },
    }
    const sets = [set('first', '1'), set('second', '2'), set('third', '3')]
    const number = requestedRevision(deployment) as number
    const result = rollback(rolloutOf(deployment, sets), number)
    assert.equal(result.reason, reason)
    assert.deepEqual(result.deployment.spec?.template, template(version))
    assert.deepEqual(result.deployment.metadata.annotations, { cause: version })
  })

test('a rollback that is not requested, or not to a number', () => {
  assert.equal(requestedRevision(withAnnotations({})), undefined)
  assert.equal(requestedRevision(withAnnotations({ [request]: 'x' })), undefined)
})
