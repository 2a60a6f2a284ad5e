/**
 * Validation of services in releases up to 1.22: allowed fields and changes for each type. In these
 * releases the allocator runs after validation.
 */
import { releaseOf } from '#api/releases/change.ts'
import { servicesHaveClusterIps } from '#kinds/stored-fields.ts'
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabels } from '#api/label-rules.ts'
import { ipAddress, nameIsDns1035Label } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateImmutable } from '#api/object-meta-rules.ts'
import {
  checkDns1123Subdomain,
  checkOneOf,
  checkOneOfIfSet,
  each,
} from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkNonSpecialIp } from '#kinds/all-kinds/special-addresses.ts'
import { keepSpec } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkLoadBalancerStatus } from './load-balancer-status.ts'
import {
  checkAddressChanges,
  checkAddresses,
  checkFamilyChanges,
  checkOneAddress,
} from './older-addresses.ts'
import { mayNameProtocols } from './app-protocol.ts'
import {
  checkClassChange,
  checkLoadBalancerFields,
  checkSourceRangesTogether,
} from './load-balancer.ts'
import { checkMixedProtocols, checkPortNumbers, checkPorts } from './service-ports.ts'
import { prepareChangedService, prepareNewService } from './older-preparation.ts'
import { clusterIpsOf, isExternalName, isHeadless, specOf } from './service-shape.ts'
import { checkAffinity } from './session-affinity.ts'

const specPath = FieldPath.of('spec')
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const kubeletPort = 10250

function check(service: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const spec = specOf(service)
  const namesProtocols = mayNameProtocols(context, old?.spec?.ports)
  const errors: FieldError[] = []
  if (!spec.ports?.length && !isHeadless(service) && !isExternalName(service)) {
    errors.push(required(specPath.child('ports')))
  }
  errors.push(
    ...checkType(service, context.release),
    ...checkPorts(spec.ports ?? [], namesProtocols),
  )
  if (spec.selector) errors.push(...validateLabels(spec.selector, specPath.child('selector')))
  errors.push(...checkAffinity(spec))
  errors.push(
    ...(releaseOf(context.release).has(servicesHaveClusterIps)
      ? checkAddresses(service)
      : checkOneAddress(service)),
  )
  for (const [i, ip] of ((spec.externalIPs ?? []) as string[]).entries()) {
    const at = specPath.child('externalIPs').index(i)
    const problems = ipAddress(ip)
    errors.push(...(problems.length > 0 ? each(at, ip, problems) : checkNonSpecialIp(ip, at)))
  }
  errors.push(
    ...checkOneOf(spec.type, types, specPath.child('type')),
    ...checkPortNumbers(service, context.release),
    ...checkSourceRangesTogether(service),
    ...checkLoadBalancerFields(service, context),
    ...checkTrafficPolicies(spec, context),
  )
  return errors
}

function checkType(service: KubeObject, release: number): FieldError[] {
  const spec = specOf(service)
  const ip = releaseOf(release).has(servicesHaveClusterIps)
    ? specPath.child('clusterIPs').index(0)
    : specPath.child('clusterIP')
  const headless = isHeadless(service)
    ? [invalid(ip, 'None', `may not be set to 'None' for ${spec.type} services`)]
    : []
  if (spec.type === 'NodePort') return headless
  if (spec.type === 'LoadBalancer') {
    const exposed = ((spec.ports ?? []) as Loose[]).flatMap((port, i) =>
      port.port === kubeletPort
        ? [
            invalid(
              specPath.child('ports').index(i),
              port.port,
              `may not expose port ${kubeletPort} externally since it is used by kubelet`,
            ),
          ]
        : [],
    )
    return [...exposed, ...headless]
  }
  return spec.type === 'ExternalName' ? checkExternalName(service, release) : []
}

function checkExternalName(service: KubeObject, release: number): FieldError[] {
  const spec = specOf(service)
  const errors: FieldError[] = []
  const refuse = (field: string) =>
    errors.push(forbidden(specPath.child(field), 'may not be set for ExternalName services'))
  if (clusterIpsOf(service).length > 0) {
    if (releaseOf(release).has(servicesHaveClusterIps)) refuse('clusterIPs')
    else errors.push(forbidden('spec.clusterIP', 'must be empty for ExternalName services'))
  }
  if (spec.ipFamilies?.length > 0) refuse('ipFamilies')
  if (spec.ipFamilyPolicy !== undefined) refuse('ipFamilyPolicy')
  const name = (spec.externalName ?? '').replace(/\.$/, '')
  const at = specPath.child('externalName')
  return [...errors, ...(name === '' ? [required(at)] : checkDns1123Subdomain(name, at))]
}

function checkTrafficPolicies(spec: Loose, context: Context): FieldError[] {
  const errors: FieldError[] = []
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal } = spec
  if (external && external !== 'Cluster' && external !== 'Local') {
    const detail = 'ExternalTrafficPolicy must be empty, Cluster or Local'
    errors.push(invalid(specPath.child('externalTrafficPolicy'), external, detail))
  }
  if (spec.healthCheckNodePort < 0) {
    const detail = 'HealthCheckNodePort must be not less than 0'
    errors.push(invalid(specPath.child('healthCheckNodePort'), spec.healthCheckNodePort, detail))
  }
  const at = specPath.child('internalTrafficPolicy')
  if (internal === undefined && context.feature('ServiceInternalTrafficPolicy')) {
    errors.push(required(at))
  }
  return [...errors, ...checkOneOfIfSet(internal, ['Cluster', 'Local'], at)]
}

function checkChanges(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  if (!releaseOf(context.release).has(servicesHaveClusterIps)) return checkClusterIpKept(next, old)
  return [
    ...checkAddressChanges(next, old),
    ...checkFamilyChanges(next, old),
    ...checkClassChange(next, old),
  ]
}

/** Before 1.20, a service has one address, which is immutable unless the service had none. */
function checkClusterIpKept(next: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(old) || !specOf(old).clusterIP) return []
  if (isExternalName(next)) return []
  const [now, then] = [specOf(next).clusterIP ?? '', specOf(old).clusterIP]
  return validateImmutable(now, then, specPath.child('clusterIP'))
}

export const olderServiceBehaviour: Behaviour = {
  nameRule: nameIsDns1035Label,
  versionCheckedWithMetadata: true,
  resetFields: [['status']],
  prepareForCreate: prepareNewService,
  prepareForUpdate: prepareChangedService,
  validateCreate: (object, context) => [
    ...check(object, context),
    ...checkMixed(object, undefined, context),
  ],
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...checkChanges(next, old, context),
    ...checkMetadata(next, true, nameIsDns1035Label),
    ...check(next, context, old),
    ...checkMixed(next, old, context),
  ],
  subresources: {
    status: {
      createOnUpdate: true,
      resetFields: [['spec']],
      prepareForUpdate: keepSpec,
      validateUpdate: (next, old) => [
        ...checkMetadataUpdate(next, old),
        ...checkLoadBalancerStatus(next),
      ],
    },
  },
}

const checkMixed = (next: KubeObject, old: KubeObject | undefined, context: Context) =>
  context.feature('MixedProtocolLBService') ? [] : checkMixedProtocols(next, old, context.release)
