import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCreate, contextFor, inDefault, linesOf } from '#kinds/all-kinds/behaviour.suite.ts'
import { podPresetBehaviour } from './behaviour.ts'

const old = contextFor({ release: 19 })

checkCreate(podPresetBehaviour, [
  [
    'a preset gives something',
    inDefault({ spec: {} }),
    ['spec.volumes.env.envFrom.volumeMounts: Required value: must specify at least one'],
    old,
  ],
  [
    'what it gives is checked as in a pod',
    inDefault({
      spec: {
        selector: { matchLabels: { 'a b': 'c' } },
        env: [{ name: '1' }],
        volumeMounts: [{ name: 'none', mountPath: '/x' }],
      },
    }),
    [
      `spec.selector.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      `spec.env[0].name: Invalid value: "1": a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')`,
      'spec.volumeMounts[0].name: Not found: "none"',
    ],
    old,
  ],
  [
    'volumes that it mounts itself',
    inDefault({
      spec: {
        volumes: [{ name: 'v', emptyDir: {} }],
        volumeMounts: [{ name: 'v', mountPath: '/x' }],
      },
    }),
    [],
    old,
  ],
])

test('its spec is immutable', () => {
  const before = inDefault({ spec: { env: [{ name: 'A' }] } })
  const next = inDefault({ spec: {} }, { labels: { a: 'b' } })
  podPresetBehaviour.prepareForUpdate?.(next, before, old)
  assert.deepEqual(next.spec, before.spec)
  assert.deepEqual(linesOf(podPresetBehaviour.validateUpdate?.(next, before, old) ?? []), [])
})
