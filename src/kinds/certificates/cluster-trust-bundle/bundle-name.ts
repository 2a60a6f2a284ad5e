/**
 * The naming rule of ClusterTrustBundles: names of bundles of signer example.com/signer have the
 * prefix `example.com:signer:`.
 */
import { type NameRule, nameIsDnsSubdomain } from '#api/names.ts'

export function bundleNameRule(signer: string): NameRule {
  const begin = `${signer.replaceAll('/', ':')}:`
  return (name, prefix) => {
    if (signer === '') {
      return name.includes(':')
        ? ['ClusterTrustBundle without signer name must not have ":" in its name']
        : nameIsDnsSubdomain(name, prefix)
    }
    return name.startsWith(begin)
      ? nameIsDnsSubdomain(name.slice(begin.length), prefix)
      : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${begin}`]
  }
}
