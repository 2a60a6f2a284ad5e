import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Resource } from '#kinds/kind.ts'
import { counter, gauge, histogram } from '#observe/metrics/metric.ts'
import { Registry } from '#observe/metrics/registry.ts'
import { deleteMetricsOfRemovedKinds } from './recorders.ts'

const group = 'example.com'
const kinds = [
  { version: 'v1', kind: 'Thing' },
  { version: 'v2', kind: 'Thing' },
]
const things = { group, plural: 'things', kinds } as unknown as Resource

function measured() {
  const registry = new Registry({ release: 22 })
  const requests = registry.register(counter('r', 'verb', 'group', 'version', 'resource'), 'R.')
  const events = registry.register(histogram('e', [], 'group', 'version', 'kind'), 'E.')
  const objects = registry.register(gauge('o', 'resource'), 'O.')
  const counts = registry.register(gauge('c', 'group', 'resource'), 'C.')
  for (const [plural, kind] of [
    ['things', 'Thing'],
    ['others', 'Other'],
  ]) {
    for (const { version } of kinds) requests.labels('GET', group, version, plural)
    for (const { version } of kinds) events.labels(group, version, kind).observe(1)
    objects.labels(`${plural}.${group}`)
    counts.labels(group, plural)
  }
  return registry
}

const rows: [what: string, isServed: boolean, afterMs: number, isShown: boolean][] = [
  ['requests under way are waited for', false, 59_000, true],
  ['then the metrics of a removed kind are deleted', false, 61_000, false],
  ['what came back is not', true, 61_000, true],
]
for (const [what, isServed, afterMs, isShown] of rows) {
  test(`metrics of a definition that goes: ${what}`, async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const registry = measured()
    deleteMetricsOfRemovedKinds({ registry }, things, () => isServed)
    mock.timers.tick(afterMs)
    mock.timers.reset()
    const page = await registry.page()
    assert.equal(/things|Thing/.test(page), isShown)
    assert.equal(page.match(/others|Other/g)?.length, 10)
  })
}
