/** Random paths and methods, and what hangs on an object. */
import { acceptList } from './media-type-requests.ts'
import { requestedVersions } from './read-requests.ts'
import { watchPath } from './watch-requests.ts'
import { bodies, patchBodies, patchTypes } from './write-requests.ts'
import type { RequestMaker, Scene } from './scene.ts'
import type { Step } from './two-servers.ts'

const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'PATCH', 'DELETE', 'TRACE', 'PURGE']

const subresourceNames = [
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

/** Paths that are the same in every scene. */
const fixedPaths = [
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
  '/api/v1/namespaces',
  '/api/v1/componentstatuses/x',
  '/api/v1/nodes/missing/proxy',
  '/../api',
  '/api/./v1',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/metrics/x',
  '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps/status',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/metrics.k8s.io/v1beta1/pods',
  '/api/v1/pods/x',
]

/** Paths of the scene's kind and names: some exist, some are missing, some have odd spellings. */
function pathsOf(scene: Scene, name: string, subresource: string): string[] {
  const { at, plural, collection, id } = scene
  return [
    collection,
    `${collection}/`,
    `${collection}/${name}`,
    `${collection}/${name}/`,
    `${collection}/${name}/${subresource}`,
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
    watchPath(scene, `/${name}/status`),
    `/api/v1/namespaces/${id}/status`,
    `/api/v1/namespaces/${id}/finalize`,
    `/api/v1/namespaces/${id}/services/missing/proxy/x`,
    `/api/v1/namespaces/${id}/services/a:b:c:d/proxy`,
    `/api/v1/namespaces/${id}/bindings`,
    `${collection}/..`,
    `${collection}/%2e%2e`,
    `${collection}/a%2fb`,
    `/api/v1/namespaces/${id}/serviceaccounts/default/token`,
    `/apis/apps/v1/namespaces/${id}/deployments/missing/scale`,
  ]
}

export const paths: RequestMaker = (random, scene) => {
  const { at, plural, id, names } = scene
  const name = random.pick([...names, 'missing'])
  const own = pathsOf(scene, name, random.pick(subresourceNames))
  const path = random.pick([...own, ...fixedPaths])
  // Deleting what others need, or listing what only one of the servers has, would show nothing.
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

export const subresources: RequestMaker = (random, scene) => {
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
    { method: 'GET', path: `${path}?resourceVersion=${random.pick(requestedVersions)}` },
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
