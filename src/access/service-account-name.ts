/**
 * The user name of a service account, `system:serviceaccount:<namespace>:<name>`, and its two
 * groups.
 */
import { dns1123Label, dns1123Subdomain } from '#api/names.ts'

const prefix = 'system:serviceaccount:'

export const serviceAccountUserName = (namespace: string, name: string): string =>
  `${prefix}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** Parses the user name of a service account. Undefined for other user names. */
export function splitServiceAccountName(
  userName: string,
): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(prefix)) return undefined
  const [namespace, name, ...more] = userName.slice(prefix.length).split(':')
  if (namespace === undefined || name === undefined || more.length > 0) return undefined
  if (dns1123Label(namespace).length > 0) return undefined
  if (dns1123Subdomain(name).length > 0) return undefined
  return { namespace, name }
}
