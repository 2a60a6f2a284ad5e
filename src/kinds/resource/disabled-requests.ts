/** Drops parts of device requests whose feature gate is off, unless the old claim uses them. */
import type { Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'

const ofRequest: readonly (readonly [gate: string, field: string])[] = [
  ['DRAAdminAccess', 'adminAccess'],
  ['DRADeviceTaints', 'tolerations'],
  ['DRAConsumableCapacity', 'capacity'],
  ['DRADerivedAttributes', 'derivedAttributes'],
]

/** All parts of the requests that can have these fields, including alternatives. */
function holdersIn(devices: Loose | undefined): Loose[] {
  const requests: Loose[] = devices?.requests ?? []
  return requests.flatMap(({ exactly, firstAvailable = [] }) => [
    ...(exactly ? [exactly] : []),
    ...firstAvailable,
  ])
}

export function dropDisabledRequests(
  next: Loose | undefined,
  old: Loose | undefined,
  { feature }: Context,
): void {
  for (const [gate, field] of ofRequest) {
    if (feature(gate) || holdersIn(old).some((holder) => holder[field] !== undefined)) continue
    for (const holder of holdersIn(next)) delete holder[field]
  }
  const alternatives = (devices: Loose | undefined): Loose[] =>
    ((devices?.requests ?? []) as Loose[]).filter((request) => request.firstAvailable?.length > 0)
  if (!feature('DRAPrioritizedList') && alternatives(old).length === 0) {
    for (const request of alternatives(next)) delete request.firstAvailable
  }
  const distinct = (devices: Loose | undefined): Loose[] =>
    ((devices?.constraints ?? []) as Loose[]).filter((one) => one.distinctAttribute !== undefined)
  if (!feature('DRAConsumableCapacity') && distinct(old).length === 0) {
    for (const constraint of distinct(next)) delete constraint.distinctAttribute
  }
}
