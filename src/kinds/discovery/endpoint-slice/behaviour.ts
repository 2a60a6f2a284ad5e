/**
 * EndpointSlice: addresses of one type, their ports, and the topology, which clients can write only
 * through v1beta1.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  internalFieldError,
  invalid,
  required,
  tooMany,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { isIpv4, isIpv6 } from '#api/ip-address.ts'
import { validateLabels } from '#api/label-rules.ts'
import { fullyQualifiedDomainName, ipAddress, labelValue, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  checkDns1123Label,
  checkImmutable,
  checkOneOf,
  checkOneOfIfSet,
  checkQualifiedName,
  each,
  sameJson,
} from '#kinds/all-kinds/checks.ts'
import { checkMetadata } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { checkLegacyIp, withoutZeros } from '#kinds/all-kinds/legacy-addresses.ts'
import { checkNonSpecialIp } from '#kinds/all-kinds/special-addresses.ts'
import { checkAddress as checkStrictIp } from '#kinds/all-kinds/strict-addresses.ts'

/** kube-apiserver's limits. A slice must stay small, because it is sent to every node. */
const limits = {
  topologyLabels: 16,
  addresses: 100,
  ports: 20000,
  endpoints: 1000,
  zoneHints: 8,
  nodeHints: 8,
}
/** The limit of ports in the first releases. */
const portsMaxBefore = 100
const manyPorts = change('an EndpointSlice can have 20000 ports', { since: 18 })
const addressTypes = ['FQDN', 'IPv4', 'IPv6']
/** The first release of EndpointSlice accepts any address family. Existing objects may keep it. */
const addressTypesBefore = ['FQDN', 'IP', 'IPv4', 'IPv6']
const anyFamily = change('an update of an EndpointSlice can have addressType IP', { until: 19 })
const refusesSpecialAddresses = change(
  'an EndpointSlice rejects loopback and link-local addresses',
  { since: 18 },
)
const hostLabel = 'kubernetes.io/hostname'
const zoneLabel = 'topology.kubernetes.io/zone'
const topologyIsDeprecated = change('messages about an EndpointSlice name deprecatedTopology', {
  since: 21,
})

function check(slice: KubeObject, context: Context, types = addressTypes): FieldError[] {
  const { addressType } = slice
  const portsMax = releaseOf(context.release).has(manyPorts) ? limits.ports : portsMaxBefore
  return [
    ...checkOneOf(addressType, types, FieldPath.of('addressType')),
    ...checkEndpoints(slice.endpoints ?? [], addressType, context, FieldPath.of('endpoints')),
    ...checkPorts(slice.ports ?? [], portsMax, FieldPath.of('ports')),
  ]
}

function checkEndpoints(
  endpoints: Loose[],
  type: string,
  context: Context,
  path: FieldPath,
): FieldError[] {
  if (endpoints.length > limits.endpoints) {
    return [tooMany(path, endpoints.length, limits.endpoints)]
  }
  return endpoints.flatMap((endpoint, i) => checkEndpoint(endpoint, type, context, path.index(i)))
}

function checkEndpoint(
  endpoint: Loose,
  type: string,
  context: Context,
  path: FieldPath,
): FieldError[] {
  const addresses: string[] = endpoint.addresses ?? []
  const at = path.child('addresses')
  const errors: FieldError[] = []
  if (addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'))
  else if (addresses.length > limits.addresses) {
    errors.push(tooMany(at, addresses.length, limits.addresses))
  }
  for (const [i, address] of addresses.entries()) {
    errors.push(...checkAddress(address, type, context, at.index(i)))
  }
  if (typeof endpoint.nodeName === 'string') {
    const problems = nameIsDnsSubdomain(endpoint.nodeName, false)
    errors.push(...each(path.child('nodeName'), endpoint.nodeName, problems))
  }
  errors.push(...checkTopology(endpoint, path, context.release))
  if (typeof endpoint.hostname === 'string') {
    errors.push(...checkDns1123Label(endpoint.hostname, path.child('hostname')))
  }
  const { forZones = [], forNodes = [] }: Loose = endpoint.hints ?? {}
  const hints = path.child('hints')
  errors.push(...checkHints(forZones, limits.zoneHints, labelValue, hints.child('forZones')))
  if (forZones.length > limits.zoneHints) return errors
  const nodeName = (name: string) => nameIsDnsSubdomain(name, false)
  return [...errors, ...checkHints(forNodes, limits.nodeHints, nodeName, hints.child('forNodes'))]
}

const readsLegacyIps = change('errors of IPv4 addresses of an EndpointSlice have examples', {
  since: 33,
})

function checkIp(address: string, type: string, path: FieldPath, context: Context): FieldError[] {
  const problems =
    type === 'IPv4' ? checkLegacyIp(address, path, context) : checkStrictIp(address, path)
  if (problems.length > 0) return problems
  const fits = type === 'IPv4' ? isIpv4(withoutZeros(address)) : isIpv6(address)
  // kube-apiserver's error path is the list, without the index.
  const list = path.toString().replace(/\[\d+\]$/, '')
  return [
    ...(fits ? [] : [invalid(list, address, `must be an ${type} address`)]),
    ...checkNonSpecialIp(address, path),
  ]
}

function checkAddress(
  address: string,
  type: string,
  context: Context,
  path: FieldPath,
): FieldError[] {
  if (type === 'IP') return each(path, address, ipAddress(address))
  if (type === 'FQDN') return fullyQualifiedDomainName(address, path)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const { release } = context
  if (releaseOf(release).has(readsLegacyIps)) return checkIp(address, type, path, context)
  const fits = type === 'IPv4' ? isIpv4(address) : isIpv6(address)
  const problems = fits ? [] : [`must be a valid ${type} address`]
  const special = releaseOf(release).has(refusesSpecialAddresses)
    ? checkNonSpecialIp(address, path)
    : []
  return [...each(path, address, problems), ...special]
}

function checkTopology(endpoint: Loose, at: FieldPath, release: number): FieldError[] {
  if (!releaseOf(release).has(topologyIsDeprecated))
    return checkTopologyLabels(topologyOf(endpoint), at.child('topology'))
  const topology: Record<string, string> | undefined = endpoint.deprecatedTopology
  const path = at.child('deprecatedTopology')
  const errors = checkTopologyLabels(topology, path)
  if (ownValue(topology, zoneLabel) !== undefined) {
    const detail = 'reserved key was not removed in conversion'
    errors.push(internalFieldError(path.key(zoneLabel), detail))
  }
  return errors
}

function checkTopologyLabels(
  topology: Record<string, string> | undefined,
  path: FieldPath,
): FieldError[] {
  const count = Object.keys(topology ?? {}).length
  const max = limits.topologyLabels
  return [...(count > max ? [tooMany(path, count, max)] : []), ...validateLabels(topology, path)]
}

/** The topology with the zone, which the conversion to the hub moved to a field of its own. */
function topologyOf({ deprecatedTopology, zone }: Loose): Record<string, string> | undefined {
  return zone === undefined ? deprecatedTopology : { ...deprecatedTopology, [zoneLabel]: zone }
}

/** The zones or nodes whose clients should use the endpoint. */
function checkHints(
  hints: Loose[],
  max: number,
  rule: (name: string) => string[],
  path: FieldPath,
): FieldError[] {
  if (hints.length > max) return [tooMany(path, hints.length, max)]
  const seen = new Set<string>()
  return hints.flatMap(({ name = '' }, i) => {
    const at = path.index(i).child('name')
    const twice = seen.has(name) ? [duplicate(at, name)] : []
    seen.add(name)
    return [...twice, ...each(at, name, rule(name))]
  })
}

function checkPorts(ports: Loose[], portsMax: number, path: FieldPath): FieldError[] {
  if (ports.length > portsMax) return [tooMany(path, ports.length, portsMax)]
  const names = new Set<string>()
  return ports.flatMap((port, i) => {
    const at = path.index(i)
    const name: string = port.name ?? ''
    const errors = name === '' ? [] : checkDns1123Label(name, at.child('name'))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    errors.push(
      ...(typeof port.protocol === 'string'
        ? checkOneOfIfSet(port.protocol, ['SCTP', 'TCP', 'UDP'], at.child('protocol'))
        : [required(at.child('protocol'))]),
    )
    if (typeof port.appProtocol === 'string') {
      errors.push(...checkQualifiedName(port.appProtocol, at.child('appProtocol')))
    }
    return errors
  })
}

const nodeNameIsGated = change('a feature gate decides whether endpoints have a nodeName', {
  since: 20,
  until: 20,
})

/** Drops fields of disabled features, unless the old slice had them. */
function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const then: Loose[] = old?.endpoints ?? []
  const terminating =
    context.feature('EndpointSliceTerminatingCondition') ||
    then.some(({ conditions = {} }) => 'serving' in conditions || 'terminating' in conditions)
  const hints = context.feature('TopologyAwareHints') || then.some((endpoint) => endpoint.hints)
  const nodes =
    !releaseOf(context.release).has(nodeNameIsGated) ||
    context.feature('EndpointSliceNodeName') ||
    then.some((endpoint) => endpoint.nodeName)
  for (const endpoint of (next.endpoints ?? []) as Loose[]) {
    if (!terminating && endpoint.conditions) {
      delete endpoint.conditions.serving
      delete endpoint.conditions.terminating
    }
    if (!hints) delete endpoint.hints
    if (!nodes && endpoint.nodeName !== undefined) {
      // Conversion to the hub has moved the host name from the topology to nodeName.
      endpoint.deprecatedTopology ??= {}
      endpoint.deprecatedTopology[hostLabel] ??= endpoint.nodeName
      delete endpoint.nodeName
    }
  }
}

/** Topology can be written only through v1beta1. Other versions keep only the node name from it. */
function dropTopology(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  if (context.requestApiVersion === 'discovery.k8s.io/v1beta1') return
  if (old && sameJson(old.endpoints, next.endpoints)) return
  const hosts = new Set(
    (old?.endpoints ?? []).map((e: Loose) => ownValue<string>(e.deprecatedTopology, hostLabel)),
  )
  for (const endpoint of (next.endpoints ?? []) as Loose[]) {
    const host = ownValue<string>(endpoint.deprecatedTopology, hostLabel)
    const known = host !== undefined && host !== '' && hosts.has(host)
    if (endpoint.nodeName === undefined && known) {
      if (nameIsDnsSubdomain(host, false).length === 0) endpoint.nodeName = host
    }
    delete endpoint.deprecatedTopology
  }
}

const labelsRaiseGeneration = change('new labels of an EndpointSlice raise its generation', {
  since: 21,
})

/** The parts of a slice of which a change raises the generation. */
const content = (slice: KubeObject, { release }: Context) => ({
  endpoints: slice.endpoints,
  ports: slice.ports,
  addressType: slice.addressType,
  ...(releaseOf(release).has(labelsRaiseGeneration) && { labels: slice.metadata.labels }),
})

export const endpointSliceBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropDisabled(object, undefined, context)
    dropTopology(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    if (!sameJson(content(next, context), content(old, context))) {
      next.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
    dropDisabled(next, old, context)
    dropTopology(next, old, context)
  },
  validateCreate: (object, context) => check(object, context),
  validateUpdate: (next, old, context) => [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...check(
      next,
      context,
      releaseOf(context.release).has(anyFamily) ? addressTypesBefore : addressTypes,
    ),
    ...checkImmutable(next.addressType, old.addressType, FieldPath.of('addressType')).map(
      (error) => ({
        ...error,
        origin: 'immutable',
      }),
    ),
  ],
}
