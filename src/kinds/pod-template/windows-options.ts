/**
 * Validation of Windows options of containers: credential spec, user name and host process
 * containers.
 */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1123Subdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { containersWithPaths } from './containers-of.ts'
import type { PodRules } from './pod-rules.ts'

const credentialKibMax = 64
const domainLengthMax = 256
const userLengthMax = 104

const control = /[\x00-\x1f\x7f]/
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsDomain = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`)

export function checkWindowsOptions(
  options: Loose | null | undefined,
  path: FieldPath,
): FieldError[] {
  if (!options) return []
  const errors: FieldError[] = []
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options
  if (typeof name === 'string') {
    errors.push(...each(path.child('gmsaCredentialSpecName'), name, dns1123Subdomain(name)))
  }
  if (typeof spec === 'string') {
    const at = path.child('gmsaCredentialSpec')
    if (spec === '') errors.push(invalid(at, spec, 'gmsaCredentialSpec cannot be an empty string'))
    else if (Buffer.byteLength(spec) > credentialKibMax * 1024) {
      errors.push(
        invalid(at, spec, `gmsaCredentialSpec size must be under ${credentialKibMax} KiB`),
      )
    }
  }
  if (typeof user === 'string') {
    errors.push(...each(path.child('runAsUserName'), user, userNameProblems(user)))
  }
  return errors
}

function userNameProblems(text: string): string[] {
  if (text === '') return ['runAsUserName cannot be an empty string']
  if (control.test(text)) return ['runAsUserName cannot contain control characters']
  const parts = text.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const problems: string[] = []
  const user = parts.at(-1) as string
  if (parts.length === 2) {
    const domain = parts[0] as string
    if (Buffer.byteLength(domain) >= domainLengthMax) {
      problems.push(`runAsUserName's Domain length must be under ${domainLengthMax} characters`)
    }
    if (!netBios.test(domain) && !dnsDomain.test(domain)) {
      problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    }
  }
  const length = Buffer.byteLength(user)
  if (length === 0) problems.push("runAsUserName's User cannot be empty")
  else if (length > userLengthMax) {
    problems.push(`runAsUserName's User length must not be longer than ${userLengthMax} characters`)
  }
  if (/^[. ]+$/.test(user)) {
    problems.push("runAsUserName's User cannot contain only periods or spaces")
  }
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push(
      'runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]',
    )
  }
  return problems
}

const disabled = "not allowed when feature gate 'WindowsHostProcessContainers' is not enabled"
const hostProcessField = ['securityContext', 'windowsOptions', 'hostProcess'] as const

/** All containers run on the host or none, and only on its network. */
export function checkHostProcess(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const ofPod: boolean | undefined = spec.securityContext?.windowsOptions?.hostProcess ?? undefined
  if (!rules.allowHostProcess && ofPod !== undefined) {
    return [forbidden(path.child(...hostProcessField), disabled)]
  }
  const all = containersWithPaths(spec, path, rules.ephemeralContainers)
  let onHost = 0
  for (const { container, path: containerPath } of all) {
    const own: boolean | undefined =
      container.securityContext?.windowsOptions?.hostProcess ?? undefined
    const at = containerPath.child(...hostProcessField)
    if (!rules.allowHostProcess && own !== undefined) errors.push(forbidden(at, disabled))
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      errors.push(invalid(at, own, detail))
    }
    if (own ?? ofPod) onHost++
  }
  if (onHost > 0) errors.push(...checkHostProcessPod(spec, path, rules, onHost === all.length))
  return errors
}

function checkHostProcessPod(
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
  allOnHost: boolean,
): FieldError[] {
  if (!rules.allowHostProcess) {
    const detail =
      "pod must not contain Windows hostProcess containers when feature gate 'WindowsHostProcessContainers' is not enabled"
    return [forbidden(path, detail)]
  }
  const errors: FieldError[] = []
  if (!allOnHost) {
    const detail =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    errors.push(invalid(path, '', detail))
  }
  if (spec.hostNetwork !== true) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers'
    errors.push(invalid(path.child('hostNetwork'), false, detail))
  }
  if (!rules.allowPrivileged) {
    errors.push(forbidden(path, 'hostProcess containers are disallowed by cluster policy'))
  }
  return errors
}
