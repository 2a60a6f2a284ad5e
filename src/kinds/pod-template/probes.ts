/**
 * Handlers that a kubelet runs for a container: probes, and hooks at the start and the end of its
 * life.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { httpHeaderName, portName, portNumber } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { each } from '#kinds/all-kinds/checks.ts'

const schemes = ['HTTP', 'HTTPS']

const checksProbeGrace = change('terminationGracePeriodSeconds of a probe must be positive', {
  since: 22,
})

export function checkProbe(
  probe: Loose | null | undefined,
  path: FieldPath,
  release: number,
): FieldError[] {
  if (!probe) return []
  const errors = checkHandler(probe, path)
  const counts = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]
  for (const field of counts)
    errors.push(...validateNonnegative(probe[field] ?? 0, path.child(field)))
  const grace = probe.terminationGracePeriodSeconds ?? undefined
  if (grace !== undefined && grace <= 0 && releaseOf(release).has(checksProbeGrace)) {
    const at = path.child('terminationGracePeriodSeconds')
    errors.push(invalid(at, grace, 'must be greater than 0'))
  }
  return errors
}

export function checkLifecycle(lifecycle: Loose, path: FieldPath): FieldError[] {
  return ['postStart', 'preStop'].flatMap((moment) =>
    lifecycle[moment] ? checkHandler(lifecycle[moment], path.child(moment)) : [],
  )
}

const actions: readonly (readonly [string, (action: Loose, path: FieldPath) => FieldError[]])[] = [
  ['exec', checkExec],
  ['httpGet', checkHttpGet],
  ['tcpSocket', (action, path) => checkPort(action.port, path.child('port'))],
]

function checkHandler(handler: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let count = 0
  for (const [field, check] of actions) {
    const action = handler[field]
    if (!action) continue
    if (count > 0) {
      errors.push(forbidden(path.child(field), 'may not specify more than 1 handler type'))
    } else {
      count++
      errors.push(...check(action, path.child(field)))
    }
  }
  if (count === 0) errors.push(required(path, 'must specify a handler type'))
  return errors
}

function checkExec(action: Loose, path: FieldPath): FieldError[] {
  return (action.command ?? []).length === 0 ? [required(path.child('command'))] : []
}

function checkHttpGet(action: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!action.path) errors.push(required(path.child('path')))
  errors.push(...checkPort(action.port, path.child('port')))
  const scheme: string = action.scheme ?? ''
  if (!schemes.includes(scheme)) errors.push(notSupported(path.child('scheme'), scheme, schemes))
  for (const header of (action.httpHeaders ?? []) as Loose[]) {
    const name: string = header.name ?? ''
    errors.push(...each(path.child('httpHeaders'), name, httpHeaderName(name)))
  }
  return errors
}

/** A port by number or by name. */
export const checkPort = (port: number | string | undefined, path: FieldPath): FieldError[] =>
  typeof port === 'string'
    ? each(path, port, portName(port))
    : each(path, port ?? 0, portNumber(port ?? 0))
