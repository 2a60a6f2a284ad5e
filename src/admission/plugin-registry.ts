/** The enabled admission plugins in their order. Later plugins see the changes of earlier ones. */
import type { Authorizer } from '#access/authorize.ts'
import type { RbacAuthorizer } from '#access/authorize/rbac.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import type { Kind } from '#kinds/kind.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import type { AdmissionPlugin } from './admission.ts'
import { lazyPlugin } from './lazy-plugin.ts'
import type { PluginConfigurations } from './configuration.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { enabledPlugins, namedPlugins } from './plugin-names.ts'
import type { PolicyMeter } from './policy/policy-meter.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import type { ServiceAccountOptions } from './service-account.ts'
import type { Loopback } from './webhook/address.ts'
import type { HookCall } from './webhook/dispatch.ts'
import { mutatingOnceConfigured, validatingOnceConfigured } from './webhook/once-configured.ts'

export interface PluginOptions extends ServiceAccountOptions {
  readonly authorizer: Authorizer
  readonly rbac: RbacAuthorizer
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly kindNamed: (apiVersion: string, kind: string) => Kind | undefined
  readonly types: KnownTypes
  /** Requests of plugins, sent as the server itself. */
  readonly createNamespace: (namespace: KubeObject) => Promise<unknown>
  readonly updateQuotaStatus: (quota: KubeObject) => Promise<unknown>
  readonly newUid: () => string
  /** Credentials for webhooks that this server itself provides. */
  readonly loopback: Loopback
  /** Records every call of a webhook. */
  readonly observeWebhook: (call: HookCall) => void
  /** Metrics of policies and match conditions, created with the first of them. */
  readonly policyMeter: () => PolicyMeter
  readonly report: (message: string) => void
  /** Default tolerationSeconds for nodes that are not ready or unreachable. */
  readonly notReadyTolerationSeconds: number
  readonly unreachableTolerationSeconds: number
  /**
   * The flags: plugins to enable and disable in addition to the defaults, and the configuration
   * file.
   */
  readonly enable: readonly string[]
  readonly disable: readonly string[]
  /** Enables exactly these plugins, regardless of the defaults. */
  readonly only?: readonly string[] | undefined
  readonly configurationFile: string | undefined
}

/** Each is loaded when one of its plugins is enabled, or first has work. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  always: later<typeof import('./always.ts')>('./always'),
  alwaysPullImages: later<typeof import('./always-pull-images.ts')>('./always-pull-images'),
  certificates: later<typeof import('./certificate-plugins.ts')>('./certificate-plugins'),
  configuration: later<typeof import('./configuration.ts')>('./configuration'),
  credentials: later<typeof import('./webhook/credentials.ts')>('./webhook/credentials'),
  defaultIngressClass:
    later<typeof import('./default-ingress-class.ts')>('./default-ingress-class'),
  defaultTolerationSeconds: later<typeof import('./default-toleration-seconds.ts')>(
    './default-toleration-seconds',
  ),
  denyExec: later<typeof import('./deny-exec.ts')>('./deny-exec'),
  denyServiceExternalIps: later<typeof import('./deny-service-external-ips.ts')>(
    './deny-service-external-ips',
  ),
  eventRateLimit: later<typeof import('./event-rate-limit.ts')>('./event-rate-limit'),
  extendedResourceToleration: later<typeof import('./extended-resource-toleration.ts')>(
    './extended-resource-toleration',
  ),
  imagePolicy: later<typeof import('./image-policy.ts')>('./image-policy'),
  limitPodHardAntiAffinityTopology: later<
    typeof import('./limit-pod-hard-anti-affinity-topology.ts')
  >('./limit-pod-hard-anti-affinity-topology'),
  limitRanger: later<typeof import('./limit-ranger.ts')>('./limit-ranger'),
  limitedResources: later<typeof import('./quota/limited-resources.ts')>(
    './quota/limited-resources',
  ),
  namespaceExistence: later<typeof import('./namespace-existence.ts')>('./namespace-existence'),
  nodeRestriction: later<typeof import('./node-restriction.ts')>('./node-restriction'),
  ownerReferencesPermission: later<typeof import('./owner-references-permission.ts')>(
    './owner-references-permission',
  ),
  parameterRights: later<typeof import('./policy/parameter-rights.ts')>(
    './policy/parameter-rights',
  ),
  persistentVolumeClaimResize: later<typeof import('./persistent-volume-claim-resize.ts')>(
    './persistent-volume-claim-resize',
  ),
  podNodeSelector: later<typeof import('./pod-node-selector.ts')>('./pod-node-selector'),
  nodeDeclaredFeatures: later<typeof import('./node-declared-features.ts')>(
    './node-declared-features',
  ),
  podGroups: later<typeof import('./pod-group-plugins.ts')>('./pod-group-plugins'),
  podPreset: later<typeof import('./pod-preset.ts')>('./pod-preset'),
  podResize: later<typeof import('./pod-resize.ts')>('./pod-resize'),
  podSecurity: later<typeof import('./pod-security/pod-security.ts')>(
    './pod-security/pod-security',
  ),
  podSecurityPolicy: later<typeof import('./pod-security-policy/pod-security-policy.ts')>(
    './pod-security-policy/pod-security-policy',
  ),
  podTopologyLabels: later<typeof import('./pod-topology-labels.ts')>('./pod-topology-labels'),
  podTolerationRestriction: later<typeof import('./pod-toleration-restriction.ts')>(
    './pod-toleration-restriction',
  ),
  policies: later<typeof import('./policy/once-configured.ts')>('./policy/once-configured'),
  priority: later<typeof import('./priority.ts')>('./priority'),
  roleEscalation: later<typeof import('./role-escalation.ts')>('./role-escalation'),
  runtimeClass: later<typeof import('./runtime-class.ts')>('./runtime-class'),
  securityContextDeny:
    later<typeof import('./security-context-deny.ts')>('./security-context-deny'),
  serviceAccount: later<typeof import('./service-account.ts')>('./service-account'),
  storageDefaults: later<typeof import('./storage-defaults.ts')>('./storage-defaults'),
  taintNodes: later<typeof import('./taint-nodes.ts')>('./taint-nodes'),
}

type Make = (
  options: PluginOptions,
  configuration: Loose | undefined,
) => AdmissionPlugin | Promise<AdmissionPlugin>

/** Wraps a plugin so that it does nothing while its feature gate is off. */
const gated =
  (name: string, gate: string, make: Make): Make =>
  (options, configuration) =>
    options.feature(gate) ? make(options, configuration) : { name }

const claims = ['persistentvolumeclaims']
const certificateRequests = ['certificatesigningrequests']
const policyKinds = ['validating', 'mutating'].flatMap((type) => [
  `${type}admissionpolicies`,
  `${type}admissionpolicybindings`,
])
const roleKinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']

const makers: Readonly<Record<string, Make>> = {
  AlwaysAdmit: () => load.always().alwaysAdmit,
  NamespaceAutoProvision: ({ createNamespace }) =>
    load.namespaceExistence().namespaceAutoProvision(createNamespace),
  NamespaceLifecycle: ({ release }) => namespaceLifecycle(release),
  NamespaceExists: () => load.namespaceExistence().namespaceExists,
  SecurityContextDeny: () => load.securityContextDeny().securityContextDeny,
  LimitPodHardAntiAffinityTopology: () =>
    load.limitPodHardAntiAffinityTopology().limitPodHardAntiAffinityTopology,
  PodPreset: () => load.podPreset().podPreset,
  LimitRanger: ({ release, feature }) =>
    lazyPlugin('LimitRanger', 'both', ['pods', ...claims], () =>
      load.limitRanger().limitRanger({
        release: releaseOf(release),
        podLevel: feature('PodLevelResources'),
      }),
    ),
  ServiceAccount: (options) =>
    lazyPlugin('ServiceAccount', 'both', ['pods'], () =>
      load.serviceAccount().serviceAccountPlugin(options),
    ),
  NodeRestriction: ({ authorizer, feature, release }) =>
    load.nodeRestriction().nodeRestriction({ authorizer, feature, release: releaseOf(release) }),
  TaintNodesByCondition: () =>
    lazyPlugin(
      'TaintNodesByCondition',
      'admit',
      ['nodes'],
      () => load.taintNodes().taintNodesByCondition,
    ),
  AlwaysPullImages: () => load.alwaysPullImages().alwaysPullImages,
  ImagePolicyWebhook: (_, configuration) => load.imagePolicy().imagePolicyWebhook(configuration),
  PodSecurityPolicy: ({ authorizer }) => load.podSecurityPolicy().podSecurityPolicy(authorizer),
  PodSecurity: ({ feature, release }, configuration) =>
    feature('PodSecurity')
      ? load.podSecurity().podSecurity(configuration, { feature, release: releaseOf(release) })
      : { name: 'PodSecurity' },
  PodNodeSelector: ({ release }, configuration) =>
    load.podNodeSelector().podNodeSelector(release, configuration),
  Priority: ({ feature, release }) =>
    lazyPlugin(
      'Priority',
      'both',
      ['pods', 'priorityclasses', 'podgroups', 'compositepodgroups'],
      () => load.priority().priorityPlugin(release, feature),
    ),
  DefaultTolerationSeconds: ({ notReadyTolerationSeconds, unreachableTolerationSeconds }) =>
    lazyPlugin('DefaultTolerationSeconds', 'admit', ['pods'], () =>
      load
        .defaultTolerationSeconds()
        .defaultTolerationSeconds(notReadyTolerationSeconds, unreachableTolerationSeconds),
    ),
  PodTolerationRestriction: (_, configuration) =>
    load.podTolerationRestriction().podTolerationRestriction(configuration),
  DenyEscalatingExec: () => load.denyExec().denyExec('DenyEscalatingExec', false),
  DenyExecOnPrivileged: () => load.denyExec().denyExec('DenyExecOnPrivileged', true),
  EventRateLimit: ({ now }, configuration) =>
    load.eventRateLimit().eventRateLimit(configuration, now),
  ExtendedResourceToleration: () => load.extendedResourceToleration().extendedResourceToleration,
  // A cloud provider would set volume labels, and there is none.
  PersistentVolumeLabel: () => ({ name: 'PersistentVolumeLabel' }),
  DefaultStorageClass: ({ release }) =>
    lazyPlugin('DefaultStorageClass', 'admit', claims, () =>
      load.storageDefaults().defaultStorageClass(releaseOf(release)),
    ),
  StorageObjectInUseProtection: ({ release, feature }) =>
    lazyPlugin(
      'StorageObjectInUseProtection',
      'admit',
      ['persistentvolumes', 'volumeattributesclasses', ...claims],
      () => load.storageDefaults().storageObjectInUseProtection(releaseOf(release), feature),
    ),
  PodGroupProtection: gated('PodGroupProtection', 'GenericWorkload', () =>
    lazyPlugin(
      'PodGroupProtection',
      'admit',
      ['podgroups'],
      () => load.podGroups().podGroupProtection,
    ),
  ),
  OwnerReferencesPermissionEnforcement: (options) =>
    load.ownerReferencesPermission().ownerReferencesPermission(options),
  PersistentVolumeClaimResize: () =>
    lazyPlugin(
      'PersistentVolumeClaimResize',
      'validate',
      claims,
      () => load.persistentVolumeClaimResize().persistentVolumeClaimResize,
    ),
  RuntimeClass: ({ feature, release }) =>
    lazyPlugin('RuntimeClass', 'both', ['pods'], () =>
      load.runtimeClass().runtimeClassPlugin(feature, release),
    ),
  CertificateApproval: ({ authorizer }) =>
    lazyPlugin('CertificateApproval', 'validate', certificateRequests, () =>
      load.certificates().certificateApproval(authorizer),
    ),
  CertificateSigning: ({ authorizer }) =>
    lazyPlugin('CertificateSigning', 'validate', certificateRequests, () =>
      load.certificates().certificateSigning(authorizer),
    ),
  ClusterTrustBundleAttest: gated(
    'ClusterTrustBundleAttest',
    'ClusterTrustBundle',
    ({ authorizer }) =>
      lazyPlugin('ClusterTrustBundleAttest', 'validate', ['clustertrustbundles'], () =>
        load.certificates().clusterTrustBundleAttest(authorizer),
      ),
  ),
  CertificateSubjectRestriction: () =>
    lazyPlugin(
      'CertificateSubjectRestriction',
      'validate',
      certificateRequests,
      () => load.certificates().certificateSubjectRestriction,
    ),
  DefaultIngressClass: ({ release }) =>
    lazyPlugin('DefaultIngressClass', 'admit', ['ingresses'], () =>
      load.defaultIngressClass().defaultIngressClass(releaseOf(release)),
    ),
  DenyServiceExternalIPs: () => load.denyServiceExternalIps().denyServiceExternalIps,
  PodTopologyLabels: gated('PodTopologyLabels', 'PodTopologyLabelsAdmission', () =>
    lazyPlugin(
      'PodTopologyLabels',
      'admit',
      ['pods'],
      () => load.podTopologyLabels().podTopologyLabels,
    ),
  ),
  PodGroupWorkloadExists: gated('PodGroupWorkloadExists', 'GenericWorkload', () =>
    lazyPlugin(
      'PodGroupWorkloadExists',
      'validate',
      ['podgroups'],
      () => load.podGroups().podGroupWorkloadExists,
    ),
  ),
  NodeDeclaredFeatureValidator: gated(
    'NodeDeclaredFeatureValidator',
    'NodeDeclaredFeatures',
    ({ feature, release }) =>
      lazyPlugin('NodeDeclaredFeatureValidator', 'validate', ['pods', 'resourceslices'], () =>
        load.nodeDeclaredFeatures().nodeDeclaredFeatures(feature, releaseOf(release)),
      ),
  ),
  JobValidation: gated('JobValidation', 'GenericWorkload', () =>
    lazyPlugin('JobValidation', 'validate', ['jobs'], () => load.podGroups().jobValidation),
  ),
  PodResizeValidator: gated('PodResizeValidator', 'InPlacePodVerticalScaling', () =>
    lazyPlugin('PodResizeValidator', 'validate', ['pods'], () => load.podResize().podResize),
  ),
  MutatingAdmissionPolicy: gated(
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicy',
    (options, configuration) =>
      load.policies().mutatingPolicyOnceBound({
        ...policyParts(options, configuration),
        types: options.types,
      }),
  ),
  MutatingAdmissionWebhook: async (options, configuration) =>
    mutatingOnceConfigured(dispatchParts(options), await hookUsers(configuration)),
  ValidatingAdmissionPolicy: gated(
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicy',
    (options, configuration) =>
      load.policies().validatingPolicyOnceBound(policyParts(options, configuration)),
  ),
  ValidatingAdmissionWebhook: async (options, configuration) =>
    validatingOnceConfigured(dispatchParts(options), await hookUsers(configuration)),
  ResourceQuota: ({ feature, now, release, updateQuotaStatus }, configuration) =>
    resourceQuota({
      feature,
      release: releaseOf(release),
      now,
      updateStatus: updateQuotaStatus,
      limited:
        configuration === undefined ? [] : load.limitedResources().limitedResources(configuration),
    }),
  AlwaysDeny: () => load.always().alwaysDeny,
}

const dispatchParts = (options: PluginOptions) => {
  const { authorizer, newUid, release, types, report, loopback } = options
  const { observeWebhook: observe, policyMeter: meter } = options
  const skipsReviews = options.feature('ExcludeAdmissionWebhookVirtualResources')
  const rest = { skipsReviews, report, loopback }
  return { authorizer, newUid, release, types, observe, meter, ...rest }
}

const policyParts = (options: PluginOptions, configuration: Loose | undefined) => {
  const { release, authorizer, kindNamed, policyMeter: meter, feature, report } = options
  const rest = { authorizer, kindNamed, feature, report, configuration }
  return { ...rest, meter, release: releaseOf(release) }
}

const hookUsers = async (configuration: Loose | undefined) =>
  configuration === undefined ? new Map() : load.credentials().credentialsFrom(configuration)

/** Throws if a plugin name, or the configuration of an enabled plugin, is invalid. */
export async function pluginsInOrder(options: PluginOptions): Promise<AdmissionPlugin[]> {
  const { release, enable, disable, only } = options
  const names =
    only === undefined ? enabledPlugins(release, enable, disable) : namedPlugins(release, only)
  const { configurationFile } = options
  const configurations: PluginConfigurations =
    configurationFile === undefined
      ? new Map()
      : await load.configuration().readConfigurations(configurationFile)
  const plugins: AdmissionPlugin[] = []
  for (const name of names) {
    try {
      const make = makers[name]
      if (make === undefined) throw new Error('this server does not have it')
      plugins.push(await make(options, configurations.get(name)))
    } catch (error) {
      throw new Error(`couldn't init admission plugin "${name}": ${(error as Error).message}`)
    }
  }
  const roles = lazyPlugin('RoleEscalation', 'admit', roleKinds, () =>
    load.roleEscalation().roleEscalation(options.authorizer, options.rbac),
  )
  const parameters = lazyPlugin('PolicyParameters', 'validate', policyKinds, () =>
    load.parameterRights().parameterRights(options),
  )
  const { feature } = options
  const hasPolicies = feature('ValidatingAdmissionPolicy') || feature('MutatingAdmissionPolicy')
  return [...plugins, roles, ...(hasPolicies ? [parameters] : [])]
}
