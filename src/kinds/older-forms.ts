/**
 * Detects stored objects that an older release wrote, or this release with other feature gates.
 * They lack fields that this release fills in, or have fields it no longer knows. Only kinds that
 * differ between releases are checked, with one fast predicate per object.
 * The defaults of the version and older-services.ts then fix the object. The predicate must accept
 * every object that they would change; older-forms.test.ts verifies that for all kinds.
 */
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import {
  claimTemplatesHaveModes,
  claimsHaveTypes,
  conditionsHaveStatus,
  daemonSetsCanSurge,
  driversHaveLifecycles,
  ephemeralHaveDefaults,
  metadataHasNoCluster,
  metadataIsPlain,
  nodesHavePodCidrs,
  nullServicesAreDropped,
  parametersHaveScope,
  pathsHaveTypes,
  podsHaveAddressLists,
  policyStatusChanges,
  requestsHaveSigners,
  selectorIsDefaulted,
  seriesHaveNoState,
  servicesHaveClusterIps,
  servicesHaveNoFamily,
  servicesHaveNoTopology,
  setsCountAvailable,
  zeroTimesAreOmitted,
} from './stored-fields.ts'
import type { DefaultsContext } from './all-kinds/defaulter.ts'

/** Whether an object may have an older form. */
export type IsOlder = (object: Loose) => boolean

/** Undefined if objects of older releases do not differ. */
type Row = (context: DefaultsContext) => IsOlder | undefined

const isUnset = (value: unknown): boolean => value === undefined || value === null
const isEmpty = (list: { length: number } | undefined | null): boolean => !list || list.length === 0

/** Combines predicates. Undefined if none applies. */
function any(...looks: (IsOlder | false)[]): IsOlder | undefined {
  const kept = looks.filter((look) => look !== false)
  if (kept.length < 2) return kept[0]
  return (object) => kept.some((look) => look(object))
}

const lacks =
  (field: string): IsOlder =>
  ({ spec }) =>
    isUnset(spec?.[field])

/** A claim for a volume, or a template of one: some releases had fields that are gone. */
const isOlderClaim = (claim: Loose | undefined): boolean =>
  claim?.metadata?.clusterName !== undefined ||
  claim?.spec?.resources?.claims !== undefined ||
  claim?.status?.resizeStatus !== undefined

const claimsOfVolumes = (spec: Loose | undefined): Loose[] =>
  ((spec?.volumes ?? []) as Loose[]).flatMap(({ ephemeral }) =>
    ephemeral?.volumeClaimTemplate ? [ephemeral.volumeClaimTemplate] : [],
  )

const hasNullTime = ({ metadata }: Loose): boolean => metadata?.creationTimestamp === null

const lackIps = (list: Loose[] | undefined): boolean =>
  list?.some(({ ip }) => ip === undefined) === true

/** Fields of pods that were alpha when they were stored, and those that are required now. */
const isOlderPodSpec = (spec: Loose | undefined): boolean =>
  spec?.workloadRef !== undefined ||
  spec?.resourceClaims?.some((claim: Loose) => claim.source !== undefined) === true ||
  lackIps(spec?.hostAliases) ||
  claimsOfVolumes(spec).some(isOlderClaim)

/**
 * Volumes made with a pod: claims in them have had a mode since 1.19, and could be read-only until
 * 1.20.
 */
const hasOlderVolumes = (spec: Loose | undefined): boolean =>
  spec?.volumes?.some(
    ({ ephemeral }: Loose) =>
      ephemeral &&
      (ephemeral.readOnly !== undefined ||
        isUnset(ephemeral.volumeClaimTemplate?.spec?.volumeMode)),
  ) === true

/** Since 1.20, ephemeral containers have defaults. */
const hasOlderContainers = (spec: Loose | undefined): boolean =>
  spec?.ephemeralContainers?.some(
    (container: Loose) =>
      !container.imagePullPolicy ||
      !container.terminationMessagePath ||
      !container.terminationMessagePolicy,
  ) === true

/** Kinds with a pod template, and the path of the template. */
const templated =
  (templateOf: (object: Loose) => Loose | undefined): Row =>
  ({ release }) =>
    any(
      releaseOf(release).has(claimTemplatesHaveModes) &&
        ((object) => hasOlderVolumes(templateOf(object)?.spec)),
      releaseOf(release).has(ephemeralHaveDefaults) &&
        ((object) => hasOlderContainers(templateOf(object)?.spec)),
      releaseOf(release).has(metadataHasNoCluster) &&
        ((object) => {
          const template = templateOf(object)
          return template?.metadata?.clusterName !== undefined || isOlderPodSpec(template?.spec)
        }),
      releaseOf(release).has(zeroTimesAreOmitted) &&
        ((object) => {
          const template = templateOf(object) ?? {}
          return hasNullTime(template) || claimsOfVolumes(template.spec).some(hasNullTime)
        }),
    )
const inSpec = templated(({ spec }) => spec?.template)

/** Both rows. */
const also =
  (first: Row, second: Row): Row =>
  (context) =>
    any(first(context) ?? false, second(context) ?? false)

const services: Row = ({ release, feature }) =>
  any(
    // Since dropped from the type.
    releaseOf(release).has(servicesHaveNoFamily) && (({ spec }) => spec?.ipFamily !== undefined),
    releaseOf(release).has(servicesHaveNoTopology) &&
      (({ spec }) => spec?.topologyKeys !== undefined),
    releaseOf(release).has(servicesHaveClusterIps) &&
      (({ spec }) => isEmpty(spec?.clusterIPs) && !!spec?.clusterIP),
    releaseOf(release).has(servicesHaveClusterIps) &&
      feature('IPv6DualStack') &&
      (({ spec }) => isEmpty(spec?.ipFamilies) && !!spec?.clusterIP),
    feature('ServiceInternalTrafficPolicy') && lacks('internalTrafficPolicy'),
    feature('ServiceLBNodePortControl') &&
      (({ spec }) => spec?.type === 'LoadBalancer' && isUnset(spec.allocateLoadBalancerNodePorts)),
  )

const pods: Row = ({ release }) =>
  any(
    releaseOf(release).has(podsHaveAddressLists) &&
      (({ status }) => !!status?.podIP && isEmpty(status.podIPs)),
    releaseOf(release).has(claimTemplatesHaveModes) && (({ spec }) => hasOlderVolumes(spec)),
    releaseOf(release).has(ephemeralHaveDefaults) && (({ spec }) => hasOlderContainers(spec)),
    releaseOf(release).has(metadataHasNoCluster) &&
      (({ spec, status }) =>
        isOlderPodSpec(spec) ||
        lackIps(status?.podIPs) ||
        lackIps(status?.hostIPs) ||
        status?.nodeAllocatableResourceClaimStatuses?.some(
          (one: Loose) => one.resources !== undefined,
        ) === true),
    releaseOf(release).has(zeroTimesAreOmitted) &&
      (({ spec }) => claimsOfVolumes(spec).some(hasNullTime)),
  )

/** Kinds with few objects: each is read by its type, and kept as it is if nothing differs. */
const rare: Row = ({ release }) => any(releaseOf(release).has(metadataHasNoCluster) && (() => true))

const daemonSets: Row = ({ release }) =>
  any(
    releaseOf(release).has(daemonSetsCanSurge) &&
      (({ spec }) => {
        const rolling = spec?.updateStrategy?.rollingUpdate
        return !!rolling && isUnset(rolling.maxSurge)
      }),
  )

const claimsOf = ({ spec }: Loose): Loose[] => spec?.volumeClaimTemplates ?? []

const statefulSets: Row = ({ release, feature }) =>
  any(
    releaseOf(release).has(claimsHaveTypes) &&
      ((object) =>
        claimsOf(object).some(
          ({ kind, apiVersion }) => kind !== 'PersistentVolumeClaim' || apiVersion !== 'v1',
        )),
    releaseOf(release).has(claimTemplatesHaveModes) &&
      ((object) => claimsOf(object).some(({ spec }) => isUnset(spec?.volumeMode))),
    releaseOf(release).has(metadataHasNoCluster) &&
      ((object) => claimsOf(object).some(isOlderClaim)),
    releaseOf(release).has(setsCountAvailable) &&
      (({ status }) => status !== undefined && isUnset(status.availableReplicas)),
    releaseOf(release).has(zeroTimesAreOmitted) && ((object) => claimsOf(object).some(hasNullTime)),
    feature('StatefulSetAutoDeletePVC') &&
      (({ spec }) => {
        const { whenDeleted, whenScaled }: Loose = spec?.persistentVolumeClaimRetentionPolicy ?? {}
        return !whenDeleted || !whenScaled
      }),
    feature('MaxUnavailableStatefulSet') &&
      (({ spec }) => {
        const rolling = spec?.updateStrategy?.rollingUpdate
        return !!rolling && isUnset(rolling.maxUnavailable)
      }),
  )

const csiDrivers: Row = ({ release, feature }) =>
  any(
    releaseOf(release).has(driversHaveLifecycles) &&
      feature('CSIInlineVolume') &&
      lacks('volumeLifecycleModes'),
    feature('CSIStorageCapacity') && lacks('storageCapacity'),
    feature('CSIVolumeFSGroupPolicy') && lacks('fsGroupPolicy'),
    feature('CSIServiceAccountToken') && lacks('requiresRepublish'),
    feature('SELinuxMountReadWriteOncePod') && lacks('seLinuxMount'),
    feature('VolumeLimitScaling') && lacks('preventPodSchedulingIfMissing'),
  )

const paths = (spec: Loose | undefined): Loose[] =>
  (spec?.rules ?? []).flatMap((rule: Loose) => rule.http?.paths ?? [])

const rows: Readonly<Record<string, Row>> = {
  '/namespaces': ({ feature }) =>
    any(
      feature('NamespaceDefaultLabelName') &&
        (({ metadata }) => metadata.labels?.['kubernetes.io/metadata.name'] !== metadata.name),
    ),
  '/nodes': ({ release }) =>
    any(
      releaseOf(release).has(nodesHavePodCidrs) &&
        (({ spec }) => !!spec?.podCIDR && isEmpty(spec.podCIDRs)),
    ),
  '/pods': pods,
  '/services': services,
  '/events': ({ release }) =>
    any(releaseOf(release).has(seriesHaveNoState) && (({ series }) => series?.state !== undefined)),
  '/podtemplates': templated(({ template }) => template),
  '/replicationcontrollers': inSpec,
  'apps/replicasets': inSpec,
  'apps/deployments': inSpec,
  'apps/daemonsets': also(inSpec, daemonSets),
  'apps/statefulsets': also(inSpec, statefulSets),
  'batch/cronjobs': also(
    templated(({ spec }) => spec?.jobTemplate?.spec?.template),
    templated(({ spec }) => spec?.jobTemplate),
  ),
  'batch/jobs': also(inSpec, ({ release, feature }) =>
    any(
      feature('IndexedJob') && lacks('completionMode'),
      feature('SuspendJob') && lacks('suspend'),
      feature('JobPodReplacementPolicy') && lacks('podReplacementPolicy'),
      releaseOf(release).has(selectorIsDefaulted) && lacks('manualSelector'),
    ),
  ),
  'networking.k8s.io/ingresses': ({ release }) =>
    any(
      releaseOf(release).has(pathsHaveTypes) &&
        (({ spec }) => paths(spec).some(({ pathType }) => isUnset(pathType))),
    ),
  'networking.k8s.io/ingressclasses': ({ release, feature }) =>
    any(
      // Written as null while the feature is off.
      releaseOf(release).has(parametersHaveScope) &&
        (({ spec }) => !!spec?.parameters && spec.parameters.scope === undefined),
      feature('IngressClassNamespacedParams') &&
        (({ spec }) => !!spec?.parameters && isUnset(spec.parameters.scope)),
    ),
  'certificates.k8s.io/certificatesigningrequests': ({ release }) =>
    any(
      releaseOf(release).has(requestsHaveSigners) && lacks('signerName'),
      releaseOf(release).has(conditionsHaveStatus) &&
        (({ status }) => status?.conditions?.some((one: Loose) => !one.status) === true),
    ),
  'scheduling.k8s.io/priorityclasses': ({ feature }) =>
    any(feature('NonPreemptingPriority') && (({ preemptionPolicy }) => isUnset(preemptionPolicy))),
  'storage.k8s.io/csidrivers': csiDrivers,
  'storage.k8s.io/csinodes': rare,
  '/persistentvolumeclaims': ({ release }) =>
    any(releaseOf(release).has(metadataHasNoCluster) && isOlderClaim),
  'networking.k8s.io/networkpolicies': ({ release }) =>
    any(releaseOf(release).has(policyStatusChanges) && (() => true)),
  'networking.k8s.io/ipaddresses': rare,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': rare,
  'admissionregistration.k8s.io/validatingadmissionpolicies': rare,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': rare,
  'resource.k8s.io/deviceclasses': rare,
  'resource.k8s.io/devicetaintrules': rare,
  'resource.k8s.io/resourceclaims': rare,
  'resource.k8s.io/resourceclaimtemplates': rare,
  'resource.k8s.io/resourceslices': rare,
  'apiregistration.k8s.io/apiservices': ({ release }) =>
    any(releaseOf(release).has(nullServicesAreDropped) && (({ spec }) => spec?.service === null)),
}

/** Metadata fields that only 1.15 could write, with certain feature gates. */
const olderMetadata: Row = ({ release }) =>
  any(
    releaseOf(release).has(metadataIsPlain) &&
      (({ metadata }) =>
        metadata.initializers !== undefined || metadata.managedFields?.[0]?.fields !== undefined),
  )

/**
 * The predicate for stored objects of a resource (`apps/daemonsets`). Undefined if no object can
 * have an older form.
 */
export const olderForms = (resource: string, context: DefaultsContext): IsOlder | undefined =>
  (Object.hasOwn(rows, resource) ? also(olderMetadata, rows[resource]) : olderMetadata)(context)
