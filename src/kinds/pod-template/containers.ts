/** Validation of a pod's containers: init containers and regular ones. */
import { change } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1123Label, portName, portNumber } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkOneOf, each } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import {
  checkInitRestartPolicy,
  checkResizePolicy,
  checkRestartPolicy,
  isSidecar,
} from './container-restart.ts'
import { checkEnvironment, checkEnvironmentSources } from './environment.ts'
import { goLifecycle, goProbe } from './go-values.ts'
import { checkDevices, checkMounts } from './mounts.ts'
import type { PodRules } from './pod-rules.ts'
import { checkLifecycle, checkProbe } from './probes.ts'
import { checkResources } from './resources.ts'
import { checkSecurityContext } from './security-context.ts'
import type { VolumesByName } from './volumes.ts'

const repeatsStartupProbeErrors = change('errors of startup probes are reported twice', {
  since: 21,
  until: 24,
})
const commonFirst = change('errors of a container begin with those that all containers can have', {
  since: 25,
})

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const messagePolicies = ['File', 'FallbackToLogsOnError']
const messagePoliciesShown = "must be 'File' or 'FallbackToLogsOnError'"

/** The context that the containers of one pod share. */
export interface ContainerScope {
  readonly spec: Loose
  readonly volumes: VolumesByName
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>
  readonly rules: PodRules
}

export function checkContainers(scope: ContainerScope, path: FieldPath): FieldError[] {
  const all: Loose[] = scope.spec.containers ?? []
  if (all.length === 0) return [required(path)]
  if (!scope.rules.has(commonFirst)) return checkContainersBefore25(all, false, scope, path)
  const errors: FieldError[] = []
  const names = new Set<string>()
  all.forEach((container, i) => {
    const at = path.index(i)
    const name: string = container.name ?? ''
    errors.push(...checkContainer(container, scope, at))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    errors.push(...checkLife(container, scope, at))
    errors.push(...checkRestartPolicy(container, at, scope.rules))
  })
  errors.push(...checkHostPortConflicts(all, path))
  return errors
}

/** Validation of all types of containers. */
export function checkContainer(
  container: Loose,
  scope: ContainerScope,
  path: FieldPath,
): FieldError[] {
  const { rules, volumes, claims, spec } = scope
  const name: string = container.name ?? ''
  const at = path.child('name')
  const policy: string = container.terminationMessagePolicy ?? ''
  return [
    ...(name === '' ? [required(at)] : each(at, name, dns1123Label(name))),
    ...(container.image ? [] : [required(path.child('image'))]),
    ...checkOneOf(policy, messagePolicies, path.child('terminationMessagePolicy')),
    ...checkPorts(container.ports, path.child('ports')),
    ...checkEnvironment(container.env, path.child('env'), rules),
    ...checkEnvironmentSources(container.envFrom, path.child('envFrom'), rules),
    ...checkMounts(container, volumes, path.child('volumeMounts')),
    ...checkDevices(container, volumes, path.child('volumeDevices'), rules),
    ...checkOneOf(container.imagePullPolicy, pullPolicies, path.child('imagePullPolicy')),
    ...checkResources(container.resources, path.child('resources'), rules, claims),
    ...checkResizePolicy(container.resizePolicy, path.child('resizePolicy'), spec.restartPolicy),
    ...checkSecurityContext(container.securityContext, path.child('securityContext'), rules, spec),
  ]
}

/** Validates the lifecycle handlers and probes of a container that keeps running. */
function checkLife(
  container: Loose,
  { spec, rules }: ContainerScope,
  path: FieldPath,
): FieldError[] {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container
  const errors: FieldError[] = []
  if (lifecycle) errors.push(...checkLifecycle(lifecycle, path.child('lifecycle'), { spec, rules }))
  errors.push(
    ...checkProbe(livenessProbe, path.child('livenessProbe'), rules),
    ...checkThreshold(livenessProbe, path.child('livenessProbe', 'successThreshold')),
    ...checkProbe(readinessProbe, path.child('readinessProbe'), rules),
    ...checkReadinessGrace(readinessProbe, path),
    ...checkProbe(startupProbe, path.child('startupProbe'), rules),
    ...checkThreshold(startupProbe, path.child('startupProbe', 'successThreshold')),
  )
  return errors
}

function checkReadinessGrace(probe: Loose | null | undefined, path: FieldPath): FieldError[] {
  const grace = probe?.terminationGracePeriodSeconds ?? undefined
  const at = path.child('readinessProbe', 'terminationGracePeriodSeconds')
  return grace === undefined ? [] : [invalid(at, grace, 'must not be set for readinessProbes')]
}

export function checkContainersBefore25(
  all: Loose[],
  init: boolean,
  scope: ContainerScope,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  all.forEach((container, i) => {
    const at = path.index(i)
    const name: string = container.name ?? ''
    if (name === '') errors.push(required(at.child('name')))
    else errors.push(...each(at.child('name'), name, dns1123Label(name)))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    errors.push(...checkContainerBefore25(container, scope, at))
  })
  if (init) errors.push(...checkHostPortsAlone(all, path))
  else errors.push(...checkHostPortConflicts(all, path))
  return errors
}

function checkContainerBefore25(
  container: Loose,
  scope: ContainerScope,
  path: FieldPath,
): FieldError[] {
  const { spec, volumes, claims, rules } = scope
  const errors: FieldError[] = []
  if (!container.image) errors.push(required(path.child('image')))
  if (container.lifecycle) {
    errors.push(...checkLifecycle(container.lifecycle, path.child('lifecycle'), { spec, rules }))
  }
  errors.push(...checkLivenessAndStartup(container, path, rules))
  const policy: string = container.terminationMessagePolicy ?? ''
  const at = path.child('terminationMessagePolicy')
  if (policy === '') errors.push(required(at, messagePoliciesShown))
  else if (!messagePolicies.includes(policy)) {
    errors.push(invalid(at, policy, messagePoliciesShown))
  }
  errors.push(
    ...checkProbe(container.readinessProbe, path.child('readinessProbe'), rules),
    ...checkPorts(container.ports, path.child('ports')),
    ...checkEnvironment(container.env, path.child('env'), rules),
    ...checkEnvironmentSources(container.envFrom, path.child('envFrom'), rules),
    ...checkMounts(container, volumes, path.child('volumeMounts')),
    ...checkDevices(container, volumes, path.child('volumeDevices'), rules),
    ...checkOneOf(container.imagePullPolicy, pullPolicies, path.child('imagePullPolicy')),
    ...checkResources(container.resources, path.child('resources'), rules, claims),
    ...checkSecurityContext(container.securityContext, path.child('securityContext'), rules, spec),
  )
  return errors
}

/** From 1.21 to 1.24 kube-apiserver checks the startup probe twice. */
function checkLivenessAndStartup(container: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container
  const errors = checkProbe(livenessProbe, path.child('livenessProbe'), rules)
  errors.push(...checkReadinessGrace(readinessProbe, path))
  if (rules.has(repeatsStartupProbeErrors))
    errors.push(...checkProbe(startupProbe, path.child('startupProbe'), rules))
  errors.push(...checkThreshold(livenessProbe, path.child('livenessProbe', 'successThreshold')))
  errors.push(...checkProbe(startupProbe, path.child('startupProbe'), rules))
  errors.push(...checkThreshold(startupProbe, path.child('startupProbe', 'successThreshold')))
  return errors
}

const checkThreshold = (probe: Loose | null | undefined, path: FieldPath): FieldError[] =>
  probe && probe.successThreshold !== 1
    ? [invalid(path, probe.successThreshold ?? 0, 'must be 1')]
    : []

function checkPorts(ports: Loose[] | null | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  const protocols = ['SCTP', 'TCP', 'UDP']
  ;(ports ?? []).forEach((port, i) => {
    const at = path.index(i)
    const { name = '', containerPort = 0, hostPort = 0, protocol = '' } = port
    if (name !== '') {
      const problems = portName(name)
      if (problems.length > 0) errors.push(...each(at.child('name'), name, problems))
      else if (names.has(name)) errors.push(duplicate(at.child('name'), name))
      else names.add(name)
    }
    if (containerPort === 0) errors.push(required(at.child('containerPort')))
    else errors.push(...each(at.child('containerPort'), containerPort, portNumber(containerPort)))
    if (hostPort !== 0) errors.push(...each(at.child('hostPort'), hostPort, portNumber(hostPort)))
    if (protocol === '') errors.push(required(at.child('protocol')))
    else if (!protocols.includes(protocol)) {
      errors.push(notSupported(at.child('protocol'), protocol, protocols))
    }
  })
  return errors
}

/** Two containers cannot use the same port of the host. */
function checkHostPortConflicts(containers: Loose[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const taken = new Set<string>()
  containers.forEach((container, i) => {
    ;((container.ports ?? []) as Loose[]).forEach((port, k) => {
      if (!port.hostPort) return
      const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`
      const at = path.index(i).child('ports').index(k).child('hostPort')
      if (taken.has(key)) errors.push(duplicate(at, key))
      taken.add(key)
    })
  })
  return errors
}

/**
 * Init containers run one after another, so each may repeat the host ports of another, but not its
 * own. As in kube-apiserver, each error has index 0, whichever container it is about.
 */
const checkHostPortsAlone = (containers: Loose[], path: FieldPath): FieldError[] =>
  containers.flatMap((container) => checkHostPortConflicts([container], path))

/** Init containers run to their end one after another, unless they are sidecars. */
export function checkInitContainers(scope: ContainerScope, path: FieldPath): FieldError[] {
  const containers: Loose[] = scope.spec.initContainers ?? []
  const names = new Set<string>(
    (scope.spec.containers ?? []).map((other: Loose) => other.name ?? ''),
  )
  if (containers.length === 0) return []
  if (!scope.rules.has(commonFirst)) return checkInitContainersBefore25(names, scope, path)
  return containers.flatMap((container, i) => {
    const at = path.index(i)
    const name: string = container.name ?? ''
    const errors = checkContainer(container, scope, at)
    errors.push(...checkInitRestartPolicy(container, at, scope.rules))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else if (name !== '') names.add(name)
    errors.push(...checkHostPortsAlone([container], path))
    errors.push(...checkInitLife(container, scope, at))
    errors.push(...checkInitResize(container, at, scope.rules))
    return errors
  })
}

const namesSidecars = change('errors of init containers name restartPolicy=Always', { since: 28 })

/** Sidecars have handlers and probes like other containers; no other init container has any. */
function checkInitLife(container: Loose, scope: ContainerScope, path: FieldPath): FieldError[] {
  if (isSidecar(container)) return checkLife(container, scope, path)
  const detail = scope.rules.has(namesSidecars)
    ? 'may not be set for init containers without restartPolicy=Always'
    : 'may not be set for init containers'
  return ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((field) =>
    container[field] ? [forbidden(path.child(field), detail)] : [],
  )
}

const restartsOnResize = ({ restartPolicy }: Loose): boolean => restartPolicy === 'RestartContainer'

const refusesRestart = change(
  'init containers that are no sidecars may not restart to be resized',
  {
    since: 36,
  },
)

function checkInitResize(container: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const policies: Loose[] = container.resizePolicy ?? []
  const before: Loose[] = rules.old?.initContainers ?? []
  const at = path.child('resizePolicy')
  const isAllowed =
    rules.feature('InPlacePodVerticalScaling') ||
    before.some((other) => isSidecar(other) && (other.resizePolicy ?? []).length > 0)
  const errors: FieldError[] = []
  if (!isAllowed && policies.length > 0) {
    const shown = internalValue('io.k8s.api.core.v1.ContainerResizePolicy', policies)
    errors.push(invalid(at, shown, 'must not be set for init containers'))
  }
  if (isSidecar(container) || !rules.has(refusesRestart)) return errors
  if (
    before.some((other) => !isSidecar(other) && (other.resizePolicy ?? []).some(restartsOnResize))
  )
    return errors
  policies.forEach((policy, k) => {
    if (!restartsOnResize(policy)) return
    const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    errors.push(invalid(at.index(k).child('restartPolicy'), policy.restartPolicy, detail))
  })
  return errors
}

function checkInitContainersBefore25(
  names: Set<string>,
  scope: ContainerScope,
  path: FieldPath,
): FieldError[] {
  const containers: Loose[] = scope.spec.initContainers
  const errors = checkContainersBefore25(containers, true, scope, path)
  const detail = 'must not be set for init containers'
  containers.forEach((container, i) => {
    const at = path.index(i)
    const name: string = container.name ?? ''
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    if (name !== '') names.add(name)
    if (container.lifecycle) {
      errors.push(invalid(at.child('lifecycle'), goLifecycle(container.lifecycle), detail))
    }
    for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
      if (!container[probe]) continue
      errors.push(invalid(at.child(probe), goProbe(container[probe], scope.rules.release), detail))
    }
  })
  return errors
}

/** Validation of containers of pods, not of templates. */
export const checkImagesOfPod = (
  containers: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] =>
  (containers ?? []).flatMap((container, i) => checkImageOfPod(container, path.index(i)))

export function checkImageOfPod(container: Loose, path: FieldPath): FieldError[] {
  const image: string = container.image ?? ''
  if (image === image.trim()) return []
  return [invalid(path.child('image'), image, 'must not have leading or trailing whitespace')]
}
