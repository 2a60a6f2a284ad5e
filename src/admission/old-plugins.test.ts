/**
 * Plugins of releases before 1.22: PodPreset, and the two that reject exec into pods with access to
 * the host.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { denyExec } from './deny-exec.ts'
import { podPreset } from './pod-preset.ts'
import { outcome, pod, podKind, requestOf } from './requests.suite.ts'

const refused = '403 pods "p" is forbidden: cannot exec into or attach to a '
const privileged = { containers: [{ name: 'c', securityContext: { privileged: true } }] }
const execs: [spec: Loose, subresource: string, escalating: string, onlyPrivileged: string][] = [
  [{}, 'exec', 'admitted', 'admitted'],
  [{ hostNetwork: true }, 'exec', `${refused}container using host network`, 'admitted'],
  [{ hostPID: true }, 'attach', `${refused}container using host pid`, 'admitted'],
  [{ hostIPC: true }, 'attach', `${refused}container using host ipc`, 'admitted'],
  [privileged, 'exec', `${refused}privileged container`, `${refused}privileged container`],
  [privileged, 'portforward', 'admitted', 'admitted'],
]
for (const [spec, subresource, ...expected] of execs) {
  test(`${subresource} into a pod with ${JSON.stringify(spec)}`, async () => {
    const reader = new MemoryReader()
    reader.put('', 'pods', pod(spec))
    for (const [i, onlyPrivileged] of [false, true].entries()) {
      const request = requestOf('CONNECT', podKind, {}, { name: 'p', subresource })
      assert.equal(await outcome(denyExec('X', onlyPrivileged), request, reader), expected[i])
    }
  })
}

const preset = (name: string, spec: Loose) => ({
  metadata: { name, namespace: 'ns', resourceVersion: '7' },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
})
const given = { env: [{ name: 'A', value: '1' }], volumes: [{ name: 'v', emptyDir: {} }] }
const presets: [title: string, presets: Loose[], metadata: Loose, env: string[], marks: number][] =
  [
    ['another pod', [preset('a', given)], {}, ['B'], 0],
    ['a pod it is for', [preset('a', given)], { labels: { app: 'web' } }, ['B', 'A'], 1],
    [
      'two equal presets',
      [preset('a', given), preset('b', given)],
      { labels: { app: 'web' } },
      ['B', 'A'],
      2,
    ],
    [
      'two that contradict each other',
      [preset('a', given), preset('b', { env: [{ name: 'A', value: '2' }] })],
      { labels: { app: 'web' } },
      ['B'],
      0,
    ],
    [
      'a pod that wants none',
      [preset('a', given)],
      {
        labels: { app: 'web' },
        annotations: { 'podpreset.admission.kubernetes.io/exclude': 'true' },
      },
      ['B'],
      1,
    ],
  ]
for (const [title, all, metadata, env, marks] of presets) {
  test(`presets: ${title}`, async () => {
    const reader = new MemoryReader()
    for (const one of all) reader.put('settings.k8s.io', 'podpresets', one as never)
    const made = pod({ containers: [{ name: 'c', env: [{ name: 'B', value: '0' }] }] }, metadata)
    assert.equal(await outcome(podPreset, requestOf('CREATE', podKind, made), reader), 'admitted')
    const names = made.spec.containers[0].env.map(({ name }: Loose) => name)
    assert.deepEqual(names, env)
    assert.equal(Object.keys(made.metadata.annotations ?? {}).length, marks)
    assert.equal(made.spec.volumes?.length, env.length === 2 ? 1 : undefined)
  })
}
