/** The plugins that are on, in the order they run: what comes later sees what earlier ones did. */
import type { Authorizer } from '#access/authorize.ts'
import type { RbacAuthorizer } from '#access/authorize/rbac.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import type { Kind } from '#kinds/kind.ts'
import type { AdmissionPlugin } from './admission.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './certificate-plugins.ts'
import { type PluginConfigurations, readConfigurations } from './configuration.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { eventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceAutoProvision, namespaceExists } from './namespace-existence.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { ownerReferencesPermission } from './owner-references-permission.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { enabledPlugins } from './plugin-names.ts'
import { podNodeSelector } from './pod-node-selector.ts'
import { podSecurityPolicy } from './pod-security-policy/pod-security-policy.ts'
import { podTolerationRestriction } from './pod-toleration-restriction.ts'
import { priorityPlugin } from './priority.ts'
import { limitedResources } from './quota/limited-resources.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { roleEscalation } from './role-escalation.ts'
import { runtimeClassPlugin } from './runtime-class.ts'
import { securityContextDeny } from './security-context-deny.ts'
import { type ServiceAccountOptions, serviceAccountPlugin } from './service-account.ts'
import { defaultStorageClass, storageObjectInUseProtection } from './storage-defaults.ts'
import { taintNodesByCondition } from './taint-nodes.ts'
import { credentialsFrom } from './webhook/credentials.ts'
import type { DispatchParts, HookCall } from './webhook/dispatch.ts'
import { HookClient } from './webhook/hook-client.ts'
import { mutatingWebhooks } from './webhook/mutating.ts'
import { validatingWebhooks } from './webhook/validating.ts'

export interface PluginOptions extends ServiceAccountOptions {
  readonly authorizer: Authorizer
  readonly rbac: RbacAuthorizer
  readonly feature: (gate: string) => boolean
  /** Milliseconds. */
  readonly now: () => number
  readonly kindNamed: (apiVersion: string, kind: string) => Kind | undefined
  /** What plugins write: on behalf of the server itself. */
  readonly createNamespace: (namespace: KubeObject) => Promise<unknown>
  readonly updateQuotaStatus: (quota: KubeObject) => Promise<unknown>
  readonly newUid: () => string
  /** Told of every call of a webhook, for metrics. */
  readonly observeWebhook: (call: HookCall) => void
  readonly report: (message: string) => void
  /** By flag: names to add to and to take from the default ones, and the file that configures them. */
  readonly enable: readonly string[]
  readonly disable: readonly string[]
  readonly configurationFile: string | undefined
}

/** Plugins that few servers run. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const loadDenyExec = later<typeof import('./deny-exec.ts')>('./deny-exec')
const loadImagePolicy = later<typeof import('./image-policy.ts')>('./image-policy')
const loadPodPreset = later<typeof import('./pod-preset.ts')>('./pod-preset')
const loadPodSecurity = later<typeof import('./pod-security/pod-security.ts')>(
  './pod-security/pod-security',
)

type Make = (
  options: PluginOptions,
  configuration: Loose | undefined,
) => AdmissionPlugin | Promise<AdmissionPlugin>

const makers: Readonly<Record<string, Make>> = {
  AlwaysAdmit: () => alwaysAdmit,
  NamespaceAutoProvision: ({ createNamespace }) => namespaceAutoProvision(createNamespace),
  NamespaceLifecycle: () => namespaceLifecycle,
  NamespaceExists: () => namespaceExists,
  SecurityContextDeny: () => securityContextDeny,
  LimitPodHardAntiAffinityTopology: () => limitPodHardAntiAffinityTopology,
  PodPreset: () => loadPodPreset().podPreset,
  LimitRanger: () => limitRanger,
  ServiceAccount: (options) => serviceAccountPlugin(options),
  NodeRestriction: () => nodeRestriction,
  TaintNodesByCondition: () => taintNodesByCondition,
  AlwaysPullImages: () => alwaysPullImages,
  ImagePolicyWebhook: ({ now }, configuration) =>
    loadImagePolicy().imagePolicyWebhook(configuration, now),
  PodSecurityPolicy: ({ authorizer }) => podSecurityPolicy(authorizer),
  PodSecurity: ({ feature }, configuration) =>
    feature('PodSecurity') ? loadPodSecurity().podSecurity(configuration) : { name: 'PodSecurity' },
  PodNodeSelector: (_, configuration) => podNodeSelector(configuration),
  Priority: ({ release }) => priorityPlugin(release),
  DefaultTolerationSeconds: () => defaultTolerationSeconds,
  PodTolerationRestriction: (_, configuration) => podTolerationRestriction(configuration),
  DenyEscalatingExec: () => loadDenyExec().denyExec('DenyEscalatingExec', false),
  DenyExecOnPrivileged: () => loadDenyExec().denyExec('DenyExecOnPrivileged', true),
  EventRateLimit: ({ now }, configuration) => eventRateLimit(configuration, now),
  ExtendedResourceToleration: () => extendedResourceToleration,
  // Labels of volumes come from the cloud they are in; there is none to ask.
  PersistentVolumeLabel: () => ({ name: 'PersistentVolumeLabel' }),
  DefaultStorageClass: () => defaultStorageClass,
  StorageObjectInUseProtection: () => storageObjectInUseProtection,
  OwnerReferencesPermissionEnforcement: (options) => ownerReferencesPermission(options),
  PersistentVolumeClaimResize: () => persistentVolumeClaimResize,
  RuntimeClass: ({ feature }) => runtimeClassPlugin(feature),
  CertificateApproval: ({ authorizer }) => certificateApproval(authorizer),
  CertificateSigning: ({ authorizer }) => certificateSigning(authorizer),
  CertificateSubjectRestriction: () => certificateSubjectRestriction,
  DefaultIngressClass: () => defaultIngressClass,
  DenyServiceExternalIPs: () => denyServiceExternalIps,
  MutatingAdmissionWebhook: async (options, configuration) =>
    mutatingWebhooks(await dispatchParts(options, configuration)),
  ValidatingAdmissionWebhook: async (options, configuration) =>
    validatingWebhooks(await dispatchParts(options, configuration)),
  ResourceQuota: ({ feature, now, updateQuotaStatus }, configuration) =>
    resourceQuota({
      feature,
      now,
      updateStatus: updateQuotaStatus,
      limited: limitedResources(configuration),
    }),
  AlwaysDeny: () => alwaysDeny,
}

async function dispatchParts(
  options: PluginOptions,
  configuration: Loose | undefined,
): Promise<DispatchParts> {
  const { newUid, release, observeWebhook: observe, report } = options
  return {
    client: new HookClient(await credentialsFrom(configuration)),
    newUid,
    release,
    observe,
    report,
  }
}

/** Throws where a name, or the configuration of a plugin that is on, is wrong. */
export async function pluginsInOrder(options: PluginOptions): Promise<AdmissionPlugin[]> {
  const names = enabledPlugins(options.release, options.enable, options.disable)
  const { configurationFile } = options
  const configurations: PluginConfigurations =
    configurationFile === undefined ? new Map() : await readConfigurations(configurationFile)
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
  return [...plugins, roleEscalation(options.authorizer, options.rbac)]
}
