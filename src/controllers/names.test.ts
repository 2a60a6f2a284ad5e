import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { change } from '#api/releases/change.ts'
import { loadControllers } from './all.ts'
import { type ControllerName, controllerRows, selectControllers } from './names.ts'

const rows = {
  a: {},
  b: {},
  optional: { onByDefault: false },
  new: { only: change('test: a controller', { since: 20 }) },
}

const cases: [words: string[], release: number, selected: string][] = [
  [['*'], 22, 'a b new'],
  [['*'], 19, 'a b'],
  [['*', '-b'], 22, 'a new'],
  [['*', 'optional'], 22, 'a b optional new'],
  [['b'], 22, 'b'],
  [['-*'], 22, ''],
  [['*', '-*'], 22, ''],
  [[''], 22, ''],
  [[], 22, ''],
  [['-b'], 22, ''],
]
for (const [words, release, expected] of cases) {
  test(`--controllers=${words} of 1.${release} is ${expected || 'none'}`, () => {
    const selected = selectControllers(words, release, rows)
    assert.ok(!('error' in selected))
    assert.equal(selected.join(' '), expected)
  })
}

for (const [release, count] of [
  [20, 0],
  [21, 3],
] as const)
  test(`1.${release} has ${count} controllers of cron jobs and EndpointSlices`, () => {
    const words = ['cronjob', 'endpointslice', 'endpointslicemirroring']
    const selected = selectControllers(words, release)
    assert.equal((selected as readonly string[]).length, count)
  })

checkBoundaries<ControllerName, string>(
  (release, name) => {
    const selected = selectControllers([name], release)
    return 'error' in selected ? selected.error : selected.join(' ')
  },
  [
    ['root-ca-cert-publisher', [19, 20], 'root-ca-cert-publisher', '', 'root-ca-cert-publisher'],
    ['ttl-after-finished', [20, 21], 'ttl-after-finished', '', 'ttl-after-finished'],
    ['service-cidr-controller', [32, 33], 'service-cidr-controller', '', 'service-cidr-controller'],
    [
      'legacy-serviceaccount-token-cleaner-controller',
      [28, 29],
      'legacy-serviceaccount-token-cleaner-controller',
      '',
      'legacy-serviceaccount-token-cleaner-controller',
    ],
    [
      'storage-version-migrator-controller',
      [36, 37],
      'storage-version-migrator-controller',
      '',
      'storage-version-migrator-controller',
    ],
  ],
)

test('a name that there is not is an error', () => {
  assert.deepEqual(selectControllers(['*', '-c'], 22, rows), {
    error: '--controllers: "c" is not in the list of known controllers: a, b, optional, new',
  })
})

test('every controller is called what it says it is', async () => {
  const names = Object.keys(controllerRows) as ControllerName[]
  const loaded = await loadControllers(names)
  assert.deepEqual(
    loaded.map(({ name }) => name),
    names,
  )
})
