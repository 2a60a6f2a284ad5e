/** Probes of containers, and handlers at the start and the end of their life. */
import { change } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { httpHeaderName, portName, portNumber } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { checkOneOfIfSet, each } from '#kinds/all-kinds/checks.ts'
import type { PodRules } from './pod-rules.ts'

const schemes = ['HTTP', 'HTTPS']

const checksProbeGrace = change('terminationGracePeriodSeconds of a probe must be positive', {
  since: 22,
})

export function checkProbe(
  probe: Loose | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  if (!probe) return []
  const errors = checkHandler(probe, path, { spec: {}, rules })
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
  if (grace !== undefined && grace <= 0 && rules.has(checksProbeGrace)) {
    const at = path.child('terminationGracePeriodSeconds')
    errors.push(invalid(at, grace, 'must be greater than 0'))
  }
  return errors
}

/** The pod that a container belongs to. */
interface Owner {
  readonly spec: Loose
  readonly rules: PodRules
}

export function checkLifecycle(lifecycle: Loose, path: FieldPath, owner: Owner): FieldError[] {
  const errors = ['postStart', 'preStop'].flatMap((moment) =>
    lifecycle[moment] ? checkHandler(lifecycle[moment], path.child(moment), owner) : [],
  )
  const signal: string | undefined = lifecycle.stopSignal ?? undefined
  if (signal !== undefined)
    errors.push(...checkStopSignal(signal, path.child('stopSignal'), owner.spec))
  return errors
}

const realTime = [
  'SIGRTMAX',
  ...range(1, 14).map((i) => `SIGRTMAX-${i}`),
  'SIGRTMIN',
  ...range(1, 15).map((i) => `SIGRTMIN+${i}`),
]
const namedSignals =
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'
const linuxSignals = namedSignals
  .split(' ')
  .map((name) => `SIG${name}`)
  .concat(realTime)
  .sort()
const signals: ReadonlyMap<string, readonly string[]> = new Map([
  ['linux', linuxSignals],
  ['windows', ['SIGKILL', 'SIGTERM']],
])

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}

function checkStopSignal(signal: string, path: FieldPath, { os }: Loose): FieldError[] {
  if (!os) return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')]
  const allowed = signals.get(os.name)
  return allowed === undefined || allowed.includes(signal)
    ? []
    : [notSupported(path, signal, allowed)]
}

type CheckAction = (action: Loose, path: FieldPath, owner: Owner) => FieldError[]

/** Objects of a release never have an action that is newer, so all releases share this list. */
const actions: readonly (readonly [string, CheckAction])[] = [
  ['exec', checkExec],
  ['httpGet', checkHttpGet],
  ['tcpSocket', (action, path) => checkPort(action.port, path.child('port'))],
  ['grpc', checkGrpc],
  ['sleep', checkSleep],
]

function checkGrpc({ port = 0, mode }: Loose, path: FieldPath): FieldError[] {
  return [
    ...checkPort(port, path.child('port')),
    ...checkOneOfIfSet(mode, ['Plaintext', 'TLS'], path.child('mode')),
  ]
}

const zeroNeedsGate = change('errors of a sleep of zero seconds name a feature gate', { since: 32 })
const gateHint = '. Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.'

function checkSleep({ seconds = 0 }: Loose, path: FieldPath, owner: Owner): FieldError[] {
  const { spec, rules } = owner
  const grace: number | undefined = spec.terminationGracePeriodSeconds ?? undefined
  const mayBeZero = rules.feature('PodLifecycleSleepActionAllowZero')
  if (grace === undefined || (seconds >= (mayBeZero ? 0 : 1) && seconds <= grace)) return []
  const least = mayBeZero ? 'non-negative' : 'greater than 0'
  const hint = !mayBeZero && rules.has(zeroNeedsGate) ? gateHint : ''
  const detail = `must be ${least} and less than terminationGracePeriodSeconds (${grace})${hint}`
  return [invalid(path, seconds, detail)]
}

function checkHandler(handler: Loose, path: FieldPath, owner: Owner): FieldError[] {
  const errors: FieldError[] = []
  let count = 0
  for (const [field, check] of actions) {
    const action = handler[field]
    if (!action) continue
    if (count > 0) {
      errors.push(forbidden(path.child(field), 'may not specify more than 1 handler type'))
    } else {
      count++
      errors.push(...check(action, path.child(field), owner))
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
  return [...errors, ...checkProtocol(action, path)]
}

const protocols = ['HTTP1', 'HTTP2']

function checkProtocol({ protocol, scheme, host }: Loose, path: FieldPath): FieldError[] {
  if (protocol === undefined || protocol === null) return []
  if (!protocols.includes(protocol)) {
    return [notSupported(path.child('protocol'), protocol, protocols)]
  }
  if (protocol === 'HTTP1') return []
  if (scheme !== 'HTTP') {
    return [invalid(path.child('protocol'), protocol, 'is only supported with HTTP (H2C)')]
  }
  const detail = 'must be empty when `protocol` is "HTTP2"'
  return host ? [invalid(path.child('host'), host, detail)] : []
}

/** A port by number or by name. */
export const checkPort = (port: number | string | undefined, path: FieldPath): FieldError[] =>
  typeof port === 'string'
    ? each(path, port, portName(port))
    : each(path, port ?? 0, portNumber(port ?? 0))
