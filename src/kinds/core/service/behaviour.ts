/**
 * Service: validates the fields of each type and their changes. The allocator sets addresses and
 * node ports before validation.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabels } from '#api/label-rules.ts'
import { nameIsDns1035Label, nameIsDnsLabel, portNumber } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import {
  checkDns1123Subdomain,
  checkOneOf,
  checkOneOfIfSet,
  each,
} from '#kinds/all-kinds/checks.ts'
import { checkLegacyIp } from '#kinds/all-kinds/legacy-addresses.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkNonSpecialIp } from '#kinds/all-kinds/special-addresses.ts'
import { keepSpec } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { checkClassChange, checkLoadBalancerFields, checkSourceRanges } from './load-balancer.ts'
import { checkServiceStatus, dropIpModes, statusWarnings } from './load-balancer-status.ts'
import { checkAddressChanges, checkAddresses, checkFamilyChanges } from './service-addresses.ts'
import { checkMixedProtocols, checkPortNumbers, checkPorts } from './service-ports.ts'
import { prepareChangedService, prepareNewService } from './service-preparation.ts'
import {
  isExternallyAccessible,
  isExternalName,
  isHeadless,
  needsHealthCheckPort,
  needsInternalTrafficPolicy,
  specOf,
} from './service-shape.ts'
import { checkAffinity } from './session-affinity.ts'
import { topologyHints, topologyMode, serviceWarnings } from './service-warnings.ts'

const specPath = FieldPath.of('spec')
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const kubeletPort = 10250

const checksWholeMetadata = change('an update of a service checks all of its metadata again', {
  until: 33,
})
const comparesTopology = change('the two topology annotations of a service must agree', {
  since: 27,
})
const protectsKubelet = change(
  'services of type LoadBalancer cannot have the port of the kubelet',
  {
    until: 32,
  },
)

function check(service: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const spec = specOf(service)
  const errors = checkTopology(service, context.release)
  if (!spec.ports?.length && !isHeadless(service) && !isExternalName(service)) {
    errors.push(required(specPath.child('ports')))
  }
  errors.push(...checkType(service, context.release), ...checkPorts(spec.ports ?? [], true))
  if (spec.selector) errors.push(...validateLabels(spec.selector, specPath.child('selector')))
  errors.push(
    ...checkAffinity(spec),
    ...checkAddresses(service, context, old),
    ...checkExternalIps(spec, context, specOf(old ?? service), old !== undefined),
    ...checkOneOf(spec.type, types, specPath.child('type')),
    ...checkPortNumbers(service, context.release),
    ...checkSourceRanges(service, context, old),
    ...checkLoadBalancerFields(service, context),
    ...checkExternalTraffic(service, context.release),
    ...checkInternalTraffic(spec, context),
    ...checkDistribution(spec, context),
  )
  return errors
}

function checkTopology({ metadata }: KubeObject, release: number): FieldError[] {
  if (!releaseOf(release).has(comparesTopology)) return []
  const mode = ownValue(metadata.annotations, topologyMode)
  const hints = ownValue(metadata.annotations, topologyHints)
  if (mode === undefined || hints === undefined || mode === hints) return []
  const at = FieldPath.of('metadata', 'annotations').key(topologyMode)
  return [invalid(at, mode, `must match annotations[${topologyHints}] when both are specified`)]
}

function checkType(service: KubeObject, release: number): FieldError[] {
  const spec = specOf(service)
  const headless = isHeadless(service)
    ? [
        invalid(
          specPath.child('clusterIPs').index(0),
          'None',
          `may not be set to 'None' for ${spec.type} services`,
        ),
      ]
    : []
  if (spec.type === 'NodePort') return headless
  if (spec.type === 'LoadBalancer') return [...checkKubeletPort(spec, release), ...headless]
  return spec.type === 'ExternalName' ? checkExternalName(spec) : []
}

function checkKubeletPort(spec: Loose, release: number): FieldError[] {
  if (!releaseOf(release).has(protectsKubelet)) return []
  const detail = `may not expose port ${kubeletPort} externally since it is used by kubelet`
  const ports: Loose[] = spec.ports ?? []
  return ports.flatMap(({ port }, i) =>
    port === kubeletPort ? [invalid(specPath.child('ports').index(i), port, detail)] : [],
  )
}

function checkExternalName(spec: Loose): FieldError[] {
  const refuse = (field: string) =>
    forbidden(specPath.child(field), 'may not be set for ExternalName services')
  const name = (spec.externalName ?? '').replace(/\.$/, '')
  const at = specPath.child('externalName')
  return [
    ...(spec.clusterIPs?.length > 0 ? [refuse('clusterIPs')] : []),
    ...(spec.ipFamilies?.length > 0 ? [refuse('ipFamilies')] : []),
    ...(spec.ipFamilyPolicy === undefined ? [] : [refuse('ipFamilyPolicy')]),
    ...(name === '' ? [required(at)] : checkDns1123Subdomain(name, at)),
  ]
}

function checkExternalIps(
  spec: Loose,
  context: Context,
  then: Loose,
  isUpdate: boolean,
): FieldError[] {
  const before: string[] = isUpdate ? (then.externalIPs ?? []) : []
  return ((spec.externalIPs ?? []) as string[]).flatMap((ip, i) => {
    const at = specPath.child('externalIPs').index(i)
    const problems = checkLegacyIp(ip, at, context, before)
    return problems.length > 0 ? problems : checkNonSpecialIp(ip, at)
  })
}

const saysAccessible = change(
  'errors of externalTrafficPolicy speak of externally-accessible services',
  { since: 29 },
)

function checkExternalTraffic(service: KubeObject, release: number): FieldError[] {
  const { externalTrafficPolicy: policy, healthCheckNodePort: port = 0 } = specOf(service)
  const errors: FieldError[] = []
  const at = specPath.child('externalTrafficPolicy')
  if (isExternallyAccessible(service, release)) {
    errors.push(...checkOneOf(policy, ['Cluster', 'Local'], at))
  } else if (policy) {
    const detail = releaseOf(release).has(saysAccessible)
      ? 'may only be set for externally-accessible services'
      : "may only be set when `type` is 'NodePort' or 'LoadBalancer'"
    errors.push(invalid(at, policy, detail))
  }
  const portPath = specPath.child('healthCheckNodePort')
  if (needsHealthCheckPort(service)) {
    const problems = port === 0 ? [required(portPath)] : each(portPath, port, portNumber(port))
    return [...errors, ...problems]
  }
  if (port === 0) return errors
  const detail =
    "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
  return [...errors, invalid(portPath, port, detail)]
}

function checkHealthPortKept(next: KubeObject, old: KubeObject): FieldError[] {
  if (!needsHealthCheckPort(next) || !needsHealthCheckPort(old)) return []
  const [now, then] = [specOf(next).healthCheckNodePort ?? 0, specOf(old).healthCheckNodePort ?? 0]
  return now === then ? [] : [forbidden('spec.healthCheckNodePort', 'field is immutable')]
}

function checkInternalTraffic(spec: Loose, context: Context): FieldError[] {
  const at = specPath.child('internalTrafficPolicy')
  const isNeeded = needsInternalTrafficPolicy(spec, context.release)
  const policy = spec.internalTrafficPolicy
  if (policy !== undefined) return checkOneOfIfSet(policy, ['Cluster', 'Local'], at)
  return isNeeded && context.feature('ServiceInternalTrafficPolicy') ? [required(at)] : []
}

function checkDistribution({ trafficDistribution }: Loose, { feature }: Context): FieldError[] {
  const closest = feature('PreferSameTrafficDistribution')
    ? ['PreferSameZone', 'PreferSameNode']
    : []
  const known = ['PreferClose', ...closest]
  if (trafficDistribution === undefined || known.includes(trafficDistribution)) return []
  return [notSupported(specPath.child('trafficDistribution'), trafficDistribution, known)]
}

const checkMixed = (next: KubeObject, old: KubeObject | undefined, context: Context) =>
  context.feature('MixedProtocolLBService') ? [] : checkMixedProtocols(next, old, context.release)

const checkNameAgain = (next: KubeObject, { release }: Context): FieldError[] =>
  releaseOf(release).has(checksWholeMetadata) ? checkMetadata(next, true, nameIsDns1035Label) : []

export const serviceBehaviour: Behaviour = {
  nameRuleOf: (_object, { feature }) =>
    feature('RelaxedServiceNameValidation') ? nameIsDnsLabel : nameIsDns1035Label,
  resetFields: [['status']],
  allocatesFirst: true,
  prepareForCreate: prepareNewService,
  prepareForUpdate: prepareChangedService,
  validateCreate: (object, context) => [
    ...check(object, context),
    ...checkMixed(object, undefined, context),
  ],
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...checkAddressChanges(next, old),
    ...checkFamilyChanges(next, old),
    ...checkClassChange(next, old),
    ...checkHealthPortKept(next, old),
    ...checkNameAgain(next, context),
    ...check(next, context, old),
    ...checkMixed(next, old, context),
  ],
  warningsOnCreate: serviceWarnings,
  warningsOnUpdate: (next, _old, context) => serviceWarnings(next, context),
  createOnUpdate: true,
  subresources: {
    status: {
      createOnUpdate: true,
      resetFields: [['spec']],
      prepareForUpdate(next, old, context) {
        dropIpModes(next, old, context)
        keepSpec(next, old)
      },
      validateUpdate: (next, old, context) => [
        ...checkMetadataUpdate(next, old),
        ...checkServiceStatus(next, old, context),
      ],
      warningsOnUpdate: statusWarnings,
    },
  },
}
