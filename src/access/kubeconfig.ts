/**
 * Reads a webhook's address and credentials from a kubeconfig file. `clusters` is the remote
 * service, `users` is this server as its client, and `current-context` selects a pair. Credential
 * plugins that start programs are rejected.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { parseYaml } from '#codec/yaml.ts'
import { type Identity, identityFrom } from './identity.ts'

export interface ClusterEndpoint {
  readonly url: URL
  /** PEM; undefined for the system's trusted authorities. */
  readonly ca?: string
  readonly serverName?: string
  readonly insecure: boolean
  /** This server's current identity from the files. */
  readonly identity: () => Identity
}

type Fields = { readonly [key: string]: unknown }

/** Throws an error with the file name if the file does not describe one endpoint completely. */
export async function readKubeconfig(
  file: string,
  monotonicMs?: () => number,
): Promise<ClusterEndpoint> {
  try {
    return endpointOf(fieldsIn(file), dirname(file), monotonicMs)
  } catch (error) {
    throw new Error(`invalid configuration in ${file}: ${(error as Error).message}`)
  }
}

/**
 * The credentials with which this server calls others, by user name. The user of the current
 * context has the key `''`.
 */
export type KubeconfigUsers = ReadonlyMap<string, () => Identity>

/**
 * The users of a file in which each user is named after its host. Throws an error with the file
 * name.
 */
export async function readKubeconfigUsers(
  file: string,
  monotonicMs?: () => number,
): Promise<KubeconfigUsers> {
  const folder = dirname(file)
  try {
    const config = fieldsIn(file)
    const found = new Map<string, () => Identity>()
    for (const entry of (config.users ?? []) as unknown[]) {
      const { name, user } = asFields(entry, 'users')
      const fields = asFields(user ?? {}, 'user')
      refuseProgram(fields)
      found.set(
        String(name),
        identityFrom(() => identityOf(fields, folder), monotonicMs),
      )
    }
    const current = text(config, 'current-context')
    const user = current === '' ? '' : text(named(config, 'contexts', 'context', current), 'user')
    const own = found.get(user)
    if (own !== undefined) found.set('', own)
    return found
  } catch (error) {
    throw new Error(`invalid configuration in ${file}: ${(error as Error).message}`)
  }
}

function endpointOf(config: Fields, folder: string, monotonicMs?: () => number): ClusterEndpoint {
  const current = text(config, 'current-context')
  if (current === '') throw new Error('current-context is not set')
  const context = named(config, 'contexts', 'context', current)
  const cluster = named(config, 'clusters', 'cluster', text(context, 'cluster'))
  const userName = text(context, 'user')
  const user = userName === '' ? {} : named(config, 'users', 'user', userName)
  refuseProgram(user)
  if (cluster['proxy-url'] != null) throw new Error('proxy-url is not supported')
  const endpoint = {
    url: urlOf(text(cluster, 'server')),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ca: pemOf(cluster, 'certificate-authority', folder),
    serverName: text(cluster, 'tls-server-name') || undefined,
    identity: identityFrom(() => identityOf(user, folder), monotonicMs),
  }
  const { cert, key } = endpoint.identity()
  if ((cert === undefined) !== (key === undefined))
    throw new Error('client-certificate and client-key must be given together')
  if (endpoint.insecure && endpoint.ca !== undefined)
    throw new Error('insecure-skip-tls-verify and certificate-authority exclude each other')
  return Object.fromEntries(
    Object.entries(endpoint).filter(([, value]) => value !== undefined),
  ) as unknown as ClusterEndpoint
}

/** Rejects a user whose credentials come from a program. */
function refuseProgram(user: Fields): void {
  for (const field of ['exec', 'auth-provider'])
    if (user[field] != null) throw new Error(`users that need ${field} are not supported`)
}

/** Decisions and tokens must be encrypted, except on this machine. */
function urlOf(server: string): URL {
  const url = URL.parse(server)
  if (url === null) throw new Error(`server ${JSON.stringify(server)} is no URL`)
  if (url.protocol === 'https:') return url
  const { hostname } = url
  const loopback =
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    (isIP(hostname) === 4 && hostname.startsWith('127.'))
  if (url.protocol === 'http:' && loopback) return url
  throw new Error(`server ${JSON.stringify(server)} must use https`)
}

function identityOf(user: Fields, folder: string): Identity {
  const cert = pemOf(user, 'client-certificate', folder)
  const key = pemOf(user, 'client-key', folder)
  const authorization = authorizationOf(user, folder)
  return {
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(authorization !== undefined && { authorization }),
  }
}

function authorizationOf(user: Fields, folder: string): string | undefined {
  const token = tokenOf(user, folder)
  if (token !== '') return `Bearer ${token}`
  const name = text(user, 'username')
  if (name === '') return undefined
  const password = text(user, 'password')
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

/** `tokenFile` takes precedence over `token`. */
function tokenOf(user: Fields, folder: string): string {
  const file = text(user, 'tokenFile')
  if (file === '') return text(user, 'token')
  const token = readFileSync(resolve(folder, file), 'utf8').trim()
  if (token === '') throw new Error(`the token file ${file} is empty`)
  return token
}

/**
 * `<field>-data` holds the PEM in base64, `<field>` the path of a file relative to the
 * configuration.
 */
function pemOf(from: Fields, field: string, folder: string): string | undefined {
  const data = text(from, `${field}-data`)
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8')
  const path = text(from, field)
  return path === '' ? undefined : readFileSync(resolve(folder, path), 'utf8')
}

function named(config: Fields, list: string, field: string, name: string): Fields {
  const entries = config[list]
  const found = Array.isArray(entries)
    ? entries.find((entry) => asFields(entry, list).name === name)
    : undefined
  if (found === undefined) throw new Error(`${list} has no entry ${JSON.stringify(name)}`)
  return asFields(asFields(found, list)[field] ?? {}, `${list} entry ${JSON.stringify(name)}`)
}

const fieldsIn = (file: string): Fields =>
  asFields(parseYaml(readFileSync(file, 'utf8')), 'the file')

function asFields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} is no object`)
  return value as Fields
}

function text(from: Fields, field: string): string {
  const value = from[field] ?? ''
  if (typeof value !== 'string') throw new Error(`${field} is no text`)
  return value
}
