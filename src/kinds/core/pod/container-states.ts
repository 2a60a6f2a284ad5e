/**
 * Validates transitions of container states: a container that must not restart stays terminated.
 */
import { type FieldError, forbidden, problemsMax } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import {
  allowsRestartOfAll,
  allowsRestartRules,
  isSidecar,
} from '#kinds/pod-template/container-restart.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'

const ephemeralStayEnded = change('ephemeral containers that have ended stay ended', { since: 34 })

type States = Loose[] | null | undefined

/** All lists of a status. `spec` is that of the stored pod. */
export function checkStates(
  next: Loose,
  old: Loose,
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors = ['containers', 'initContainers'].flatMap((list) => {
    const field = list === 'containers' ? 'containerStatuses' : 'initContainerStatuses'
    const restarts = restartsOf(spec, list, rules)
    if (restarts === 'always') return []
    return checkTransitions(next[field], old[field], path.child(field), restarts)
  })
  if (!rules.has(ephemeralStayEnded)) return errors
  const field = 'ephemeralContainerStatuses'
  return [...errors, ...checkTransitions(next[field], old[field], path.child(field), () => false)]
}

type Restarts = 'always' | ((name: string, exitCode: number) => boolean)

/** Whether the containers of a list may restart. */
function restartsOf(spec: Loose, list: string, rules: PodRules): Restarts {
  const byName = new Map<string, Loose>()
  for (const container of (spec[list] ?? []) as Loose[]) {
    if (!byName.has(container.name ?? '')) byName.set(container.name ?? '', container)
  }
  if (allowsRestartRules(rules)) {
    if (allowsRestartOfAll(rules) && mayRestartAll(spec)) return 'always'
    return (name, exitCode) => {
      const container = byName.get(name)
      return container !== undefined && mayRestart(container, spec, exitCode)
    }
  }
  if (spec.restartPolicy === 'Always') return 'always'
  return (name, exitCode) =>
    (exitCode !== 0 && spec.restartPolicy === 'OnFailure') ||
    (list === 'initContainers' && isSidecar(byName.get(name) ?? {}))
}

const mayRestartAll = (spec: Loose): boolean =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some((container: Loose) =>
    ((container.restartPolicyRules ?? []) as Loose[]).some(
      ({ action }) => action === 'RestartAllContainers',
    ),
  )

/**
 * The first rule that matches the exit code decides, then the policy of the container, then that of
 * the pod.
 */
function mayRestart(container: Loose, spec: Loose, exitCode: number): boolean {
  const policy: string | undefined = container.restartPolicy ?? undefined
  if (policy !== undefined) {
    const rule = ((container.restartPolicyRules ?? []) as Loose[]).find(({ exitCodes }) => {
      if (!exitCodes) return false
      const isListed = ((exitCodes.values ?? []) as number[]).includes(exitCode)
      return exitCodes.operator === 'In' ? isListed : exitCodes.operator === 'NotIn' && !isListed
    })
    if (rule?.action === 'Restart' || rule?.action === 'RestartAllContainers') return true
    const own = byPolicy(policy, exitCode)
    if (own !== undefined) return own
  }
  return byPolicy(spec.restartPolicy, exitCode) ?? true
}

function byPolicy(policy: string, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true
  if (policy === 'OnFailure') return exitCode !== 0
  return policy === 'Never' ? false : undefined
}

function checkTransitions(
  next: States,
  old: States,
  path: FieldPath,
  mayStart: (name: string, exitCode: number) => boolean,
): FieldError[] {
  const errors: FieldError[] = []
  const going = new Map<string, number>()
  for (const { name, state } of next ?? []) {
    if (!state?.terminated) going.set(name, (going.get(name) ?? 0) + 1)
  }
  ;(old ?? []).forEach((before, i) => {
    const ended = before.state?.terminated
    if (!ended || mayStart(before.name ?? '', ended.exitCode ?? 0)) return
    const detail = 'may not be transitioned to non-terminated state'
    const times = Math.min(going.get(before.name) ?? 0, problemsMax - errors.length)
    for (let k = 0; k < times; k++) errors.push(forbidden(path.index(i).child('state'), detail))
  })
  return errors
}
