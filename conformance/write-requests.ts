/** Random writes: creations and updates by every content type, and patches of every kind. */
import { acceptList } from './media-type-requests.ts'
import { query, type Scene, type RequestMaker } from './scene.ts'
import type { Random } from './random.ts'
import type { Step } from './two-servers.ts'

export const contentTypes = [
  'application/json',
  'application/yaml',
  'application/json; charset=utf-8',
  'application/json;charset=iso-8859-1',
  'APPLICATION/JSON',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/xml',
  '*/*',
  'application/*',
  'application',
  ';',
  'application/json;',
  'application/json, application/yaml',
  'application/json;as=Table',
  'text/yaml',
  'application/x-yaml',
  '',
]

/** Bodies that are wrong in ways that a decoder must distinguish. */
export function bodies(random: Random, scene: Scene, name: string): unknown {
  const object = scene.object(name)
  const text = JSON.stringify(object)
  const lines = Object.entries(object).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  return random.pick<unknown>([
    object,
    object,
    object,
    text,
    lines.join(''),
    `---\n${lines.join('')}`,
    '',
    '{}',
    '[]',
    'null',
    '"x"',
    '1',
    'x',
    '{',
    `${text}}`,
    `${text}${text}`,
    `${text} x`,
    { ...object, kind: 'Secret' },
    { ...object, kind: '' },
    { ...object, apiVersion: 'v9' },
    { ...object, apiVersion: 'apps/v1' },
    { ...object, apiVersion: '' },
    { ...object, kind: 'Nope' },
    { ...object, apiVersion: 'a/b/c' },
    { ...object, metadata: 'x' },
    { ...object, metadata: null },
    { ...object, metadata: [] },
    { ...object, metadata: { ...(object.metadata as object), name: 1 } },
    { ...object, bogus: 1 },
    { ...object, Kind: 'x' },
    [object],
    text.replace('"kind"', '"Kind"'),
    text.replace('"metadata"', '"Metadata"'),
    text.replace('{', '{"kind":"X",'),
    text.replace(/}$/, ',"kind":"Secret"}'),
    { kind: 'List', apiVersion: 'v1', items: [object] },
    { kind: 'Status', apiVersion: 'v1' },
    { kind: 'DeleteOptions', apiVersion: 'v1' },
    { ...object, metadata: { ...(object.metadata as object), namespace: 'other' } },
    { ...object, metadata: { ...(object.metadata as object), name: 'other' } },
    { ...object, metadata: { ...(object.metadata as object), resourceVersion: '1' } },
    { ...object, metadata: { ...(object.metadata as object), uid: 'x' } },
    { ...object, metadata: { ...(object.metadata as object), labels: { a: 1 } } },
    { ...object, metadata: { ...(object.metadata as object), creationTimestamp: 'x' } },
    { ...object, metadata: { ...(object.metadata as object), finalizers: ['x'] } },
    { ...object, metadata: { ...(object.metadata as object), generation: '1' } },
  ])
}

export const writes: RequestMaker = (random, scene) => {
  const name = random.pick(['new', ...scene.names])
  const full = scene.namespaced ? name : name.startsWith(scene.id) ? name : `${scene.id}-${name}`
  const method = random.pick(['POST', 'POST', 'PUT'])
  const headers: Record<string, string> = {}
  if (random.chance(0.4)) headers['content-type'] = random.pick(contentTypes)
  if (random.chance(0.2)) headers.accept = acceptList(random)
  const path = method === 'POST' ? scene.collection : `${scene.collection}/${full}`
  const parameters = query(
    random,
    {
      dryRun: ['All', 'All', 'x', 'All&dryRun=All'],
      fieldManager: ['m', '', '%C3%A9', 'x'.repeat(129), '%00'],
      pretty: ['true'],
      force: ['true', 'x'],
      bogus: ['1'],
    },
    0.2,
  )
  const make: Step = {
    method,
    path: `${path}?${parameters}`,
    headers,
    body: bodies(random, scene, full),
  }
  return [make, { method: 'GET', path: `${scene.collection}/${full}` }]
}

export const patchBodies: readonly unknown[] = [
  { metadata: { labels: { p: '1' } } },
  { metadata: { labels: null } },
  { metadata: { name: 'other' } },
  { metadata: { resourceVersion: '1' } },
  { metadata: { uid: 'x' } },
  { kind: 'Secret' },
  { apiVersion: 'v9' },
  { metadata: null },
  {},
  null,
  [],
  'x',
  1,
  '{',
  '',
  [{ op: 'bogus', path: '/x' }],
  [{ op: 'add', path: '/metadata/labels', value: { q: '1' } }],
  [{ op: 'remove', path: '/nothing' }],
  [{ op: 'test', path: '/kind', value: 'x' }],
  [{ op: 'replace', path: '/metadata/name', value: 'x' }],
  [{ op: 'copy', from: '/metadata/name', path: '/metadata/labels' }],
  [{ op: 'add', path: 'x' }],
  [{}],
  [{ op: 'move', from: '/metadata/labels/n', path: '/metadata/labels/z' }],
  { $patch: 'delete' },
  { metadata: { $patch: 'replace', name: 'x' } },
  { metadata: { labels: { $patch: 'replace', z: '1' } } },
  { metadata: { finalizers: ['a.b/c'] } },
  { metadata: { finalizers: ['bad finalizer'] } },
  { metadata: { $setElementOrder: [] } },
  { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } },
  { bogus: 1 },
  { metadata: { labels: { 'bad key!': 'x' } } },
  { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] } },
  { metadata: { generation: 9 } },
  { metadata: { deletionTimestamp: null } },
  { metadata: { creationTimestamp: null } },
  { metadata: { namespace: 'other' } },
  { status: {} },
  { metadata: { managedFields: [] } },
  '{"metadata":{"labels":{"a":"1","a":"2"}}}',
]

export const patchTypes = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]

export const patches: RequestMaker = (random, scene) => {
  const name = random.pick([...scene.names, 'missing'])
  const type = random.chance(0.85) ? random.pick(patchTypes) : random.pick(contentTypes)
  let body = random.pick(patchBodies)
  if (
    type.includes('apply') &&
    random.chance(0.7) &&
    typeof body === 'object' &&
    !Array.isArray(body)
  ) {
    const { apiVersion, kind } = scene.object(name)
    body = { apiVersion, kind, ...body }
  }
  const parameters = query(
    random,
    { fieldManager: ['m', 'm', ''], force: ['true', 'false', 'x'], dryRun: ['All', 'x'] },
    0.35,
  )
  const path = `${scene.collection}/${name}`
  return [
    { method: 'PATCH', path: `${path}?${parameters}`, headers: { 'content-type': type }, body },
    { method: 'GET', path },
  ]
}
