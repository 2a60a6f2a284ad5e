/** Endpoints: addresses and ports that can be reached. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { ipAddress, nameIsDnsSubdomain, portNumber } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { checkDns1123Label, checkOneOf, each } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkAppProtocol, mayNameProtocols } from '#kinds/core/service/app-protocol.ts'
import { checkNonSpecialIp } from '#kinds/all-kinds/special-addresses.ts'

function check(endpoints: KubeObject, namesProtocols: boolean): FieldError[] {
  const path = FieldPath.of('subsets')
  const subsets: Loose[] = endpoints.subsets ?? []
  return subsets.flatMap((subset, i) => checkSubset(subset, path.index(i), namesProtocols))
}

const portsOf = ({ subsets }: KubeObject): Loose[] =>
  ((subsets ?? []) as Loose[]).flatMap(({ ports }) => ports ?? [])

function checkSubset(subset: Loose, path: FieldPath, namesProtocols: boolean): FieldError[] {
  const errors: FieldError[] = []
  const ready: Loose[] = subset.addresses ?? []
  const notReady: Loose[] = subset.notReadyAddresses ?? []
  const ports: Loose[] = subset.ports ?? []
  if (ready.length === 0 && notReady.length === 0) {
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'))
  }
  const at = (field: string, i: number) => path.child(field).index(i)
  errors.push(
    ...ready.flatMap((address, i) => checkAddress(address, at('addresses', i))),
    ...notReady.flatMap((address, i) => checkAddress(address, at('notReadyAddresses', i))),
    ...ports.flatMap((port, i) => [
      ...checkPort(port, ports.length > 1, at('ports', i)),
      ...checkAppProtocol(port, at('ports', i), namesProtocols),
    ]),
  )
  return errors
}

function checkAddress({ ip = '', hostname, nodeName }: Loose, path: FieldPath): FieldError[] {
  const errors = each(path.child('ip'), ip, ipAddress(ip))
  if (hostname) errors.push(...checkDns1123Label(hostname, path.child('hostname')))
  if (typeof nodeName === 'string') {
    errors.push(...each(path.child('nodeName'), nodeName, nameIsDnsSubdomain(nodeName, false)))
  }
  return [...errors, ...checkNonSpecialIp(ip, path.child('ip'))]
}

function checkPort(port: Loose, nameRequired: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (port.name) errors.push(...checkDns1123Label(port.name, path.child('name')))
  else if (nameRequired) errors.push(required(path.child('name')))
  errors.push(
    ...each(path.child('port'), port.port ?? 0, portNumber(port.port ?? 0)),
    ...checkOneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], path.child('protocol')),
  )
  return errors
}

const repacks = change('updated Endpoints have their subsets sorted and merged', { until: 16 })
const loadSubsets = loadLater<typeof import('./endpoint-subsets.ts')>(
  import.meta.url,
  './endpoint-subsets',
)

/** Errors are reported for the object as it came. */
function repack(next: KubeObject, release: number): void {
  if (!releaseOf(release).has(repacks) || !next.subsets || check(next, true).length > 0) return
  next.subsets = loadSubsets().repackSubsets(next.subsets)
}

const subsetsAreCheckedOnce = change('each error of updated Endpoints occurs once', { since: 18 })

function checkUpdate(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const { release } = context
  const problems = check(next, mayNameProtocols(context, portsOf(old)))
  const changed = checkMetadataUpdate(next, old)
  const whole = checkMetadata(next, true, nameIsDnsSubdomain)
  return releaseOf(release).has(subsetsAreCheckedOnce)
    ? [...changed, ...whole, ...problems]
    : [...whole, ...problems, ...changed, ...problems]
}

export const endpointsBehaviour: Behaviour = {
  createOnUpdate: true,
  prepareForCreate: (object, context) => repack(object, context.release),
  prepareForUpdate: (next, _old, context) => repack(next, context.release),
  validateCreate: (object, context) => check(object, mayNameProtocols(context)),
  validateUpdate: checkUpdate,
}
