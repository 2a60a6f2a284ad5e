/**
 * Validation of names, label keys and values, ports, environment variables and similar texts. Each
 * function returns Kubernetes' messages for one value, or an empty list if the value is valid.
 * Lengths count UTF-8 bytes, as in kube-apiserver. These functions do not depend on a kind.
 */
import { type FieldError, invalid, required } from './field-error.ts'
import type { FieldPath } from './field-path.ts'
import { isIp } from './ip-address.ts'

const none: string[] = []

/** Whether a text has more than `max` bytes in UTF-8. */
export const longerThan = (text: string, max: number): boolean =>
  text.length > max || (text.length * 3 > max && Buffer.byteLength(text) > max)

const maxLengthProblem = (max: number, unit = 'characters'): string =>
  `must be no more than ${max} ${unit}`
export const rangeProblem = (low: number | bigint, high: number | bigint): string =>
  `must be between ${low} and ${high}, inclusive`
export const emptyProblem = 'must be non-empty'

/** The message for a value that does not match a pattern, with examples that would. */
export function patternProblem(message: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return examples.length === 0
    ? `${message} (regex used for validation is '${pattern}')`
    : `${message} (e.g. ${shown}regex used for validation is '${pattern}')`
}

interface Pattern {
  readonly regex: RegExp
  readonly max: number
  readonly problem: string
  /** The unit of the length in the message. */
  readonly unit?: string
}

function pattern(source: string, max: number, message: string, ...examples: string[]): Pattern {
  return {
    regex: new RegExp(`^(?:${source})$`),
    max,
    problem: patternProblem(message, source, ...examples),
  }
}

const inBytes = (rule: Pattern): Pattern => ({ ...rule, unit: 'bytes' })

function problems(value: string, rule: Pattern): string[] {
  const tooLong = longerThan(value, rule.max)
  const fits = rule.regex.test(value)
  if (!tooLong && fits) return none
  const found: string[] = []
  if (tooLong) found.push(maxLengthProblem(rule.max, rule.unit))
  if (!fits) found.push(rule.problem)
  return found
}

const qualifiedSource = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelSource = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainSource = `${labelSource}(\\.${labelSource})*`
const anyLength = Number.POSITIVE_INFINITY

const rules = {
  qualifiedName: inBytes(
    pattern(
      qualifiedSource,
      63,
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      'MyName',
      'my.name',
      '123-abc',
    ),
  ),
  labelValue: inBytes(
    pattern(
      `(${qualifiedSource})?`,
      63,
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      'MyValue',
      'my_value',
      '12345',
    ),
  ),
  dns1123Label: pattern(
    labelSource,
    63,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    'my-name',
    '123-abc',
  ),
  dns1123Subdomain: pattern(
    subdomainSource,
    253,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    'example.com',
  ),
  subdomainWithUnderscore: pattern(
    subdomainSource.replaceAll('[a-z0-9]([-a-z0-9]', '_?[a-z0-9]([-_a-z0-9]'),
    253,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
    'example.com',
  ),
  subdomainAnyCase: {
    ...pattern(
      subdomainSource,
      253,
      "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      'Example.com',
    ),
    regex: new RegExp(`^(?:${subdomainSource})$`, 'i'),
  },
  identifier: pattern(
    '[A-Za-z_][A-Za-z0-9_]*',
    anyLength,
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    'my_name',
    'MY_NAME',
    'MyName',
  ),
  dns1035Label: pattern(
    '[a-z]([-a-z0-9]*[a-z0-9])?',
    63,
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    'my-name',
    'abc-123',
  ),
  wildcardSubdomain: pattern(
    `\\*\\.${subdomainSource}`,
    253,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    '*.example.com',
  ),
  percent: pattern(
    '[0-9]+%',
    anyLength,
    "a valid percent string must be a numeric string followed by an ending '%'",
    '1%',
    '93%',
  ),
  httpHeaderName: pattern(
    '[-A-Za-z0-9]+',
    anyLength,
    "a valid HTTP header must consist of alphanumeric characters or '-'",
    'X-Header-Name',
  ),
  envVarName: pattern(
    '[-._a-zA-Z][-._a-zA-Z0-9]*',
    anyLength,
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    'my.env-name',
    'MY_ENV.NAME',
    'MyEnvName1',
  ),
  configMapKey: pattern(
    '[-._a-zA-Z0-9]+',
    253,
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    'key.name',
    'KEY_NAME',
    'key-name',
  ),
  conditionReason: pattern(
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
    anyLength,
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    'my_name',
    'MY_NAME',
    'MyName',
    'ReasonA,ReasonB',
    'ReasonA:ReasonB',
  ),
}

export const noDotsProblem = 'must not contain dots'
export const labelProblem = rules.dns1123Label.problem
export const subdomainProblem = rules.dns1123Subdomain.problem
/** The message for a key with more than one slash. */
export const labelKeyProblem = `a valid label key ${rules.qualifiedName.problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`

export const labelValue = (value: string): string[] => problems(value, rules.labelValue)
export const dns1123Label = (value: string): string[] =>
  problems(value, rules.dns1123Label).map((problem) =>
    problem === labelProblem && rules.dns1123Subdomain.regex.test(value) ? noDotsProblem : problem,
  )
export const dns1123Subdomain = (value: string): string[] => problems(value, rules.dns1123Subdomain)
export const dns1123SubdomainWithUnderscore = (value: string): string[] =>
  problems(value, rules.subdomainWithUnderscore)
export const dns1035Label = (value: string): string[] => problems(value, rules.dns1035Label)
export const wildcardDns1123Subdomain = (value: string): string[] =>
  problems(value, rules.wildcardSubdomain)
export const dns1123SubdomainAnyCase = (value: string): string[] =>
  problems(value, rules.subdomainAnyCase)
export const identifier = (value: string): string[] => problems(value, rules.identifier)
export const percent = (value: string): string[] => problems(value, rules.percent)
export const httpHeaderName = (value: string): string[] => problems(value, rules.httpHeaderName)
export const conditionReason = (value: string): string[] => problems(value, rules.conditionReason)
export const envVarName = (value: string): string[] => [
  ...problems(value, rules.envVarName),
  ...parentDirectoryProblems(value),
]
export const configMapKey = (value: string): string[] => [
  ...problems(value, rules.configMapKey),
  ...parentDirectoryProblems(value),
]

/**
 * A qualified name, `name` or `dns.subdomain/name`: label keys, annotation keys, finalizers and
 * resource names.
 */
export function qualifiedName(value: string): string[] {
  const parts = value.split('/')
  const rule = rules.qualifiedName
  if (parts.length > 2) return [labelKeyProblem]
  const found: string[] = []
  if (parts.length === 2) {
    const prefix = parts[0] as string
    if (prefix === '') found.push(`prefix part ${emptyProblem}`)
    else for (const problem of dns1123Subdomain(prefix)) found.push(`prefix part ${problem}`)
  }
  const name = parts[parts.length - 1] as string
  if (name === '') found.push(`name part ${emptyProblem}`)
  for (const problem of problems(name, rule)) found.push(`name part ${problem}`)
  return found
}

function parentDirectoryProblems(value: string): string[] {
  if (value === '.') return ["must not be '.'"]
  if (value === '..') return ["must not be '..'"]
  return value.startsWith('..') ? ["must not start with '..'"] : none
}

const inRange = (value: number, low: number, high: number): string[] =>
  value >= low && value <= high ? none : [rangeProblem(low, high)]
export const portNumber = (port: number): string[] => inRange(port, 1, 65535)
export const groupId = (id: number): string[] => inRange(id, 0, 2147483647)
export const userId = (id: number): string[] => inRange(id, 0, 2147483647)

export const letterProblem = 'must contain at least one letter (a-z)'

/** An IANA service name, the format of port names. */
export function portName(name: string): string[] {
  const found: string[] = []
  if (longerThan(name, 15)) found.push(maxLengthProblem(15))
  if (!/^[-a-z0-9]+$/.test(name)) {
    found.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(name)) found.push(letterProblem)
  if (name.includes('--')) found.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) found.push('must not begin or end with a hyphen')
  return found
}

export const ipAddress = (value: string): string[] =>
  isIp(value) ? none : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']

/** A name that is valid as one segment of a URL path. */
export function pathSegmentName(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return pathSegmentPrefix(name)
}

function pathSegmentPrefix(name: string): string[] {
  const found: string[] = []
  for (const part of ['/', '%']) if (name.includes(part)) found.push(`may not contain '${part}'`)
  return found
}

/** Validates an object name. `prefix` is true for a generateName, to which a suffix is added. */
export type NameRule = (name: string, prefix: boolean) => string[]

/**
 * For a generateName prefix, the last two characters are replaced with one valid final character,
 * as in kube-apiserver.
 */
const maskTrailingDash = (name: string, prefix: boolean): string =>
  prefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name

export const nameIsDnsSubdomain: NameRule = (name, prefix) =>
  dns1123Subdomain(maskTrailingDash(name, prefix))
export const nameIsDnsLabel: NameRule = (name, prefix) =>
  dns1123Label(maskTrailingDash(name, prefix))
export const nameIsDns1035Label: NameRule = (name, prefix) =>
  dns1035Label(maskTrailingDash(name, prefix))
export const nameIsPathSegment: NameRule = (name, prefix) =>
  prefix ? pathSegmentPrefix(name) : pathSegmentName(name)

/** A domain name of at least three segments. */
export function fullyQualifiedName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  const found = dns1123Subdomain(name)
  if (found.length > 0) return [invalid(path, name, found.join(','))]
  if (name.split('.').length >= 3) return []
  return [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
}

/** A domain name of at least two segments; a trailing dot is allowed. */
export function fullyQualifiedDomainName(text: string, path: FieldPath): FieldError[] {
  if (text === '') return [required(path)]
  const name = text.endsWith('.') ? text.slice(0, -1) : text
  const found = dns1123Subdomain(name)
  if (found.length > 0) return [invalid(path, name, found.join(','))]
  const labels = name.split('.')
  if (labels.length < 2) {
    return [invalid(path, name, 'should be a domain with at least two segments separated by dots')]
  }
  for (const label of labels) {
    const problemsOfLabel = dns1123Label(label)
    if (problemsOfLabel.length > 0) return [invalid(path, label, problemsOfLabel.join(','))]
  }
  return []
}

const httpPathSource = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const httpPath = new RegExp(`^${httpPathSource}$`)

/** `acme.io/foo`: a domain, a slash and a path. */
export function domainPrefixedPath(text: string, path: FieldPath): FieldError[] {
  if (text === '') return [required(path)]
  const slash = text.indexOf('/')
  if (slash <= 0 || slash === text.length - 1) {
    return [invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const host = text.slice(0, slash)
  const rest = text.slice(slash + 1)
  const errors = dns1123Subdomain(host).map((problem) => invalid(path, host, problem))
  if (!httpPath.test(rest)) {
    errors.push(invalid(path, rest, patternProblem('Invalid path', httpPathSource)))
  }
  return errors
}
