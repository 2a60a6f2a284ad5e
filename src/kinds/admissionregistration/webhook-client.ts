/** How a webhook is reached: by URL, or as a service of the cluster. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote } from '#api/go-syntax.ts'
import { dns1123Subdomain, portNumber } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { requiredPlainly } from '#kinds/all-kinds/checks.ts'
import { parseGoUrl } from './go-url.ts'

export function checkClientConfig(config: Loose, path: FieldPath): FieldError[] {
  const { url, service } = config
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')]
  }
  return url === undefined
    ? checkWebhookService(service, path.child('service'))
    : checkWebhookUrl(url, path.child('url'))
}

export function checkWebhookUrl(text: string, path: FieldPath): FieldError[] {
  const form = '; desired format: https://host[/path]'
  const parsed = parseGoUrl(text)
  if (!parsed.ok) {
    return [required(path, `url must be a valid URL: ${parsed.problem}${form}`)]
  }
  const { scheme, user, host, query, fragment } = parsed.url
  const errors: FieldError[] = []
  if (scheme !== 'https') {
    errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${form}`))
  }
  if (host === '') errors.push(invalid(path, host, `host must be provided${form}`))
  if (user !== undefined) {
    errors.push(invalid(path, user, 'user information is not permitted in the URL'))
  }
  if (fragment !== '') {
    errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'))
  }
  if (query !== '') {
    errors.push(invalid(path, query, 'query parameters are not permitted in the URL'))
  }
  return errors
}

/**
 * kube-apiserver swaps the two paths: it reports a missing namespace at `name`, and a missing name
 * at `namespace`.
 */
export function checkWebhookService(service: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!service.namespace) {
    errors.push(requiredPlainly(path.child('name'), 'service name is required'))
  }
  if (!service.name) {
    errors.push(requiredPlainly(path.child('namespace'), 'service namespace is required'))
  }
  const port: number = service.port ?? 0
  const problems = portNumber(port)
  if (problems.length > 0) {
    const detail = `port is not valid: ${problems.join(', ')}`
    errors.push(invalid(path.child('port'), port, detail))
  }
  return [...errors, ...checkUrlPath(service.path, path.child('path'))]
}

function checkUrlPath(text: string | undefined, path: FieldPath): FieldError[] {
  if (text === undefined || text === '' || text === '/') return []
  if (text === '//') return [invalid(path, text, 'segment[0] may not be empty')]
  const errors: FieldError[] = []
  if (!text.startsWith('/')) errors.push(invalid(path, text, "must start with a '/'"))
  // Each invalid step is reported with all of them.
  const shown = asGo(goQuote(text))
  const steps = text.slice(1).replace(/\/$/, '').split('/')
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(invalid(path, shown, `segment[${i}] may not be empty`))
    else {
      for (const problem of dns1123Subdomain(step)) {
        errors.push(invalid(path, shown, `segment[${i}]: ${problem}`))
      }
    }
  }
  return errors
}
