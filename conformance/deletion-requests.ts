/** Random deletions: with finalizers, preconditions and policies, of objects and of collections. */
import type { Json } from '#api/object-meta.ts'
import { contentTypes } from './write-requests.ts'
import { encode, query, type RequestMaker } from './scene.ts'
import type { Step } from './two-servers.ts'

const deleteBodies: readonly unknown[] = [
  undefined,
  undefined,
  {},
  { kind: 'DeleteOptions', apiVersion: 'v1' },
  { gracePeriodSeconds: 0 },
  { gracePeriodSeconds: 7 },
  { gracePeriodSeconds: -1 },
  { gracePeriodSeconds: 'x' },
  { propagationPolicy: 'Foreground' },
  { propagationPolicy: 'Orphan' },
  { propagationPolicy: 'Background' },
  { propagationPolicy: 'Bogus' },
  { orphanDependents: true },
  { orphanDependents: false },
  { orphanDependents: true, propagationPolicy: 'Orphan' },
  { preconditions: { uid: 'x' } },
  { preconditions: { uid: '$uid' } },
  { preconditions: { resourceVersion: '1' } },
  { preconditions: { resourceVersion: '$rv' } },
  { preconditions: { uid: '' } },
  { preconditions: {} },
  { dryRun: ['All'] },
  { dryRun: ['x'] },
  { dryRun: ['All', 'All'] },
  { dryRun: [] },
  { kind: 'Pod', apiVersion: 'v1' },
  { kind: 'DeleteOptions', apiVersion: 'v9' },
  { kind: 'DeleteOptions' },
  { bogus: 1 },
  [],
  'x',
  '{',
  'null',
  { kind: 'DeleteOptions', apiVersion: 'apps/v1', gracePeriodSeconds: 3 },
  { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  { kind: 'DeleteOptions', apiVersion: 'policy/v1' },
  {
    preconditions: { uid: '$uid', resourceVersion: '$rv' },
    gracePeriodSeconds: 1,
    propagationPolicy: 'Background',
  },
]

export const finalizing: RequestMaker = (random, scene) => {
  const name = scene.namespaced ? 'doomed' : `${scene.id}-doomed`
  const path = `${scene.collection}/${name}`
  const object = scene.object(name)
  const finalizers = random.pick([
    undefined,
    undefined,
    ['a.b/c'],
    ['a.b/c', 'd.e/f'],
    ['foregroundDeletion'],
    ['orphan'],
    ['orphan', 'foregroundDeletion'],
    ['kubernetes'],
    ['a.b/c', 'orphan'],
  ])
  if (finalizers !== undefined) (object.metadata as { [key: string]: Json }).finalizers = finalizers
  const steps: Step[] = [{ method: 'POST', path: scene.collection, body: object }]
  for (let i = 1 + random.below(3); i > 0; i--) {
    const parameters = query(
      random,
      {
        gracePeriodSeconds: ['0', '5', '-1', 'x', ''],
        propagationPolicy: ['Foreground', 'Background', 'Orphan', 'Bogus', ''],
        dryRun: ['All', 'x'],
        orphanDependents: ['true', 'false', 'x'],
        pretty: ['true'],
      },
      0.12,
    )
    const body = random.chance(0.6) ? random.pick(deleteBodies) : undefined
    steps.push({ method: 'GET', path })
    const headers: Record<string, string> = {}
    if (random.chance(0.1)) headers['content-type'] = random.pick(contentTypes)
    steps.push({ method: 'DELETE', path: `${path}?${parameters}`, body, headers })
    if (random.chance(0.4)) {
      const change = random.pick<unknown>([
        { metadata: { finalizers: ['new.one/x'] } },
        { metadata: { finalizers: ['a.b/c', 'new.one/x'] } },
        { metadata: { finalizers: null } },
        { metadata: { finalizers: [] } },
        { metadata: { finalizers: ['d.e/f'] } },
        { metadata: { deletionTimestamp: null } },
        { metadata: { deletionGracePeriodSeconds: 3 } },
        { metadata: { labels: { late: '1' } } },
        { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } },
        { metadata: { finalizers: ['orphan'] } },
      ])
      steps.push({
        method: 'PATCH',
        path,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: change,
      })
    }
  }
  steps.push({ method: 'GET', path })
  steps.push({
    method: 'PATCH',
    path,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { finalizers: null } },
  })
  steps.push({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` })
  return steps
}

export const collectionDeletes: RequestMaker = (random, scene) => {
  const parameters = query(
    random,
    {
      labelSelector: ['n%3Da', 'n%20in%20(b,c)', '%3Da', 'm'],
      fieldSelector: [`metadata.name%3D${scene.names[1]}`, 'data.n%3Da'],
      limit: ['1', 'x'],
      continue: ['garbage'],
      resourceVersion: ['0', '1', '$rv', 'abc'],
      resourceVersionMatch: ['Exact', 'Bogus'],
      timeoutSeconds: ['1'],
      dryRun: ['All', 'x'],
      gracePeriodSeconds: ['0', 'x'],
      propagationPolicy: ['Orphan', 'Bogus', 'Foreground'],
      watch: ['true'],
    },
    0.2,
  )
  const body = random.chance(0.5) ? random.pick(deleteBodies) : undefined
  const keep = scene.namespaced ? '' : `labelSelector=${encode(`run=${scene.id}`)}&`
  return [
    { method: 'GET', path: `${scene.collection}?${keep}` },
    {
      method: 'DELETE',
      path: `${scene.collection}?${keep}${scene.namespaced ? parameters : parameters.replace(/labelSelector=[^&]*&?/g, '')}`,
      body,
    },
    { method: 'GET', path: `${scene.collection}?${keep}` },
  ]
}
