/**
 * Defaults of deployments and sets. The versions differ: the first betas take selector and labels from the template,
 * and deployments of extensions/v1beta1 roll one pod at a time and keep every revision.
 */
import type { Loose } from '#api/object-meta.ts'
import { rememberEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

const int32Max = 2147483647

/** The release that let daemon sets start a new pod before the old one ends. */
const surgeRelease = 21

/** The release whose stateful sets write the type of their claims. */
const claimTypesRelease = 17

/** What is made of labels that were written empty: a selector of nothing, which no check lets pass. */
function emptySelector(): Loose {
  const selector = {}
  rememberEmpty(selector, 'matchLabels')
  return selector
}

/** Selector and labels where there are none: the template's labels. */
function fromTemplate(object: Loose): void {
  const holder: Loose | undefined = object.spec.template?.metadata
  const labels: Record<string, string> | undefined = holder?.labels
  if (!labels) {
    if (wasWrittenEmpty(holder, 'labels')) object.spec.selector ??= emptySelector()
    return
  }
  object.spec.selector ??= { matchLabels: { ...labels } }
  if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels }
}

interface DeploymentDefaults {
  readonly fromTemplate: boolean
  readonly step: number | string
  readonly revisions: number
  readonly deadline: number
}

const deployment =
  (defaults: DeploymentDefaults): Defaulter =>
  (object) => {
    const spec: Loose = (object.spec ??= {})
    if (defaults.fromTemplate) fromTemplate(object)
    spec.replicas ??= 1
    const strategy: Loose = (spec.strategy ??= {})
    strategy.type ||= 'RollingUpdate'
    // Extensions filled in a rolling update whatever the strategy, where one was begun.
    const filled = defaults.step === 1 && strategy.rollingUpdate
    if (strategy.type === 'RollingUpdate' || filled) {
      const rolling: Loose = (strategy.rollingUpdate ??= {})
      rolling.maxUnavailable ??= defaults.step
      rolling.maxSurge ??= defaults.step
    }
    spec.revisionHistoryLimit ??= defaults.revisions
    spec.progressDeadlineSeconds ??= defaults.deadline
  }

/** Where the number of templates is an annotation, it is there from the start: nothing counted yet. */
function countTemplates(object: Loose): void {
  const key = 'deprecated.daemonset.template.generation'
  object.metadata.annotations ??= {}
  if (!Object.hasOwn(object.metadata.annotations, key)) object.metadata.annotations[key] = '0'
}

const daemonSet =
  (strategyType: string, first: boolean): Defaulter =>
  (object, context) => {
    const spec: Loose = (object.spec ??= {})
    if (first) fromTemplate(object)
    else countTemplates(object)
    const strategy: Loose = (spec.updateStrategy ??= {})
    strategy.type ||= strategyType
    const rolls = strategy.type === 'RollingUpdate'
    // One that is begun has numbers, whatever the strategy: none left out but 0 on the way through the original.
    if (rolls || strategy.rollingUpdate) {
      const rolling: Loose = (strategy.rollingUpdate ??= {})
      rolling.maxUnavailable ??= rolls ? 1 : 0
      if (context.release >= surgeRelease) rolling.maxSurge ??= 0
    }
    spec.revisionHistoryLimit ??= 10
  }

const statefulSet =
  (strategyType: string, takesTemplate: boolean, keepsRollingUpdate: boolean): Defaulter =>
  (object, context) => {
    const spec: Loose = (object.spec ??= {})
    spec.podManagementPolicy ||= 'OrderedReady'
    const strategy: Loose = (spec.updateStrategy ??= {})
    if (!strategy.type) {
      strategy.type = strategyType
      if (strategyType === 'RollingUpdate') {
        const kept = keepsRollingUpdate && context.release >= 19
        strategy.rollingUpdate = (kept ? strategy.rollingUpdate : undefined) ?? {}
      }
    }
    if (takesTemplate) fromTemplate(object)
    spec.replicas ??= 1
    spec.revisionHistoryLimit ??= 10
    if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) {
      strategy.rollingUpdate.partition ??= 0
    }
    if (context.release >= claimTypesRelease) nameClaims(spec)
  }

/** The claims in a set say what they are. */
function nameClaims(spec: Loose): void {
  for (const claim of (spec.volumeClaimTemplates ?? []) as Loose[]) {
    claim.kind = 'PersistentVolumeClaim'
    claim.apiVersion = 'v1'
  }
}

const replicaSet =
  (takesTemplate: boolean): Defaulter =>
  (object) => {
    object.spec ??= {}
    if (takesTemplate) fromTemplate(object)
    object.spec.replicas ??= 1
  }

const current = { fromTemplate: false, step: '25%', revisions: 10, deadline: 600 }

export const appsDefaults: Defaulters = {
  'io.k8s.api.apps.v1.Deployment': deployment(current),
  'io.k8s.api.apps.v1.DaemonSet': daemonSet('RollingUpdate', false),
  'io.k8s.api.apps.v1.StatefulSet': statefulSet('RollingUpdate', false, true),
  'io.k8s.api.apps.v1.ReplicaSet': replicaSet(false),
  'io.k8s.api.apps.v1beta2.Deployment': deployment(current),
  'io.k8s.api.apps.v1beta2.DaemonSet': daemonSet('RollingUpdate', false),
  'io.k8s.api.apps.v1beta2.StatefulSet': statefulSet('RollingUpdate', false, false),
  'io.k8s.api.apps.v1beta2.ReplicaSet': replicaSet(false),
  'io.k8s.api.apps.v1beta1.Deployment': deployment({
    ...current,
    fromTemplate: true,
    revisions: 2,
  }),
  'io.k8s.api.apps.v1beta1.StatefulSet': statefulSet('OnDelete', true, false),
  'io.k8s.api.extensions.v1beta1.Deployment': deployment({
    fromTemplate: true,
    step: 1,
    revisions: int32Max,
    deadline: int32Max,
  }),
  'io.k8s.api.extensions.v1beta1.DaemonSet': daemonSet('OnDelete', true),
  'io.k8s.api.extensions.v1beta1.ReplicaSet': replicaSet(true),
}
