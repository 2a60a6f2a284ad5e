/**
 * The permissions for parts of a claim's status. Who may write the status may not thereby give
 * devices to a claim, or report the state of another driver's devices.
 */
import { FieldPath } from '#api/field-path.ts'
import { dns1123Subdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { Context, RequiredRight } from '#kinds/kind.ts'

const granular = 'DRAResourceClaimGranularStatusAuthorization'
const nodeNameKey = 'authentication.kubernetes.io/node-name'
const path = FieldPath.of('status')

export function claimRights(
  { status: next = {} }: KubeObject,
  { status: old = {} }: KubeObject,
  context: Context,
): RequiredRight[] {
  if (!context.feature(granular)) return []
  const reportsDevices = context.feature('DRAResourceClaimDeviceStatus') && Boolean(next.allocation)
  return [
    ...(isBoundAsBefore(next, old) ? [] : [bindingRight]),
    ...(reportsDevices ? driverRights(next, old, context) : []),
  ]
}

const isBoundAsBefore = (next: Loose, old: Loose): boolean =>
  semanticEqual(next.allocation, old.allocation) && semanticEqual(next.reservedFor, old.reservedFor)

const bindingRight: RequiredRight = {
  path: path.child('allocation'),
  subresource: 'binding',
  isNamespaced: false,
  name: '',
  verbPrefixes: [''],
  detail: ([verb]) =>
    `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`,
}

function driverRights(next: Loose, old: Loose, { user }: Context): RequiredRight[] {
  const isOnItsNode = isServiceAccountOn(user, nodeNameOf(next.allocation))
  const verbPrefixes = [...(isOnItsNode ? ['associated-node:'] : []), 'arbitrary-node:']
  return changedDrivers(next.devices ?? [], old.devices ?? []).map((name) => ({
    path: path.child('devices'),
    subresource: 'driver',
    isNamespaced: true,
    name,
    verbPrefixes,
    detail: (verbs) =>
      `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`,
  }))
}

const idOf = ({ driver = '', pool = '', device = '', shareID = '' }: Loose): string =>
  JSON.stringify([driver, pool, device, shareID])

/** The drivers of devices that were added, changed or removed, sorted. */
function changedDrivers(next: readonly Loose[], old: readonly Loose[]): string[] {
  const before = new Map(old.map((device) => [idOf(device), device]))
  const changed = new Set<string>()
  for (const device of next) {
    const id = idOf(device)
    if (!semanticEqual(before.get(id), device)) changed.add(device.driver ?? '')
    before.delete(id)
  }
  for (const { driver = '' } of before.values()) changed.add(driver)
  return [...changed].sort()
}

/** The node that has the devices, if the selector is as the scheduler writes it. */
function nodeNameOf({ nodeSelector }: Loose): string {
  const terms: Loose[] = nodeSelector?.nodeSelectorTerms ?? []
  const [{ matchExpressions = [], matchFields = [] } = {}] = terms
  if (terms.length !== 1 || matchExpressions.length !== 0 || matchFields.length !== 1) return ''
  const { key, operator, values = [] } = matchFields[0]
  return key === 'metadata.name' && operator === 'In' && values.length === 1 ? values[0] : ''
}

function isServiceAccountOn(user: Context['user'], nodeName: string): boolean {
  if (user === undefined || nodeName === '') return false
  if (!/^system:serviceaccount:[^:]+:[^:]+$/.test(user.name)) return false
  const names = user.extra[nodeNameKey] ?? []
  return names.length === 1 && names[0] === nodeName && dns1123Subdomain(nodeName).length === 0
}
