/** The file of --admission-control-config-file: the configuration of each plugin, and errors. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { readConfigurations } from './configuration.ts'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'admission-'))
  mkdirSync(join(folder, 'beside'))
  writeFileSync(join(folder, 'beside', 'part.yaml'), 'kind: Beside\nlimit: 3\n')
  writeFileSync(join(folder, 'list.yaml'), '- a\n')
})
after(() => rmSync(folder, { recursive: true }))

const of = (version: string, ...plugins: Loose[]) => ({
  kind: 'AdmissionConfiguration',
  apiVersion: version,
  plugins,
})
const v1 = 'apiserver.config.k8s.io/v1'
const own = { name: 'A', configuration: { kind: 'Own' } }
const known =
  'known is AdmissionConfiguration of apiserver.config.k8s.io/v1 and apiserver.k8s.io/v1alpha1'
const rows: [what: string, content: unknown, expected: Loose | RegExp][] = [
  ['a part in it', of(v1, own), { A: { kind: 'Own' } }],
  ['the older version', of('apiserver.k8s.io/v1alpha1', own), { A: { kind: 'Own' } }],
  ['an empty list of plugins', of(v1), {}],
  ['no list of plugins', { kind: 'AdmissionConfiguration', apiVersion: v1 }, {}],
  [
    'parts beside it and elsewhere',
    of(v1, { name: 'A', path: 'beside/part.yaml' }, { name: 'B', configuration: { x: 1 } }),
    { A: { kind: 'Beside', limit: 3 }, B: { x: 1 } },
  ],
  [
    'a part that is in it and beside it',
    of(v1, { ...own, path: 'beside/part.yaml' }),
    { A: { kind: 'Own' } },
  ],
  ['a plugin twice', of(v1, own, { name: 'A', configuration: { x: 1 } }), { A: { kind: 'Own' } }],
  ['a plugin of neither', of(v1, { name: 'A' }), {}],
  [
    'an ImagePolicyWebhook configuration without AdmissionConfiguration',
    { imagePolicy: { kubeConfigFile: '/x' } },
    { ImagePolicyWebhook: { imagePolicy: { kubeConfigFile: '/x' } } },
  ],
  [
    'a PodNodeSelector configuration without AdmissionConfiguration',
    { podNodeSelectorPluginConfig: { a: 'b' } },
    { PodNodeSelector: { podNodeSelectorPluginConfig: { a: 'b' } } },
  ],
  ['another kind', { ...of(v1), kind: 'X' }, new RegExp(`^no kind "X" .*; ${known}$`)],
  [
    'another version',
    of('v9'),
    /^no kind "AdmissionConfiguration" is registered for version "v9" /,
  ],
  ['neither', {}, /^no kind "" is registered for version "" /],
  ['no YAML', '{{{', /^unable to read admission control configuration from ".*" \[yaml: [^\n]*\]$/],
  ['no object', [], /^admission control configuration ".*" is no object$/],
  [
    'a part that is not there',
    of(v1, { name: 'A', path: 'gone.yaml' }),
    /^unable to read admission control configuration from ".*gone\.yaml" \[/,
  ],
  [
    'a configuration that is not an object',
    of(v1, { name: 'A', path: 'list.yaml' }),
    /list\.yaml" is no object$/,
  ],
]
for (const [what, content, expected] of rows) {
  test(`a file with ${what}`, async () => {
    const file = join(folder, 'configuration.yaml')
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    if (expected instanceof RegExp) {
      await assert.rejects(readConfigurations(file), (error: Error) => expected.test(error.message))
    } else {
      assert.deepEqual(Object.fromEntries(await readConfigurations(file)), expected)
    }
  })
}

test('a part may be specified by its absolute path', async () => {
  const file = join(folder, 'whole.yaml')
  const path = join(folder, 'beside', 'part.yaml')
  writeFileSync(file, JSON.stringify(of(v1, { name: 'A', path })))
  assert.equal((await readConfigurations(file)).get('A')?.limit, 3)
})
