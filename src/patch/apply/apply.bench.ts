/**
 * How the cost of field ownership grows with the object. Run it with node and read the last column,
 * which is constant if the cost is linear. Times are processor times, which do not depend on the
 * load of the machine.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { applyConfiguration, type FieldManagerKind, recordUpdate } from './field-manager.ts'
import { dict, field, struct, text, thing, thingKind, thingOf } from './sample.suite.ts'

const who = { manager: 'maker', subresource: '', now: '2021-01-01T00:00:00Z' }

/** Microseconds of the fastest of several rounds. */
function measure(rounds: number, action: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 6; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < rounds; i++) action()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / rounds)
  }
  return best
}

function show(what: string, size: number, micros: number): void {
  const columns = [
    what.padEnd(36),
    String(size).padStart(7),
    `${micros.toFixed(1)} µs`.padStart(14),
  ]
  console.log(...columns, `${((micros * 1000) / size).toFixed(0)} ns each`.padStart(14))
}

function owned(kind: FieldManagerKind, object: KubeObject): KubeObject {
  const managedFields = recordUpdate(kind, undefined, object, who)
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields } }
}

const applier = { ...who, manager: 'applier', force: true }

for (const size of [2, 20, 200]) {
  const containers = Array.from({ length: size }, (_, i) => ({
    name: `c${i}`,
    image: 'i',
    resources: {},
  }))
  const object = thingOf({ spec: { replicas: 1, containers } })
  const live = owned(thingKind, object)
  const config = thingOf({ spec: { containers: [{ name: 'c1', image: 'j' }] } })
  const rounds = Math.ceil(4000 / size)
  show(
    'create, by containers',
    size,
    measure(rounds, () => recordUpdate(thingKind, undefined, object, who)),
  )
  show(
    'update, by containers',
    size,
    measure(rounds, () => recordUpdate(thingKind, live, object, who)),
  )
  show(
    'apply one field, by containers',
    size,
    measure(rounds, () => applyConfiguration(thingKind, live, config, applier)),
  )
}

const mapType = struct('Map', [
  ...thing.fields.filter(({ name }) => name !== 'spec' && name !== 'status'),
  field('data', dict(text)),
])
const mapKind: FieldManagerKind = { ...thingKind, typeFor: () => mapType }
for (const size of [10, 100, 1000, 10_000]) {
  const data = Object.fromEntries(
    Array.from({ length: size }, (_, i) => [`key${i}`, 'x'.repeat(100)]),
  )
  const live = owned(mapKind, thingOf({ data }))
  const config = thingOf({ data: { key5: 'y' } })
  const rounds = Math.ceil(10_000 / size)
  show(
    'apply one field, by keys of a map',
    size,
    measure(rounds, () => applyConfiguration(mapKind, live, config, applier)),
  )
}
