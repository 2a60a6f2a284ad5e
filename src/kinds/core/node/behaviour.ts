/** Node: taints, addresses, pod ranges, and where its kubelet takes its configuration from. */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  internalFieldError,
  invalid,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStrings, goStruct } from '#api/go-syntax.ts'
import { isCidr, parseCidr } from '#api/ip-address.ts'
import { longerThan, nameIsDnsSubdomain } from '#api/names.ts'
import { nodesHavePodCidrs } from '#kinds/stored-fields.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { signOfQuantity } from '#api/quantity.ts'
import { each, repeats, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { goQuantity } from '#kinds/all-kinds/go-quantity.ts'
import { checkLegacyCidr, legacyCidrWarnings } from '#kinds/all-kinds/legacy-addresses.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { isHugePages } from '#kinds/pod-template/huge-pages.ts'
import { dropUnlessUsed, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkConfigSource, checkConfigStatus } from './node-config.ts'
import { checkNodeAnnotations, checkTaints } from './node-taints.ts'
import { checkResourceQuantity } from '#kinds/all-kinds/resource-names.ts'

const podCidrsPath = FieldPath.of('spec', 'podCIDRs')
/** kube-apiserver's error path of spec.taints. */
const taintsPath = FieldPath.of('metadata', 'taints')

const explainsCidrs = change('errors of podCIDRs show the CIDR and have examples', { since: 30 })
const warnsOfNodes = change('warnings about the externalID of a node', { since: 27 })
const warnsOfCidrs = change('warnings about the podCIDRs of a node', { since: 33 })
const manyPageSizes = change('a node can have huge pages of several sizes', { since: 19 })

function checkResources(node: KubeObject, release: number): FieldError[] {
  return ['capacity', 'allocatable'].flatMap((field) => {
    const amounts: Loose = node.status?.[field] ?? {}
    let pageSizes = 0
    return sortedKeys(amounts).flatMap((name) => {
      const path = FieldPath.of('status', field).child(name)
      const errors = checkResourceQuantity(amounts, name, path)
      if (releaseOf(release).has(manyPageSizes)) return errors
      if (isHugePages(name) && signOfQuantity(amounts[name]) > 0) pageSizes++
      if (pageSizes < 2) return errors
      const detail = 'may not have pre-allocated hugepages for multiple page sizes'
      return [...errors, invalid(path, asGo(goQuantity(amounts, name)), detail)]
    })
  })
}

function checkPodCidrs(cidrs: string[], context: Context): FieldError[] {
  const shown = asGo(goStrings(cidrs))
  const { has } = releaseOf(context.release)
  const errors = cidrs.flatMap((cidr, i) => {
    const at = podCidrsPath.index(i)
    if (has(explainsCidrs)) return checkLegacyCidr(cidr, at, context)
    return isCidr(cidr) ? [] : [invalid(at, shown, 'must be valid CIDR')]
  })
  if (cidrs.length < 2) return errors
  const place = cidrs.findIndex((cidr) => !isCidr(cidr))
  const bad = cidrs[place]
  if (bad !== undefined) {
    const why = has(explainsCidrs)
      ? `invalid CIDR[${place}]: <nil> (invalid CIDR address: ${bad})`
      : `failed to parse cidr value:${goQuote(bad)} with error:invalid CIDR address: ${bad}`
    const detail = `invalid PodCIDRs. failed to check with dual stack with error:${why}`
    errors.push(internalFieldError(podCidrsPath, detail))
  }
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.bits))
  if (bad !== undefined || families.size < 2 || cidrs.length > 2) {
    const detail = 'may specify no more than one CIDR for each IP family'
    errors.push(invalid(podCidrsPath, shown, detail))
  }
  const isRepeated = repeats(cidrs)
  for (const [i, cidr] of cidrs.entries()) {
    if (isRepeated[i]) errors.push(duplicate(podCidrsPath.index(i), cidr))
  }
  return errors
}

const featureNameLengthMax = 253
const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/
const featuresPath = FieldPath.of('status', 'declaredFeatures')

function featureNameProblem(name: string): string[] {
  const wrong = (detail: string) => [`invalid feature name ${goQuote(name)}: ${detail}`]
  if (longerThan(name, featureNameLengthMax))
    return wrong(`must be no more than ${featureNameLengthMax} characters`)
  if (featureName.test(name)) return []
  return wrong(
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
  )
}

/** Validates the features that the kubelet declares: names in alphabetical order, each once. */
const checkFeatures = ({ status }: KubeObject): FieldError[] =>
  ((status?.declaredFeatures ?? []) as string[]).flatMap((name, i, names) => {
    const [errors, next] = [
      each(featuresPath.index(i), name, featureNameProblem(name)),
      names[i + 1],
    ]
    const at = featuresPath.index(i + 1)
    if (next === name) errors.push(duplicate(at, next))
    else if (next !== undefined && Buffer.compare(Buffer.from(name), Buffer.from(next)) > 0)
      errors.push(invalid(at, next, 'list must be sorted alphabetically'))
    return errors
  })

function checkPodCidr({ podCIDR = '' }: Loose): FieldError[] {
  if (podCIDR === '' || parseCidr(podCIDR) !== undefined) return []
  return [invalid('spec.podCIDR', podCIDR, 'not a valid CIDR')]
}

function check(node: KubeObject, context: Context): FieldError[] {
  return [
    ...checkNodeAnnotations(node.metadata.annotations),
    ...checkTaints(node.spec?.taints ?? [], taintsPath),
    ...checkResources(node, context.release),
    ...checkFeatures(node),
    ...(!releaseOf(context.release).has(nodesHavePodCidrs)
      ? checkPodCidr(node.spec ?? {})
      : checkPodCidrs(node.spec?.podCIDRs ?? [], context)),
  ]
}

function checkAddresses(addresses: Loose[]): FieldError[] {
  const seen = new Set<string>()
  return addresses.flatMap(({ type = '', address = '' }, i) => {
    const shown = goStruct('core.NodeAddress', [
      ['Type', goQuote(type)],
      ['Address', goQuote(address)],
    ])
    if (seen.has(shown.text))
      return [duplicate(FieldPath.of('status', 'addresses').index(i), shown)]
    seen.add(shown.text)
    return []
  })
}

const namesChangedField = change('errors name the field of a node that cannot be changed', {
  since: 18,
})
const fewChanges =
  'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)'

const refusesProviderAsInvalid = change('a changed providerID of a node is an invalid value', {
  since: 37,
})

function providerError(now: string | undefined): FieldError {
  const detail = `field cannot be ${now ? 'modified' : 'cleared'} once set`
  return { ...invalid('spec.providerID', undefined, detail), origin: 'update' }
}

function checkChanges(next: KubeObject, old: KubeObject, release: number): FieldError[] {
  const errors: FieldError[] = []
  const [now, then] = [next.spec ?? {}, old.spec ?? {}]
  const once = (field: string) => `node updates may not change ${field} except from "" to valid`
  const [cidrs, oldCidrs]: [string[], string[]] = [now.podCIDRs ?? [], then.podCIDRs ?? []]
  if (oldCidrs.length > 0) {
    const changed =
      cidrs.length === oldCidrs.length ? oldCidrs.filter((cidr, i) => cidr !== cidrs[i]).length : 1
    for (let i = 0; i < changed; i++) errors.push(forbidden(podCidrsPath, once('podCIDR')))
  }
  // Releases without podCIDRs have only podCIDR; both lists are then empty.
  const isOnlyOne = cidrs.length + oldCidrs.length === 0 && then.podCIDR
  if (isOnlyOne && then.podCIDR !== now.podCIDR) {
    errors.push(forbidden('spec.podCIDR', once('podCIDR')))
  }
  if (then.providerID && then.providerID !== now.providerID) {
    errors.push(
      releaseOf(release).has(refusesProviderAsInvalid)
        ? providerError(now.providerID)
        : forbidden('spec.providerID', once('providerID')),
    )
  }
  const fixedFields = errors.length
  errors.push(...checkConfigSource(now.configSource), ...checkConfigStatus(next.status?.config))
  errors.push(...checkTaints(now.taints ?? [], taintsPath))
  const otherId = (now.externalID ?? '') !== (then.externalID ?? '')
  if (releaseOf(release).has(namesChangedField)) {
    if (otherId) errors.push(forbidden('spec.externalID', 'may not be updated'))
    return errors
  }
  // Older releases add one general error for all rejected changes.
  if (otherId || fixedFields > 0) errors.push(forbidden('[]', fewChanges))
  return errors
}

function checkUpdate(next: KubeObject, old: KubeObject, { release }: Context): FieldError[] {
  return [
    ...checkMetadataUpdate(next, old),
    ...checkNodeAnnotations(next.metadata.annotations),
    ...checkResources(next, release),
    ...checkFeatures(next),
    ...checkAddresses(next.status?.addresses ?? []),
    ...checkChanges(next, old, release),
  ]
}

const dynamicConfig = (context: Context): boolean => context.feature('DynamicKubeletConfig')

const warnsOfConfigSource = change('a node with spec.configSource answers with a warning', {
  since: 22,
})

const lacksConfigSource = change('the configSource of a node is removed, not deprecated', {
  since: 26,
})

function configWarning(node: KubeObject, { release }: Context): string[] {
  if (!node.spec?.configSource || !releaseOf(release).has(warnsOfConfigSource)) return []
  return [
    releaseOf(release).has(lacksConfigSource)
      ? 'spec.configSource: the feature is removed'
      : 'spec.configSource: deprecated in v1.22, support removal is planned in v1.23',
  ]
}

function nodeWarnings(node: KubeObject, context: Context): string[] {
  const { release } = context
  const { has } = releaseOf(release)
  const cidrs: string[] = node.spec?.podCIDRs ?? []
  return [
    ...configWarning(node, context),
    ...(node.spec?.externalID && has(warnsOfNodes)
      ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes']
      : []),
    ...(has(warnsOfCidrs)
      ? cidrs.flatMap((cidr, i) => legacyCidrWarnings(cidr, podCidrsPath.index(i), release))
      : []),
  ]
}

/** If status.allocatable is unset, copy capacity. No manager owns the copied fields. */
function allocateAll({ status }: KubeObject): void {
  if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
}

/**
 * Without the dual-stack feature gate, only one pod CIDR is kept, unless the old node has several.
 */
function keepOneRange(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const ranges: string[] = next.spec?.podCIDRs ?? []
  if (ranges.length < 2 || context.feature('IPv6DualStack')) return
  if ((old?.spec?.podCIDRs ?? []).length < 2) next.spec.podCIDRs = ranges.slice(0, 1)
}

/** Drops the features that the kubelet declares if the gate is off and the old node has none. */
const dropFeatures = (next: KubeObject, old: KubeObject | undefined, { feature }: Context): void =>
  dropUnlessUsed(
    next.status,
    'declaredFeatures',
    feature('NodeDeclaredFeatures'),
    old?.status?.declaredFeatures !== undefined,
  )

const preemptsForResize = 'InPlacePodVerticalScalingSchedulerPreemption'

export const nodeBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    allocateAll(object)
    keepOneRange(object, undefined, context)
    dropUnlessUsed(object.spec, 'configSource', dynamicConfig(context), false)
    dropUnlessUsed(object.status, 'config', dynamicConfig(context), false)
    dropFeatures(object, undefined, context)
    dropUnlessUsed(object.spec, 'podPreemptionPolicy', context.feature(preemptsForResize), false)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    keepOneRange(next, old, context)
    const used = Boolean(old.spec?.configSource)
    dropUnlessUsed(next.spec, 'configSource', dynamicConfig(context), used)
    const hasPolicy = Boolean(old.spec?.podPreemptionPolicy)
    dropUnlessUsed(next.spec, 'podPreemptionPolicy', context.feature(preemptsForResize), hasPolicy)
  },
  validateCreate: check,
  // As in kube-apiserver, both checks run, so an error that both find is reported twice. Since 1.37
  // repetitions are removed.
  validateUpdate: (next, old, context) => [
    ...checkMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, context),
    ...checkUpdate(next, old, context),
  ],
  warningsOnCreate: nodeWarnings,
  warningsOnUpdate: (next, _, context) => nodeWarnings(next, context),
  selectableFields: (object) => ({
    'spec.unschedulable': String(object.spec?.unschedulable ?? false),
  }),
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate(next, old, context) {
        keepSpec(next, old)
        allocateAll(next)
        const used = Boolean(old.status?.config)
        dropUnlessUsed(next.status, 'config', dynamicConfig(context), used)
        dropFeatures(next, old, context)
      },
      validateUpdate: checkUpdate,
    },
  },
}
