/** Policies in files: errors, the order of policies, and changes of a file. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { AdmissionRequest } from '#admission/admission.ts'
import { catalogOf, kindOf, requestOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { validatingPolicyOnceBound } from './once-configured.ts'
import { authorizer, configMap, meterOf, rule } from './policies.suite.ts'
import { readManifests } from './static-manifests.ts'

const folder = mkdtempSync(join(tmpdir(), 'manifests-'))
after(() => rmSync(folder, { recursive: true }))
const catalog = catalogOf(37)
const kindNamed = (apiVersion: string, kind: string) => catalog.byKind(apiVersion, kind)
const parts = { release: 37, kindNamed, feature: () => true }

const apiVersion = 'admissionregistration.k8s.io/v1'
const policy = (name: string, expression: string, spec: Loose = {}) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [rule(['*'], ['*'])] },
    validations: [{ expression }],
    ...spec,
  },
})
const binding = (policyName: string, spec: Loose = {}) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, validationActions: ['Deny'], ...spec },
})

let count = 0
function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = join(folder, String(++count))
  mkdirSync(directory)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}
const yaml = (...documents: unknown[]) =>
  documents.map((one) => JSON.stringify(one)).join('\n---\n')

const own = policy('p.static.k8s.io', 'false')
const list = { apiVersion: 'v1', kind: 'List', items: [own, binding('p.static.k8s.io')] }
const policyList = { apiVersion, kind: 'ValidatingAdmissionPolicyList', items: [own] }

const read: [title: string, files: Readonly<Record<string, string>>, counts: [number, number]][] = [
  ['documents of one file', { 'a.yaml': yaml(own, binding('p.static.k8s.io')) }, [1, 1]],
  ['two files', { 'a.yml': yaml(own), 'b.JSON': yaml(binding('p.static.k8s.io')) }, [1, 1]],
  ['a list', { 'a.yaml': yaml(list) }, [1, 1]],
  ['a list of policies', { 'a.yaml': yaml(policyList) }, [1, 0]],
  ['no files', {}, [0, 0]],
  ['other files', { 'a.txt': 'x', 'b.yaml': '' }, [0, 0]],
]
for (const [title, files, [policies, bindings]] of read)
  test(`manifests: ${title}`, () => {
    const loaded = readManifests(directoryWith(files), 'validating', parts)
    assert.deepEqual([loaded.policies.length, loaded.bindings.length], [policies, bindings])
  })

const wrong: [title: string, text: string, problem: RegExp][] = [
  ['no kind', '{"a":1}', /^error loading .*a\.yaml: Object 'Kind' is missing/],
  ['another kind', yaml(configMap({})), /unsupported resource type v1 ConfigMap/],
  ['no suffix', yaml(policy('p', 'true')), /must have a name ending with "\.static\.k8s\.io"/],
  ['a name twice', yaml(own, own), /duplicate name "p\.static\.k8s\.io" found in file/],
  ['an unknown field', yaml({ ...own, specs: 1 }), /strict decoding error: unknown field "specs"/],
  [
    'a wrong expression',
    yaml(policy('p.static.k8s.io', 'object +')),
    /ValidatingAdmissionPolicy "p\.static\.k8s\.io": spec\.validations\[0\]\.expression: Invalid value/,
  ],
  [
    'parameters',
    yaml(policy('p.static.k8s.io', 'true', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })),
    /spec\.paramKind is not supported for static manifests/,
  ],
  [
    'a binding of a policy of the API',
    yaml({ ...binding('p'), metadata: { name: 'b.static.k8s.io' } }),
    /spec\.policyName "p" must end with/,
  ],
  [
    'a binding without its policy',
    yaml(binding('p.static.k8s.io')),
    /references policy "p\.static\.k8s\.io" which does not exist/,
  ],
]
for (const [title, text, problem] of wrong)
  test(`wrong manifests: ${title}`, () => {
    assert.throws(() => readManifests(directoryWith({ 'a.yaml': text }), 'validating', parts), {
      message: problem,
    })
  })

const pluginWith = (configuration: Loose, release = 37, gate = true) =>
  validatingPolicyOnceBound({
    release: releaseOf(release),
    authorizer: authorizer(false),
    kindNamed,
    meter: meterOf(release).meter,
    feature: () => gate,
    report: () => {},
    configuration,
  })
const configurationOf = (staticManifestsDir: string) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyConfiguration',
  staticManifestsDir,
})

const configurations: [title: string, configuration: Loose, gate: boolean, problem: RegExp][] = [
  [
    'a relative path',
    configurationOf('x'),
    true,
    /staticManifestsDir: Invalid value: "x": must be an absolute/,
  ],
  ['no directory', configurationOf('/none'), true, /unable to read: stat \/none: no such file/],
  ['no gate', configurationOf(folder), false, /staticManifestsDir: Forbidden: .* feature gate/],
  ['another kind', { kind: 'X' }, true, /no kind "X" is registered/],
  ['an unknown field', { ...configurationOf(''), x: 1 }, true, /unknown field "x"/],
]
for (const [title, configuration, gate, problem] of configurations)
  test(`configuration: ${title}`, () => {
    assert.throws(() => pluginWith(configuration, 37, gate), { message: problem })
  })

test('configuration: before 1.36 it is not read', () => {
  assert.doesNotThrow(() => pluginWith({ kind: 'X' }, 35))
  assert.throws(() => pluginWith({ kind: 'X' }, 36))
})

async function outcome(
  plugin: ReturnType<typeof pluginWith>,
  request: AdmissionRequest,
): Promise<string> {
  try {
    await plugin.validate?.(request, new MemoryReader())
    return 'admitted'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message
  }
}

const policyRequest = () =>
  requestOf('DELETE', kindOf(apiVersion, 'validatingadmissionpolicies', catalog), undefined, {
    name: 'x',
  })
const reviewRequest = () =>
  requestOf('CREATE', kindOf('authorization.k8s.io/v1', 'subjectaccessreviews', catalog), {
    metadata: {},
  })

test('manifests intercept policies, but not reviews, and change with their files', async () => {
  const directory = directoryWith({ 'a.yaml': yaml(own, binding('p.static.k8s.io')) })
  const plugin = pluginWith(configurationOf(directory))
  assert.match(await outcome(plugin, policyRequest()), /policy 'p\.static\.k8s\.io' with binding/i)
  assert.equal(await outcome(plugin, reviewRequest()), 'admitted')
  writeFileSync(join(directory, 'a.yaml'), 'nonsense')
  const good = policy('p.static.k8s.io', 'true')
  writeFileSync(join(directory, 'a.yaml'), yaml(good, binding('p.static.k8s.io')))
  await until('the new policy', async () => {
    return (await outcome(plugin, policyRequest())) === 'admitted'
  })
})

test('reviews: policies from the API intercepted them before 1.30', async () => {
  for (const [minor, expected] of [
    [29, true],
    [30, false],
  ] as const) {
    const reader = new MemoryReader()
    const group = 'admissionregistration.k8s.io'
    const { spec } = own
    reader.put(group, 'validatingadmissionpolicies', { metadata: { name: 'p' }, spec })
    reader.put(group, 'validatingadmissionpolicybindings', {
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    })
    const plugin = pluginWith(undefined as never, minor)
    await plugin.start?.(reader)
    assert.equal((await outcome(plugin, reviewRequest())) !== 'admitted', expected)
  }
})
