/**
 * Random requests about a few objects that are there: every family of questions draws from its own tables, so that what one asks
 * is some cell of a matrix that nobody wrote down whole. Nothing here asks a server; the same random choices make the same steps.
 */
import type { Json } from '#api/object-meta.ts'
import type { Random } from './random.ts'
import type { Step } from './two-servers.ts'

export interface Scene {
  /** The run's own namespace. */
  readonly id: string
  /** `/api/v1`, `/apis/apps/v1`. */
  readonly at: string
  readonly plural: string
  readonly collection: string
  readonly namespaced: boolean
  readonly names: readonly string[]
  object(name: string): { [key: string]: Json }
}

type Question = (random: Random, scene: Scene) => readonly Step[]

const encode = encodeURIComponent

/** Some of the parameters, in the order of the table; a value may be left out, empty or given twice. */
function query(random: Random, table: Readonly<Record<string, readonly string[]>>, share: number) {
  const parts: string[] = []
  for (const [name, values] of Object.entries(table)) {
    if (!random.chance(share)) continue
    parts.push(`${name}=${random.pick(values)}`)
    if (random.chance(0.04)) parts.push(`${name}=${random.pick(values)}`)
  }
  return parts.join('&')
}

const versionsAsked = ['', '0', '$rv', '$first', '999999999', 'abc', '-1', '1.5', '00', '+1']
const hugeVersions = ['9223372036854775807', '18446744073709551615', '18446744073709551616', '0x10']
const matches = ['', 'Exact', 'NotOlderThan', 'Bogus', 'exact']
const limits = ['0', '1', '2', '3', '500', '-1', 'x', '', '1.5', '9223372036854775808', '%202']
const tokens = [
  '$continue',
  'garbage',
  '',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0',
]
const labelPieces = [
  'n',
  'n=a',
  'n==b',
  'n!=a',
  '!n',
  'n in (a,b)',
  'n notin (a)',
  'n in (b,a,)',
  'n>1',
  'n<5',
  'm',
]
const labelOddities = [
  'n in ()',
  'n gt 1',
  '=a',
  'n=a b',
  'n in (a',
  'UP..=x',
  ',',
  'n,',
  ',n',
  'n=',
  'n!=',
  'a/b/c=1',
  'x.y/n',
  'n=a=b',
  'n in a',
  '! n',
  '!n=a',
  'n==',
  'n>=1',
  'n>x',
  'n in (a b)',
  'in',
  'notin in (in)',
  'n  in\t(a)',
  '/n',
  'n/',
  'é=1',
  'n=-a',
  `n=${'x'.repeat(64)}`,
  `${'y'.repeat(64)}`,
  'n in (,)',
  '()',
  '!',
  '!!n',
  'n notin',
  'n=a,,m',
]
const fieldPieces = [
  'metadata.name=$a',
  'metadata.name==$b',
  'metadata.name!=$a',
  'metadata.namespace=$ns',
  'metadata.namespace!=x',
]
const fieldOddities = [
  'metadata.name',
  'data.n=a',
  'metadata.uid=1',
  'metadata.name=',
  '=a',
  'metadata.name=$a,metadata.name=$b',
  ',',
  'metadata.name>a',
  'spec.nodeName=n',
  'status.phase=Running',
  'type=Opaque',
  'metadata.name=a\\,b',
  'metadata.name=a\\x',
  'a\\=b=c',
  'spec.restartPolicy!=Never',
  'metadata.name=x\\',
  'metadata.labels.n=a',
  'spec.unschedulable=true',
  'involvedObject.name=x',
  'status.successful=1',
  'spec.schedulerName=default-scheduler',
  'status.replicas=0',
  'metadata.name in (a)',
  'metadata.name=$a=',
  'spec.clusterIP=None',
  'spec.serviceAccountName=default',
  'status.nominatedNodeName=',
]

function labelSelector(random: Random): string {
  if (random.chance(0.3)) return random.pick(labelOddities)
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(labelPieces)).join(',')
}

function fieldSelector(random: Random, { names, id }: Scene): string {
  const text = random.chance(0.4)
    ? random.pick(fieldOddities)
    : Array.from({ length: 1 + random.below(2) }, () => random.pick(fieldPieces)).join(',')
  return text
    .replaceAll('$a', names[0] as string)
    .replaceAll('$b', names[1] as string)
    .replaceAll('$ns', id)
}

/** A selector that keeps lists of a cluster-wide kind to what the run made. */
const own = ({ namespaced, id }: Scene): string =>
  namespaced ? '' : `labelSelector=${encode(`run=${id}`)}&`

const versions: Question = (random, scene) => {
  const first: Step = {
    method: 'GET',
    path: `${scene.collection}?${own(scene)}limit=${1 + random.below(3)}`,
  }
  const asked = random.chance(0.15) ? hugeVersions : versionsAsked
  const parameters = query(
    random,
    { resourceVersion: asked, resourceVersionMatch: matches, limit: limits, continue: tokens },
    0.55,
  )
  return [first, { method: 'GET', path: `${scene.collection}?${own(scene)}${parameters}` }]
}

const selectors: Question = (random, scene) => {
  const parts: string[] = []
  if (random.chance(0.6)) parts.push(`labelSelector=${encode(labelSelector(random))}`)
  if (random.chance(0.6)) parts.push(`fieldSelector=${encode(fieldSelector(random, scene))}`)
  if (random.chance(0.2)) parts.push(`limit=${random.pick(['1', '2'])}`)
  if (random.chance(0.2)) parts.push(`resourceVersion=${random.pick(['0', '$rv'])}`)
  if (!scene.namespaced && !parts.some((part) => part.startsWith('label'))) {
    parts.push(own(scene).slice(0, -1))
  }
  return [{ method: 'GET', path: `${scene.collection}?${parts.join('&')}` }]
}

const gets: Question = (random, scene) => {
  const name = random.pick([
    ...scene.names,
    'missing',
    'UPPER',
    'a%20b',
    'a%2Fb',
    '%00',
    'x'.repeat(300),
  ])
  const parameters = query(
    random,
    {
      resourceVersion: [...versionsAsked, ...hugeVersions],
      pretty: ['true', '1', '0', 'x', ''],
      exact: ['true'],
      export: ['true'],
    },
    0.4,
  )
  return [{ method: 'GET', path: `${scene.collection}/${name}?${parameters}` }]
}

const watches: Question = (random, scene) => {
  const name = random.pick(scene.names)
  const parameters = query(
    random,
    {
      resourceVersion: ['0', '$rv', '$first', '', 'abc', '-1', '1'],
      allowWatchBookmarks: ['true', '1', 'false', 'x'],
      labelSelector: ['n%3Da', 'n', 'n%20in%20()', '!n', '%3Da'],
      fieldSelector: [`metadata.name%3D${name}`, 'metadata.name!%3Da', 'data.n%3Da'],
      limit: ['1', 'x'],
      resourceVersionMatch: ['Exact', 'NotOlderThan'],
      continue: ['garbage', ''],
      pretty: ['true'],
    },
    0.3,
  )
  const watch = random.pick([
    'watch=1',
    'watch=true',
    'watch=True',
    'watch=x',
    'watch=0',
    'watch=',
    'watch',
  ])
  const timeout = random.pick([
    'timeoutSeconds=1',
    'timeoutSeconds=1',
    'timeoutSeconds=1',
    'timeoutSeconds=1&timeoutSeconds=x',
  ])
  const first: Step = { method: 'GET', path: `${scene.collection}/${name}` }
  const only = scene.namespaced ? '' : `&labelSelector=${encode(`run=${scene.id}`)}`
  const place = random.pick(['collection', 'collection', 'item', 'deprecated', 'deprecated-item'])
  const path = {
    collection: scene.collection,
    item: `${scene.collection}/${name}`,
    deprecated: watchPath(scene, ''),
    'deprecated-item': watchPath(scene, `/${name}`),
  }[place] as string
  return [first, { method: 'GET', path: `${path}?${watch}&${timeout}${only}&${parameters}` }]
}

const watchPath = ({ at, collection }: Scene, rest: string): string =>
  `${at}/watch${collection.slice(at.length)}${rest}`

const medias = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'text/html',
  'text/plain',
  'application/xml',
  '*/*',
  'application/*',
  'text/*',
  'application/*+json',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;g=meta.k8s.io;v=v1beta1',
  'application/json;as=Table;g=meta.k8s.io;v=v2',
  'application/json;as=Table',
  'application/json;as=Table;g=x;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
  'application/json;as=Bogus;g=meta.k8s.io;v=v1',
  'application/json;as=',
  'application/json;pretty=1',
  'application/json;pretty=0',
  'application/json;stream=watch',
  'application/json;charset=utf-8',
  'application/json;foo=bar',
  'APPLICATION/JSON',
  'application/json;AS=Table;G=meta.k8s.io;V=v1',
  '',
  ';',
  'application',
  'application/json;q=0',
  'application/json;q=2',
  'application/json;q=x',
  'application/yaml;as=Table;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1',
  'application/json; q=0.5',
  '*/*;q=0.1',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/json;stream=bogus',
  '*',
  'application/json;as=Table;g=meta.k8s.io;v=v1;q=0.3',
]

function acceptList(random: Random): string {
  const one = () => random.pick(medias)
  const weighted = () => `${one()}${random.chance(0.3) ? `;q=0.${random.below(10)}` : ''}`
  const length = random.pick([1, 1, 1, 2, 2, 3])
  return Array.from({ length }, weighted).join(random.pick([',', ', ', ' ,']))
}

const accepts: Question = (random, scene) => {
  const name = random.pick([...scene.names, 'missing'])
  const run = own(scene)
  const path = random.pick([
    `${scene.collection}?${run}`,
    `${scene.collection}/${name}`,
    `${scene.collection}?${run}includeObject=${random.pick(['None', 'Object', 'Metadata', 'Bogus', ''])}`,
    `${scene.collection}/${name}?includeObject=${random.pick(['None', 'Object', 'Bogus'])}`,
    `${scene.collection}?${run}limit=1`,
    `${scene.collection}?${run}watch=1&timeoutSeconds=1&resourceVersion=0`,
    `${scene.collection}/${name}?pretty=true`,
    '/api',
    '/apis',
    '/version',
    scene.at,
    '/api/v1',
    '/apis/apps',
    '/healthz',
    '/nothing',
    '/apis/nope.example/v1',
    `${scene.at}/nothing`,
  ])
  return [
    {
      method: random.pick(['GET', 'GET', 'GET', 'HEAD']),
      path,
      headers: { accept: acceptList(random) },
    },
  ]
}

const contentTypes = [
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

/** Bodies that are wrong in ways a decoder must tell apart. */
function bodies(random: Random, scene: Scene, name: string): unknown {
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

const writes: Question = (random, scene) => {
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
      fieldValidation: ['x'],
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

const patchBodies: readonly unknown[] = [
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
const patchTypes = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]

const patches: Question = (random, scene) => {
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

const finalizing: Question = (random, scene) => {
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

const collectionDeletes: Question = (random, scene) => {
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

const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'PATCH', 'DELETE', 'TRACE', 'PURGE']

const paths: Question = (random, scene) => {
  const { at, plural, collection, id, names } = scene
  const name = random.pick([...names, 'missing'])
  const subs = [
    'status',
    'scale',
    'nothing',
    'log',
    'exec',
    'proxy',
    'eviction',
    'binding',
    'finalize',
    'approval',
    'token',
    'ephemeralcontainers',
    'attach',
    'portforward',
    'a/b',
  ]
  const path = random.pick([
    collection,
    `${collection}/`,
    `${collection}/${name}`,
    `${collection}/${name}/`,
    `${collection}/${name}/${random.pick(subs)}`,
    `${at}/${plural}/${name}`,
    `${at}/${plural}`,
    `${at}/namespaces/${id}`,
    `${at}/namespaces/${id}/${plural}/${name}`,
    `${at}/namespaces/missing/${plural}`,
    `${at}/namespaces/missing/${plural}/${name}`,
    `${at}/namespaces/${id}/nothing`,
    `${at}//${plural}`,
    `//${collection}`,
    `${at}/${plural.toUpperCase()}`,
    at,
    `${at}/`,
    '/api',
    '/api/',
    '/apis',
    '/apis/',
    '/api/v2',
    '/api/v1/',
    '/apis/apps',
    '/apis/apps/',
    '/apis/apps/v9',
    '/apis/apps/v9/deployments',
    '/apis/nope.example/v1/things',
    '/apis/nope.example',
    '/nothing',
    '/version',
    '/version/',
    '/version/x',
    '/healthz',
    '/healthz/',
    '/healthz/ping',
    '/healthz/nope',
    '/livez/ping',
    '/readyz/ping',
    '/healthz/etcd',
    '/ui',
    '/swagger.json',
    '/openapi',
    '/favicon.ico',
    '/apis/apps/v1/watch',
    '/api/v1/watch',
    '/api/v1/proxy',
    '/api/v1/redirect',
    '/api/v1/watch/nothing',
    watchPath(scene, `/${name}/status`),
    '/api/v1/namespaces',
    `/api/v1/namespaces/${id}/status`,
    `/api/v1/namespaces/${id}/finalize`,
    '/api/v1/componentstatuses/x',
    '/api/v1/nodes/missing/proxy',
    `/api/v1/namespaces/${id}/services/missing/proxy/x`,
    `/api/v1/namespaces/${id}/services/a:b:c:d/proxy`,
    `/api/v1/namespaces/${id}/bindings`,
    `${collection}/..`,
    `${collection}/%2e%2e`,
    `${collection}/a%2fb`,
    '/../api',
    '/api/./v1',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/metrics/x',
    '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps/status',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    `/api/v1/namespaces/${id}/serviceaccounts/default/token`,
    '/apis/metrics.k8s.io/v1beta1/pods',
    '/api/v1/pods/x',
    `/apis/apps/v1/namespaces/${id}/deployments/missing/scale`,
  ])
  // Deleting what others need, or listing what only one of the servers has, would tell nothing.
  let method = random.pick(methods)
  const shared = path === '/api/v1/namespaces' || (path.endsWith(`/${plural}`) && !scene.namespaced)
  if (path === `/api/v1/namespaces/${id}` || path === `${at}/namespaces/${id}`)
    method = random.pick(['HEAD', 'OPTIONS', 'POST', 'PURGE'])
  if (shared && !path.includes('missing'))
    method = random.pick(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'PURGE'])
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  const full = name.startsWith(id) || scene.namespaced ? name : `${id}-${name}`
  const body =
    isRead || random.chance(0.4)
      ? undefined
      : random.pick<unknown>([{}, scene.object(full), '', 'x'])
  const timed = path.includes('/watch') ? '?timeoutSeconds=1' : ''
  const step = { method, path: path + timed, ...(body === undefined ? {} : { body }) }
  if (path.includes('/apis/apiregistration') && !isRead) return [{ method: 'OPTIONS', path }]
  return [step]
}

const heads: Question = (random, scene) => {
  const name = random.pick([...scene.names, 'missing'])
  const path = random.pick([
    `${scene.collection}?${own(scene)}`,
    `${scene.collection}/${name}`,
    `${scene.collection}/${name}/status`,
    `${scene.collection}/${name}?resourceVersion=abc`,
    `${scene.collection}?${own(scene)}watch=1&timeoutSeconds=1`,
    '/api',
    '/apis',
    '/version',
    '/healthz',
    '/readyz',
    '/nothing',
    `${scene.at}/nothing`,
    '/apis/nope.example/v1/x',
    scene.at,
    '/livez/nope',
    watchPath(scene, ''),
  ])
  return [{ method: random.pick(['HEAD', 'HEAD', 'OPTIONS']), path }]
}

const statusBodies: readonly unknown[] = [
  { status: {} },
  { status: null },
  { spec: {} },
  { status: 'x' },
  { status: { phase: 'Running' } },
  { status: { replicas: 3 } },
  { status: { conditions: [{ type: 'A', status: 'True' }] } },
  { metadata: { labels: { s: '1' } }, status: {} },
  { metadata: { finalizers: ['a.b/c'] } },
  { status: { bogus: 1 } },
  { metadata: { annotations: { s: '1' } }, spec: { replicas: 7 } },
  { status: { observedGeneration: -1 } },
]

const subresources: Question = (random, scene) => {
  const name = random.pick([...scene.names, 'missing'])
  const path = `${scene.collection}/${name}/${random.pick(['status', 'status', 'scale', 'eviction', 'binding', 'ephemeralcontainers', 'log', 'token', 'approval'])}`
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name },
    spec: { replicas: random.pick<unknown>([0, 3, -1, 'x']) },
  }
  const merge = { 'content-type': random.pick(patchTypes.slice(0, 3)) }
  const step = random.pick<Step>([
    { method: 'GET', path },
    { method: 'GET', path, headers: { accept: acceptList(random) } },
    { method: 'GET', path: `${path}?resourceVersion=${random.pick(versionsAsked)}` },
    {
      method: 'PUT',
      path,
      body: { ...scene.object(name), ...(random.pick(statusBodies) as object) },
    },
    { method: 'PUT', path, body: bodies(random, scene, name) },
    { method: 'PUT', path, body: scale },
    { method: 'PATCH', path, headers: merge, body: random.pick(statusBodies) },
    { method: 'PATCH', path, headers: merge, body: random.pick(patchBodies) },
    { method: 'PATCH', path, headers: merge, body: { spec: { replicas: 4 } } },
    {
      method: 'PATCH',
      path: `${path}?fieldManager=m`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: random.pick<unknown>([scale, { ...scene.object(name), status: {} }]),
    },
    { method: 'DELETE', path },
    { method: 'POST', path, body: scene.object(name) },
    {
      method: 'POST',
      path,
      body: {
        apiVersion: random.pick(['policy/v1', 'policy/v1beta1', 'v1']),
        kind: 'Eviction',
        metadata: { name: random.pick([name, 'x']) },
      },
    },
    {
      method: 'POST',
      path,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name },
        target: { kind: 'Node', name: 'n' },
      },
    },
    { method: 'OPTIONS', path },
    { method: 'HEAD', path },
  ])
  return [step, { method: 'GET', path: `${scene.collection}/${name}` }]
}

export const families: Readonly<Record<string, Question>> = {
  versions,
  selectors,
  gets,
  watches,
  accepts,
  writes,
  patches,
  finalizing,
  collectionDeletes,
  paths,
  heads,
  subresources,
}
