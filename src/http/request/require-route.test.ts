import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Served, startServed } from '#http/served.fixture.ts'

let served: Served
before(async () => {
  served = await startServed()
  const namespace = { metadata: { name: 'default' } }
  await served.verbs.create('namespaces', namespace).catch(() => undefined)
  await served.verbs.create('configmaps', { metadata: { name: 'a' } })
})
after(() => served.stop())

const configMaps = '/api/v1/namespaces/default/configmaps'

test('a path exists if the kind has a verb there, and accepts only the methods of its verbs', async () => {
  const cases: [method: string, path: string, status: number][] = [
    ['GET', `${configMaps}/a`, 200],
    ['GET', configMaps, 200],
    ['GET', '/api/v1/configmaps', 200],
    // Built-in kinds are read with GET, not with HEAD.
    ['HEAD', `${configMaps}/a`, 405],
    ['HEAD', configMaps, 405],
    ['HEAD', `${configMaps}?watch=1&timeoutSeconds=1`, 405],
    ['OPTIONS', configMaps, 405],
    ['TRACE', configMaps, 405],
    ['constructor', configMaps, 405],
    // A method that the path does not have.
    ['PUT', configMaps, 405],
    ['PATCH', configMaps, 405],
    ['POST', `${configMaps}/a`, 405],
    ['POST', '/api/v1/configmaps', 405],
    ['DELETE', '/api/v1/configmaps', 405],
    // The deprecated watch paths accept GET only.
    ['POST', '/api/v1/watch/namespaces/default/configmaps', 405],
    ['DELETE', '/api/v1/watch/namespaces/default/configmaps/a', 405],
    ['GET', '/api/v1/watch/nodes/n/status', 404],
    // A kind that only supports create has no objects, and no collection over all namespaces.
    ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 405],
    ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x', 404],
    ['POST', '/apis/authentication.k8s.io/v1/tokenreviews/x', 404],
    ['GET', '/api/v1/namespaces/default/bindings/x', 404],
    ['POST', '/api/v1/bindings', 404],
    // Paths that no kind has.
    ['GET', '/api/v1/configmaps/a', 404],
    ['GET', '/api/v1/namespaces/default/nodes', 404],
    ['GET', '/api/v1/namespaces/default/nodes/n', 404],
    // A user with all permissions in a namespace has none for Namespace objects.
    ['GET', '/api/v1/namespaces/default/namespaces', 404],
    ['GET', '/api/v1/namespaces/default/namespaces/default', 404],
    ['GET', '/api/v1/namespaces/default/namespaces/kube-system', 404],
    ['POST', '/api/v1/namespaces/default/namespaces', 404],
    ['PUT', '/api/v1/namespaces/default/namespaces/kube-system/finalize', 404],
    ['GET', '/api/v1/namespaces/default/namespaces/kube-system/status', 404],
    ['DELETE', '/api/v1/namespaces/default/namespaces/kube-system', 404],
    ['GET', '/api/v1/watch/namespaces/default/namespaces', 404],
    ['GET', '/api/v1/namespaces/default', 200],
    ['GET', '/api/v1/namespaces/default/status', 200],
    ['GET', `${configMaps}/a/status`, 404],
    ['GET', `${configMaps}/a/b/c`, 404],
    ['GET', '/api/v1/namespaces/default/pods/p/status/x', 404],
    ['GET', '/api/v1/nothing', 404],
    ['GET', '/apis/apps/v9/deployments', 404],
    // Subresources have their own methods.
    ['DELETE', '/api/v1/nodes/n/status', 405],
    ['POST', '/api/v1/nodes/n/status', 405],
    ['HEAD', '/api/v1/nodes/n/status', 405],
    ['GET', '/api/v1/nodes/n/status', 404],
    ['GET', '/api/v1/namespaces/default/pods/p/eviction', 405],
  ]
  for (const [method, path, status] of cases) {
    const answer = await served.ask(method, path)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
  }
  assert.deepEqual(served.defects, [])
})

test('a 404 says whether the path or the object does not exist', async () => {
  const cases: [path: string, contentType: string, message: string][] = [
    [`${configMaps}/b`, 'application/json', 'configmaps "b" not found'],
    [`${configMaps}/%00`, 'application/json', 'configmaps "\\x00" not found'],
    ['/api/v1/nothing', 'application/json', 'the server could not find the requested resource'],
    ['/apis/apps/v9', 'application/json', 'the server could not find the requested resource'],
    ['/apis/apps/v9/x', 'application/json', 'the server could not find the requested resource'],
    ['/apis/nope.example/v1/x', 'text/plain; charset=utf-8', '404 page not found\n'],
    ['/apis/nope.example', 'text/plain; charset=utf-8', '404 page not found\n'],
  ]
  for (const [path, contentType, message] of cases) {
    const { status, headers, text } = await served.ask('GET', path)
    assert.equal(status, 404, path)
    assert.equal(headers['content-type'], contentType, path)
    assert.equal(contentType === 'application/json' ? JSON.parse(text).message : text, message)
  }
})

test('names that could change the path of the key are rejected', async () => {
  const cases: [name: string, why: string][] = [
    ['..', "may not be '..'"],
    ['.', "may not be '.'"],
    ['a%25b', "may not contain '%'"],
  ]
  for (const [name, why] of cases) {
    for (const method of ['GET', 'DELETE']) {
      const { status, json } = await served.ask(method, `${configMaps}/${name}`)
      assert.equal(status, 400, name)
      const shown = JSON.stringify(decodeURIComponent(name))
      assert.equal(json.message, `Name parameter invalid: ${shown}: ${why}`)
    }
  }
})

test('the export parameter has no effect any more', async () => {
  const cases: [query: string, status: number][] = [
    ['export=true', 400],
    ['export=', 400],
    ['export=x&exact=true', 400],
    ['export=false', 200],
    ['export=0', 200],
    ['exact=true', 200],
  ]
  for (const [query, status] of cases) {
    assert.equal((await served.ask('GET', `${configMaps}/a?${query}`)).status, status, query)
  }
})

test("documents of kube-apiserver's routers accept GET only, documents of groups every method", async () => {
  const cases: [method: string, path: string, status: number][] = [
    ['GET', '/api', 200],
    ['GET', '/api/', 200],
    ['HEAD', '/api', 405],
    ['PUT', '/api/v1', 405],
    ['OPTIONS', '/apis/apps/v1/', 405],
    ['HEAD', '/apis/apiregistration.k8s.io', 405],
    ['PATCH', '/apis', 200],
    ['HEAD', '/apis/', 200],
    ['DELETE', '/apis/apps', 200],
    ['POST', '/apis/apps/', 200],
    ['GET', '/apis/apps/v1//deployments', 404],
  ]
  for (const [method, path, status] of cases) {
    const answer = await served.ask(method, path)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
  }
})

test('the error for an unreadable body names the kind of its path', async () => {
  const cases: [method: string, path: string, kind: string][] = [
    ['POST', configMaps, 'ConfigMap'],
    ['PUT', '/apis/apps/v1/namespaces/default/deployments/d/scale', 'Scale'],
    ['PUT', '/apis/apps/v1/namespaces/default/deployments/d/status', 'Deployment'],
    ['POST', '/api/v1/namespaces/default/serviceaccounts/s/token', 'TokenRequest'],
  ]
  for (const [method, path, kind] of cases) {
    const { status, json } = await served.ask(method, path, { body: '{' })
    assert.equal(status, 400, path)
    assert.match(
      json.message,
      new RegExp(`^the object provided is unrecognized \\(must be of type ${kind}\\)`),
    )
  }
})
