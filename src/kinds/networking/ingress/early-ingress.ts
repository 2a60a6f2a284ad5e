/**
 * Ingress as it was checked before paths had types: one service per path, and paths that are
 * regular expressions. The first release with types checks both.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo } from '#api/go-syntax.ts'
import { isIp } from '#api/ip-address.ts'
import {
  dns1123Subdomain,
  nameIsDns1035Label,
  nameIsDnsSubdomain,
  wildcardDns1123Subdomain,
} from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkPortNumberOrName } from '#kinds/core/service/service-ports.ts'
import { checkReference } from './ingress-backend.ts'
import { checkTypedPath } from './ingress-path.ts'

const path = FieldPath.of('spec')

/** Relaxed rules of the first release with pathType, for ingresses that already broke them. */
export interface FirstTyped {
  readonly anyPath: boolean
  readonly resources: boolean
}

export function leniencyOfFirst(old?: Loose): FirstTyped {
  const rules: Loose[] = old?.rules ?? []
  const paths = rules.flatMap(({ http }): Loose[] => http?.paths ?? [])
  return {
    anyPath: paths.some((one) => !isRegularExpression(one.path ?? '')),
    resources: Boolean(old?.defaultBackend?.resource) || paths.some((one) => one.backend?.resource),
  }
}

/** `typed`: of the first release with types of paths. */
export function checkEarlySpec(spec: Loose, typed?: FirstTyped): FieldError[] {
  const rules: Loose[] = spec.rules ?? []
  const tls: Loose[] = spec.tls ?? []
  const errors: FieldError[] = []
  if (spec.defaultBackend) {
    errors.push(...checkBackend(spec.defaultBackend, path.child('backend'), typed))
  } else if (rules.length === 0) {
    const shown = asGo(`[]networking.IngressRule${wasWrittenEmpty(spec, 'rules') ? '{}' : '(nil)'}`)
    errors.push(invalid(path, shown, 'either `backend` or `rules` must be specified'))
  }
  errors.push(...rules.flatMap((rule, i) => checkRule(rule, path.child('rules').index(i), typed)))
  for (const { hosts } of tls) {
    for (const [i, host] of ((hosts ?? []) as string[]).entries()) {
      errors.push(...each(path.child('tls').index(i).child('hosts'), host, hostProblems(host)))
    }
  }
  const className: string | undefined = spec.ingressClassName
  if (className !== undefined) {
    const problems = nameIsDnsSubdomain(className, false)
    errors.push(...each(path.child('ingressClassName'), className, problems))
  }
  return errors
}

const hostProblems = (host: string): string[] =>
  host.includes('*') ? wildcardDns1123Subdomain(host) : dns1123Subdomain(host)

/** Whatever rule a path is in, its errors are reported for the first. */
function checkRule(rule: Loose, at: FieldPath, typed: FirstTyped | undefined): FieldError[] {
  const host: string = rule.host ?? ''
  const errors: FieldError[] = []
  if (host !== '') {
    if (isIp(host)) {
      errors.push(invalid(at.child('host'), host, 'must be a DNS name, not an IP address'))
    }
    errors.push(...each(at.child('host'), host, hostProblems(host)))
    if (host.includes('*')) return errors
  }
  if (!rule.http) return errors
  const http = path.child('rules').index(0).child('http')
  const paths: Loose[] = rule.http.paths ?? []
  if (paths.length === 0) errors.push(required(http.child('paths')))
  for (const [i, one] of paths.entries()) {
    const here = http.child('paths').index(i)
    errors.push(...(typed ? checkFirstTyped(one, here, typed) : checkPath(one, here, http)))
  }
  return errors
}

function checkPath(one: Loose, at: FieldPath, http: FieldPath): FieldError[] {
  const text: string = one.path ?? ''
  const absolute = text === '' || text.startsWith('/') ? [] : ['must be an absolute path']
  return [
    ...each(at.child('path'), text, absolute),
    ...checkExpression(text, at.child('path')),
    ...checkBackend(one.backend ?? {}, http.child('backend')),
  ]
}

function checkFirstTyped(one: Loose, at: FieldPath, typed: FirstTyped): FieldError[] {
  const errors = checkTypedPath(one, at)
  if (typeof one.pathType !== 'string') return errors
  if (!typed.anyPath) errors.push(...checkExpression(one.path ?? '', at.child('path')))
  return [...errors, ...checkBackend(one.backend ?? {}, at.child('backend'), typed)]
}

const checkExpression = (text: string, at: FieldPath): FieldError[] =>
  isRegularExpression(text) ? [] : [invalid(at, text, 'must be a valid regex')]

/** Only whether it could be one: it is never matched against anything. */
function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

function checkBackend(
  { service, resource }: Loose,
  at: FieldPath,
  typed?: FirstTyped,
): FieldError[] {
  const name: string = service?.name ?? ''
  if (resource && typed) {
    if (name !== '' || service?.port?.name || service?.port?.number) {
      return [invalid(at, '', 'cannot set both resource and service backends')]
    }
    const detail = 'not supported; only service backends are supported in this version'
    if (!typed.resources) return [forbidden(at.child('resource'), detail)]
    return checkReference(resource, at.child('resource'))
  }
  if (name === '') return [required(at.child('serviceName'))]
  const unset = wasWrittenEmpty(service.port, 'name') ? '' : 0
  const port = service.port?.name || service.port?.number || unset
  return [
    ...each(at.child('serviceName'), name, nameIsDns1035Label(name, false)),
    ...checkPortNumberOrName(port, at.child('servicePort')),
  ]
}
