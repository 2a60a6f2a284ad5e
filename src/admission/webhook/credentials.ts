/**
 * This server's credentials for a webhook: a user of a kubeconfig that is named after the webhook's
 * host.
 */
import { isAbsolute } from 'node:path'
import { type KubeconfigUsers, readKubeconfigUsers } from '#access/kubeconfig.ts'
import type { Identity } from '#access/identity.ts'
import type { Loose } from '#api/object-meta.ts'

export const nobody: KubeconfigUsers = new Map()

/** The kind of the plugin configuration for each version. */
const kinds: Readonly<Record<string, string>> = {
  'apiserver.config.k8s.io/v1': 'WebhookAdmissionConfiguration',
  'apiserver.config.k8s.io/v1alpha1': 'WebhookAdmission',
}

/** Reads the plugin's configuration: `WebhookAdmissionConfiguration` with a `kubeConfigFile`. */
export async function credentialsFrom(configuration: Loose | undefined): Promise<KubeconfigUsers> {
  if (configuration === undefined) return nobody
  const { kind = '', apiVersion = '', kubeConfigFile = '' } = configuration
  if (kind === '' || kinds[apiVersion] !== kind) {
    throw new Error(`no kind "${kind}" is registered for version "${apiVersion}"`)
  }
  if (!isAbsolute(kubeConfigFile)) {
    throw new Error(
      `kubeConfigFile: Invalid value: "${kubeConfigFile}": must be an absolute file path`,
    )
  }
  return readKubeconfigUsers(kubeConfigFile)
}

/**
 * Looks up `host:port`, then with its first labels replaced by `*.`; then the same without port
 * 443; then `*`; then the current user.
 */
export function userFor(users: KubeconfigUsers, host: string): (() => Identity) | undefined {
  if (users.size === 0) return undefined
  const names = [host, ...wildcards(host)]
  if (host.endsWith(':443')) {
    const bare = host.slice(0, -':443'.length)
    names.push(bare, ...wildcards(bare))
  }
  for (const name of [...names, '*', '']) {
    const found = users.get(name)
    if (found !== undefined) return found
  }
  return undefined
}

function wildcards(host: string): string[] {
  const steps = host.split('.')
  return steps.slice(1).map((_, i) => `*.${steps.slice(i + 1).join('.')}`)
}
