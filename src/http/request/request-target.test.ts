import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { parseTarget } from './request-target.ts'

type Row = [
  method: string,
  url: string,
  verb: string,
  group: string,
  version: string,
  namespace: string,
  resource: string,
  name: string,
  subresource: string,
]

const of = (method: string, url: string) => {
  const [path, query = ''] = url.split('?')
  return parseTarget(method, path, new URLSearchParams(query))
}

const rows: Row[] = [
  // Collections and objects, in the core group and others, with and without namespace.
  ['GET', '/api/v1/pods', 'list', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/pods/', 'list', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/namespaces/a/pods', 'list', '', 'v1', 'a', 'pods', '', ''],
  ['GET', '/api/v1/namespaces/a/pods/p', 'get', '', 'v1', 'a', 'pods', 'p', ''],
  ['HEAD', '/api/v1/namespaces/a/pods/p', 'get', '', 'v1', 'a', 'pods', 'p', ''],
  ['GET', '/apis/apps/v1/deployments', 'list', 'apps', 'v1', '', 'deployments', '', ''],
  [
    'GET',
    '/apis/apps/v1/namespaces/a/deployments/d',
    'get',
    'apps',
    'v1',
    'a',
    'deployments',
    'd',
    '',
  ],
  ['GET', '/api/v1/nodes/n', 'get', '', 'v1', '', 'nodes', 'n', ''],
  ['POST', '/api/v1/namespaces/a/pods', 'create', '', 'v1', 'a', 'pods', '', ''],
  ['PUT', '/api/v1/namespaces/a/pods/p', 'update', '', 'v1', 'a', 'pods', 'p', ''],
  ['PATCH', '/api/v1/namespaces/a/pods/p', 'patch', '', 'v1', 'a', 'pods', 'p', ''],
  ['DELETE', '/api/v1/namespaces/a/pods/p', 'delete', '', 'v1', 'a', 'pods', 'p', ''],
  ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection', '', 'v1', 'a', 'pods', '', ''],
  ['OPTIONS', '/api/v1/pods', '', '', 'v1', '', 'pods', '', ''],
  ['constructor', '/api/v1/pods', '', '', 'v1', '', 'pods', '', ''],
  // Watches, by the query and by the deprecated paths.
  ['GET', '/api/v1/pods?watch=1', 'watch', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/pods?watch=true', 'watch', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/pods?watch', 'watch', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/pods?watch=false', 'list', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/pods?watch=0', 'list', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/namespaces/a/pods/p?watch=1', 'get', '', 'v1', 'a', 'pods', 'p', ''],
  ['GET', '/api/v1/watch/pods', 'watch', '', 'v1', '', 'pods', '', ''],
  ['GET', '/api/v1/watch/namespaces/a/pods/p', 'watch', '', 'v1', 'a', 'pods', 'p', ''],
  ['GET', '/apis/apps/v1/watch/deployments', 'watch', 'apps', 'v1', '', 'deployments', '', ''],
  ['GET', '/api/v1/watch', 'list', '', 'v1', '', 'watch', '', ''],
  // A namespace as an object, and as the place of objects.
  ['GET', '/api/v1/namespaces', 'list', '', 'v1', '', 'namespaces', '', ''],
  ['GET', '/api/v1/namespaces/a', 'get', '', 'v1', 'a', 'namespaces', 'a', ''],
  ['DELETE', '/api/v1/namespaces/a', 'delete', '', 'v1', 'a', 'namespaces', 'a', ''],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update', '', 'v1', 'a', 'namespaces', 'a', 'finalize'],
  ['PATCH', '/api/v1/namespaces/a/status', 'patch', '', 'v1', 'a', 'namespaces', 'a', 'status'],
  // Subresources, and the segments after them.
  ['GET', '/api/v1/namespaces/a/pods/p/log', 'get', '', 'v1', 'a', 'pods', 'p', 'log'],
  ['POST', '/api/v1/namespaces/a/pods/p/exec', 'create', '', 'v1', 'a', 'pods', 'p', 'exec'],
  [
    'GET',
    '/api/v1/namespaces/a/services/s/proxy/x/y',
    'get',
    '',
    'v1',
    'a',
    'services',
    's',
    'proxy',
  ],
  [
    'PUT',
    '/apis/apps/v1/namespaces/a/deployments/d/scale',
    'update',
    'apps',
    'v1',
    'a',
    'deployments',
    'd',
    'scale',
  ],
  // Encoded characters are decoded; an encoded slash is a slash.
  ['GET', '/api/v1/namespaces/a/%70ods', 'list', '', 'v1', 'a', 'pods', '', ''],
  ['GET', '/api/v1/namespaces/a/pods%2fp', 'get', '', 'v1', 'a', 'pods', 'p', ''],
  [
    'GET',
    '/api/v1/namespaces/a/configmaps/..%2fsecrets',
    'get',
    '',
    'v1',
    'a',
    'configmaps',
    '..',
    'secrets',
  ],
]

for (const [method, url, ...expected] of rows) {
  test(`${method} ${url}`, () => {
    const { isResource, verb, group, version, namespace, resource, name, subresource } = of(
      method,
      url,
    )
    assert.deepEqual([verb, group, version, namespace, resource, name, subresource], expected)
    assert.equal(isResource, true)
  })
}

test('the target of a non-resource path is its path and its method', () => {
  const paths = [
    '/',
    '',
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/apps/v1/',
    '/readyz',
    '//api/v1/pods',
    '/apix/v1/pods',
  ]
  for (const path of paths) {
    const target = of('GET', path)
    assert.deepEqual(
      [target.isResource, target.verb, target.path, target.resource],
      [false, 'get', path, ''],
      path,
    )
  }
})

test('a field selector for one name counts as that name in authorization', () => {
  const cases: [method: string, query: string, name: string][] = [
    ['GET', 'fieldSelector=metadata.name=x', 'x'],
    ['GET', 'fieldSelector=metadata.name==x,metadata.namespace=a', 'x'],
    ['GET', 'watch=1&fieldSelector=metadata.name=x', 'x'],
    // Deletion needs permission for the collection, or for the named object.
    ['DELETE', 'fieldSelector=metadata.name=x', ''],
    ['GET', 'fieldSelector=metadata.name!=x', ''],
    ['GET', 'fieldSelector=metadata.name=..', ''],
    ['GET', 'fieldSelector=metadata.name=a/b', ''],
    ['GET', 'fieldSelector=nonsense', ''],
    ['POST', 'fieldSelector=metadata.name=x', ''],
  ]
  for (const [method, query, name] of cases) {
    const target = of(method, `/api/v1/namespaces/a/pods?${query}`)
    assert.deepEqual([target.name, target.authorizedName], ['', name], `${method} ${query}`)
  }
  const old = of('GET', '/api/v1/watch/namespaces/a/pods?fieldSelector=metadata.name=x')
  assert.deepEqual([old.name, old.authorizedName], ['', ''])
})

test('only a proxy has a path after its subresource', () => {
  assert.equal(of('GET', '/api/v1/namespaces/a/services/s/proxy/x/y').rest, 'x/y')
  assert.equal(of('GET', '/api/v1/namespaces/a/services/s/proxy/x/y').tooDeep, false)
  assert.equal(of('GET', '/api/v1/namespaces/a/pods/p/log/more').tooDeep, true)
})

test('a path that cannot be decoded is rejected', () => {
  for (const path of ['/api/v1/%', '/api/v1/%zz', '/api/v1/%ff']) {
    assert.throws(
      () => of('GET', path),
      (error) => error instanceof ApiError && error.code === 400,
    )
  }
})
