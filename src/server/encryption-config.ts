/**
 * The file of --encryption-provider-config as resources and their providers. It is read as
 * kube-apiserver 1.22 reads it: unknown fields are ignored. Errors have its messages, but never
 * quote the file, because it contains keys.
 */
import type { Loose } from '#api/object-meta.ts'
import { parseYaml } from '#codec/yaml.ts'
import type { CipherName } from '#storage/seal/ciphers.ts'
import type { NamedSecret, Provider } from '#storage/seal/sealer.ts'

export interface SealedResources {
  /** Resource names as written in the file: `secrets`, `deployments.apps`, `*.apps`. */
  readonly resources: readonly string[]
  readonly providers: readonly Provider[]
}

/** The old form is still accepted. */
const forms = [
  { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' },
  { apiVersion: 'v1', kind: 'EncryptionConfig' },
]

const secretBytes: Readonly<Record<CipherName, readonly number[]>> = {
  aesgcm: [16, 24, 32],
  aescbc: [16, 24, 32],
  secretbox: [32],
}
const cipherNames = Object.keys(secretBytes) as CipherName[]
const providerNames = [...cipherNames, 'identity', 'kms']

/** Throws a plain error that lists all problems. */
export function readEncryptionConfig(text: string): SealedResources[] {
  const whole = parseYaml(text) as Loose | null
  requireForm(whole)
  const problems: string[] = []
  const found = listOf(whole.resources, 'resources', problems).map((one, at) =>
    readResources(one, `resources[${at}]`, problems),
  )
  if (problems.length > 0)
    throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
  return found
}

function requireForm(whole: Loose | null): asserts whole is Loose {
  if (whole !== null && (typeof whole !== 'object' || Array.isArray(whole)))
    throw new Error(`couldn't get version/kind; the file is no object`)
  const { kind, apiVersion = '' } = whole ?? {}
  if (typeof kind !== 'string' || kind === '') throw new Error(`Object 'Kind' is missing`)
  if (forms.some((form) => form.kind === kind && form.apiVersion === apiVersion)) return
  throw new Error(
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
  )
}

function readResources(one: unknown, path: string, problems: string[]): SealedResources {
  const { resources, providers } = objectOf(one, path, problems)
  return {
    resources: listOf(resources, `${path}.resources`, problems).map((name, at) =>
      textOf(name, `${path}.resources[${at}]`, problems),
    ),
    providers: listOf(providers, `${path}.providers`, problems).flatMap(
      (given, at) => readProvider(given, `${path}.providers[${at}]`, problems) ?? [],
    ),
  }
}

function readProvider(given: unknown, path: string, problems: string[]): Provider | undefined {
  const provider = objectOf(given, path, problems)
  const names = providerNames.filter((name) => (provider[name] ?? null) !== null)
  const [name] = names
  if (name === undefined) {
    problems.push(
      `${path}: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`,
    )
  } else if (names.length > 1) {
    problems.push(
      `${path}: Invalid value: more than one provider specified in a single element, should split into different list elements`,
    )
  } else if (name === 'kms') {
    problems.push(`${path}.kms: this provider is not served; ${cipherNames.join(', ')} are`)
  } else if (name === 'identity') {
    objectOf(provider.identity, `${path}.identity`, problems)
    return { is: 'identity' }
  } else {
    const is = name as CipherName
    return { is, keys: readKeys(provider[is], is, `${path}.${is}`, problems) }
  }
  return undefined
}

function readKeys(
  given: unknown,
  cipher: CipherName,
  path: string,
  problems: string[],
): NamedSecret[] {
  const { keys } = objectOf(given, path, problems)
  return listOf(keys, `${path}.keys`, problems, 'keys').map((one, at) => {
    const key = objectOf(one, `${path}.keys[${at}]`, problems)
    const namePath = `${path}.keys[${at}].name`
    const name = textOf(key.name, namePath, problems)
    if (name === '')
      problems.push(`${namePath}: Required value: name is a mandatory field for a key`)
    return { name, secret: readSecret(key.secret, cipher, `${path}.keys[${at}].secret`, problems) }
  })
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function readSecret(given: unknown, cipher: CipherName, path: string, problems: string[]): Buffer {
  const text = textOf(given, path, problems).replace(/[\r\n]/g, '')
  const secret = Buffer.from(text, 'base64')
  const lengths = secretBytes[cipher]
  if (text === '') problems.push(`${path}: Required value: secret is a mandatory field for a key`)
  else if (!base64.test(text))
    problems.push(`${path}: Invalid value: "REDACTED": secrets must be base64 encoded`)
  else if (!lengths.includes(secret.length))
    problems.push(
      `${path}: Invalid value: "REDACTED": secret is not of the expected length, got ${secret.length}, expected one of [${lengths.join(' ')}]`,
    )
  return secret
}

function listOf(given: unknown, path: string, problems: string[], named = path): unknown[] {
  if (given !== undefined && given !== null && !Array.isArray(given))
    problems.push(`${path}: Invalid value: must be a list`)
  else if (!given?.length)
    problems.push(`${path}: Required value: at least one ${named} is required`)
  return Array.isArray(given) ? given : []
}

function objectOf(given: unknown, path: string, problems: string[]): Loose {
  if (given === undefined || given === null) return {}
  if (typeof given === 'object' && !Array.isArray(given)) return given as Loose
  problems.push(`${path}: Invalid value: must be an object`)
  return {}
}

function textOf(given: unknown, path: string, problems: string[]): string {
  if (given === undefined || given === null) return ''
  if (typeof given === 'string') return given
  problems.push(`${path}: Invalid value: must be a string`)
  return ''
}
