/**
 * Writes the kubeconfig with which kubectl uses this server as a member of system:masters. It
 * contains all certificates. It is rewritten when its content changes, and only its owner can read
 * it.
 */
import { join } from 'node:path'
import { localUrl } from './addresses.ts'
import type { Certificates } from './certificates.ts'
import type { Parsed, Settings } from '#settings/flags.ts'
import { readIfThere, writeUnsyncedFiles } from './private-files.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

export interface KubeconfigUser {
  readonly name: string
  readonly certificatePem: string
  readonly keyPem: string
}

/** Quotes a text as a JSON string, which is valid YAML for any characters. */
const yamlText = (text: string) => (/^[A-Za-z][\w-]*$/.test(text) ? text : JSON.stringify(text))

export function kubeconfigText(url: string, trustPem: string, user: KubeconfigUser): string {
  const name = yamlText(user.name)
  return `apiVersion: v1
kind: Config
current-context: binnacle
clusters:
- name: binnacle
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(trustPem)}
users:
- name: ${name}
  user:
    client-certificate-data: ${base64(user.certificatePem)}
    client-key-data: ${base64(user.keyPem)}
contexts:
- name: binnacle
  context:
    cluster: binnacle
    user: ${name}
`
}

const pathOf = ({ dataDir }: Pick<Settings, 'dataDir'>) => join(dataDir, 'admin.kubeconfig')

/**
 * The URL at which the server of a data directory listens, or listened last. Commands need not
 * repeat the flags of the server: --secure-port and --bind-address override the file.
 */
export function listeningUrl({ settings, given }: Pick<Parsed, 'settings' | 'given'>): string {
  const own = localUrl(settings)
  if (given.has('bind-address') || (given.has('secure-port') && settings.securePort !== 0))
    return own
  const [, found] = /^ {4}server: (\S+)$/m.exec(readable(pathOf(settings)) ?? '') ?? []
  return found ?? own
}

/** Users without access to the data directory may check a server on the usual port. */
function readable(path: string): string | undefined {
  try {
    return readIfThere(path)
  } catch {
    return undefined
  }
}

/** Writes admin.kubeconfig into the data directory and returns its path. */
export function writeKubeconfig(
  settings: Pick<
    Settings,
    'dataDir' | 'securePort' | 'bindAddress' | 'advertiseAddress' | 'serviceClusterIpRange'
  >,
  { trustPem, admin }: Pick<Certificates, 'trustPem' | 'admin'>,
): string {
  const path = pathOf(settings)
  const text = kubeconfigText(localUrl(settings), trustPem, { name: 'admin', ...admin })
  // Each start compares the file and rewrites it if necessary, so the start need not wait for the
  // disk.
  if (readIfThere(path) !== text) writeUnsyncedFiles(new Map([[path, text]]))
  return path
}
