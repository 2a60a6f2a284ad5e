/** Ingress as it was checked before paths had types: one service per path, and paths that are regular expressions. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo } from '#api/go-syntax.ts'
import { isIp } from '#api/ip-address.ts'
import { dns1123Subdomain, nameIsDns1035Label, wildcardDns1123Subdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { each } from '#kinds/behaviour/checks.ts'
import { checkPortNumberOrName } from '#kinds/behaviour/services/service-ports.ts'

const path = FieldPath.of('spec')

export function checkEarlySpec(spec: Loose): FieldError[] {
  const rules: Loose[] = spec.rules ?? []
  const tls: Loose[] = spec.tls ?? []
  const errors: FieldError[] = []
  if (spec.defaultBackend) {
    errors.push(...checkBackend(spec.defaultBackend, path.child('backend')))
  } else if (rules.length === 0) {
    const shown = asGo(`[]networking.IngressRule${wasWrittenEmpty(spec, 'rules') ? '{}' : '(nil)'}`)
    errors.push(invalid(path, shown, 'either `backend` or `rules` must be specified'))
  }
  errors.push(...rules.flatMap((rule, i) => checkRule(rule, path.child('rules').index(i))))
  for (const { hosts } of tls) {
    for (const [i, host] of ((hosts ?? []) as string[]).entries()) {
      errors.push(...each(path.child('tls').index(i).child('hosts'), host, hostProblems(host)))
    }
  }
  return errors
}

const hostProblems = (host: string): string[] =>
  host.includes('*') ? wildcardDns1123Subdomain(host) : dns1123Subdomain(host)

/** Whatever rule a path is in, its errors were told of the first. */
function checkRule(rule: Loose, at: FieldPath): FieldError[] {
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
    const text: string = one.path ?? ''
    const textPath = http.child('paths').index(i).child('path')
    if (text !== '' && !text.startsWith('/')) {
      errors.push(invalid(textPath, text, 'must be an absolute path'))
    }
    if (!isRegularExpression(text)) errors.push(invalid(textPath, text, 'must be a valid regex'))
    errors.push(...checkBackend(one.backend ?? {}, http.child('backend')))
  }
  return errors
}

/** Only whether it could be one: it is never matched against anything. */
function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

function checkBackend({ service }: Loose, at: FieldPath): FieldError[] {
  const name: string = service?.name ?? ''
  if (name === '') return [required(at.child('serviceName'))]
  const unset = wasWrittenEmpty(service.port, 'name') ? '' : 0
  const port = service.port?.name || service.port?.number || unset
  return [
    ...each(at.child('serviceName'), name, nameIsDns1035Label(name, false)),
    ...checkPortNumberOrName(port, at.child('servicePort')),
  ]
}
