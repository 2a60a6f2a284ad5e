/**
 * Python's client, where it is installed: objects, patches, pages, watches, deletions, and kinds it
 * learns of by discovery. `BINNACLE_PYTHON` names the interpreter that has it; without one the test
 * is skipped and says so.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { startServer } from '../running-server.ts'

/** The system's own has what its packages bring, whichever python3 comes first. */
const interpreters = [process.env.BINNACLE_PYTHON ?? 'python3', '/usr/bin/python3']
const hasClient = (name: string) => spawnSync(name, ['-c', 'import kubernetes']).status === 0
const python = interpreters.find(hasClient) as string
const skip =
  python === undefined &&
  `${interpreters.join(' and ')} have no module kubernetes; BINNACLE_PYTHON may name one that has`

/** Prints one line per step; what a step finds wrong it says instead. */
const script = `
import json, sys
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

config.load_kube_config(sys.argv[1])
core, apps = client.CoreV1Api(), client.AppsV1Api()
space = 'python'

core.create_namespace({'metadata': {'name': space}})
made = core.create_namespaced_config_map(space, client.V1ConfigMap(
    metadata=client.V1ObjectMeta(name='a', labels={'n': '0'}), data={'__proto__': '1', 'k': 'é'}))
print('made', made.metadata.name, sorted(made.data), made.data['k'])
made.data['k'] = '2'
changed = core.replace_namespaced_config_map('a', space, made)
print('changed', changed.data['k'], changed.metadata.resource_version != made.metadata.resource_version)
try:
    core.replace_namespaced_config_map('a', space, made)
except ApiException as refused:
    print('stale', refused.status, refused.reason)
print('patched', core.patch_namespaced_config_map('a', space, {'data': {'k': None, 'm': '3'}}).data)
try:
    core.read_namespaced_config_map('none', space)
except ApiException as refused:
    print('missing', refused.status)

for i in range(5):
    core.create_namespaced_config_map(space, {'metadata': {'name': 'm%d' % i, 'labels': {'of': 'many'}}})
names, token, versions = [], None, set()
while True:
    page = core.list_namespaced_config_map(space, label_selector='of=many', limit=2, _continue=token)
    names += [item.metadata.name for item in page.items]
    versions.add(page.metadata.resource_version)
    token = page.metadata._continue
    if not token:
        break
print('pages', names, len(versions))

start = core.list_namespaced_config_map(space).metadata.resource_version
core.create_namespaced_config_map(space, {'metadata': {'name': 'w'}})
core.patch_namespaced_config_map('w', space, {'data': {'x': '1'}})
core.delete_namespaced_config_map('w', space)
seen = []
stream = watch.Watch()
for event in stream.stream(core.list_namespaced_config_map, space, resource_version=start, timeout_seconds=5):
    seen.append(event['type'] + ' ' + event['object'].metadata.name)
    if len(seen) == 3:
        stream.stop()
print('watched', seen)

apps.create_namespaced_deployment(space, {
    'metadata': {'name': 'd'},
    'spec': {'replicas': 1, 'selector': {'matchLabels': {'a': 'b'}}, 'template': {
        'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}})
scaled = apps.patch_namespaced_deployment_scale('d', space, {'spec': {'replicas': 3}})
print('scaled', scaled.spec.replicas, apps.read_namespaced_deployment('d', space).spec.replicas)
gone = core.delete_collection_namespaced_config_map(space, label_selector='of=many')
print('deleted', len(core.list_namespaced_config_map(space, label_selector='of=many').items))
print('version', client.VersionApi().get_code().major)

found = dynamic.DynamicClient(client.ApiClient(), cache_file=sys.argv[2])
maps = found.resources.get(api_version='v1', kind='ConfigMap')
intent = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'd'}, 'data': {'x': 'y'}}
if hasattr(found, 'server_side_apply'):
    # As text: older ones do not know how to write an object as an apply.
    applied = found.server_side_apply(maps, body=json.dumps(intent), name='d', namespace=space,
        field_manager='python', force_conflicts=True)
else:
    applied = maps.create(namespace=space, body=intent)
print('dynamic', applied.data.x, maps.get(name='d', namespace=space).metadata.name)
deployments = found.resources.get(api_version='apps/v1', kind='Deployment')
print('subresource', deployments.scale.get(name='d', namespace=space).spec.replicas)
`

const expected = [
  "made a ['__proto__', 'k'] é",
  'changed 2 True',
  'stale 409 Conflict',
  "patched {'__proto__': '1', 'm': '3'}",
  'missing 404',
  "pages ['m0', 'm1', 'm2', 'm3', 'm4'] 1",
  "watched ['ADDED w', 'MODIFIED w', 'DELETED w']",
  'scaled 3 3',
  'deleted 0',
  'version 1',
  'dynamic y d',
  'subresource 3',
]

test('objects, patches, pages, watches and deletions', { skip }, async () => {
  const server = await startServer()
  const cache = join(server.dataDir, 'discovery.json')
  try {
    const run = spawnSync(python, ['-c', script, join(server.dataDir, 'admin.kubeconfig'), cache], {
      encoding: 'utf8',
      env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
      timeout: 60_000,
    })
    assert.deepEqual(run.stdout.trimEnd().split('\n'), expected, run.stderr)
  } finally {
    await server.stop()
  }
})
