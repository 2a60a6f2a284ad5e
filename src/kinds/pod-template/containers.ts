/** The containers of a pod: those that run first, and those that run on. */
import { change, releaseOf } from '#api/releases/change.ts'
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1123Label, portName, portNumber } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkOneOf, each } from '#kinds/all-kinds/checks.ts'
import { checkEnvironment, checkEnvironmentSources } from './environment.ts'
import { goLifecycle, goProbe } from './go-values.ts'
import { checkDevices, checkMounts } from './mounts.ts'
import type { PodRules } from './pod-rules.ts'
import { checkLifecycle, checkProbe } from './probes.ts'
import { checkResources } from './resources.ts'
import { checkSecurityContext } from './security-context.ts'
import type { VolumesByName } from './volumes.ts'

const checksStartupProbes = change('startup probes are validated', { since: 21 })

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const messagePolicies = "must be 'File' or 'FallbackToLogsOnError'"

export function checkContainers(
  containers: Loose[] | null | undefined,
  init: boolean,
  volumes: VolumesByName,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const all = containers ?? []
  if (all.length === 0) return [required(path)]
  const errors: FieldError[] = []
  const names = new Set<string>()
  all.forEach((container, i) => {
    const at = path.index(i)
    const name: string = container.name ?? ''
    if (name === '') errors.push(required(at.child('name')))
    else errors.push(...each(at.child('name'), name, dns1123Label(name)))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    errors.push(...checkContainer(container, volumes, at, rules))
  })
  if (init) for (const container of all) errors.push(...checkHostPortConflicts([container], path))
  else errors.push(...checkHostPortConflicts(all, path))
  return errors
}

function checkContainer(
  container: Loose,
  volumes: VolumesByName,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  if (!container.image) errors.push(required(path.child('image')))
  if (container.lifecycle) {
    errors.push(...checkLifecycle(container.lifecycle, path.child('lifecycle')))
  }
  errors.push(...checkLivenessAndStartup(container, path, rules))
  const policy: string = container.terminationMessagePolicy ?? ''
  if (policy === '') errors.push(required(path.child('terminationMessagePolicy'), messagePolicies))
  else if (policy !== 'File' && policy !== 'FallbackToLogsOnError') {
    errors.push(invalid(path.child('terminationMessagePolicy'), policy, messagePolicies))
  }
  errors.push(
    ...checkProbe(container.readinessProbe, path.child('readinessProbe'), rules.release),
    ...checkPorts(container.ports, path.child('ports')),
    ...checkEnvironment(container.env, path.child('env'), rules),
    ...checkEnvironmentSources(container.envFrom, path.child('envFrom')),
    ...checkMounts(container, volumes, path.child('volumeMounts')),
    ...checkDevices(container, volumes, path.child('volumeDevices')),
    ...checkOneOf(container.imagePullPolicy, pullPolicies, path.child('imagePullPolicy')),
    ...checkResources(container.resources, path.child('resources'), rules),
    ...checkSecurityContext(container.securityContext, path.child('securityContext'), rules),
  )
  return errors
}

/** The startup probe is checked twice from 1.21 on, so its errors are reported twice. */
function checkLivenessAndStartup(container: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container
  const errors = checkProbe(livenessProbe, path.child('livenessProbe'), rules.release)
  const grace = readinessProbe?.terminationGracePeriodSeconds ?? undefined
  if (grace !== undefined) {
    const at = path.child('readinessProbe', 'terminationGracePeriodSeconds')
    errors.push(invalid(at, grace, 'must not be set for readinessProbes'))
  }
  if (releaseOf(rules.release).has(checksStartupProbes))
    errors.push(...checkProbe(startupProbe, path.child('startupProbe'), rules.release))
  errors.push(...checkThreshold(livenessProbe, path.child('livenessProbe', 'successThreshold')))
  errors.push(...checkProbe(startupProbe, path.child('startupProbe'), rules.release))
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

/** A port of the host can be had once. */
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

/** Init containers run to their end one after another: nothing to probe, and names of their own. */
export function checkInitContainers(
  spec: Loose,
  volumes: VolumesByName,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const containers: Loose[] = spec.initContainers ?? []
  const errors: FieldError[] = []
  if (containers.length > 0) {
    errors.push(...checkContainers(containers, true, volumes, path, rules))
  }
  const names = new Set<string>((spec.containers ?? []).map((other: Loose) => other.name ?? ''))
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
      if (container[probe])
        errors.push(invalid(at.child(probe), goProbe(container[probe], rules.release), detail))
    }
  })
  return errors
}

/** What holds for containers of pods but not of templates. */
export function checkImagesOfPod(
  containers: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  return (containers ?? []).flatMap((container, i) => {
    const image: string = container.image ?? ''
    if (image === image.trim()) return []
    const detail = 'must not have leading or trailing whitespace'
    return [invalid(path.index(i).child('image'), image, detail)]
  })
}
