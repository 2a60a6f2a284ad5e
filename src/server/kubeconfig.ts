/**
 * The kubeconfig that points kubectl at this server, as a member of system:masters, with everything it needs inside.
 * It is written anew when something in it changed, and readable by its owner alone.
 */
import { join } from 'node:path'
import { localUrl } from './addresses.ts'
import type { Certificates } from './certificates.ts'
import type { Settings } from '#settings/flags.ts'
import { readIfThere, writePrivateFile } from './private-files.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

function kubeconfigText(
  url: string,
  certificates: Pick<Certificates, 'trustPem' | 'admin'>,
): string {
  return `apiVersion: v1
kind: Config
current-context: binnacle
clusters:
- name: binnacle
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(certificates.trustPem)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(certificates.admin.certificatePem)}
    client-key-data: ${base64(certificates.admin.keyPem)}
contexts:
- name: binnacle
  context:
    cluster: binnacle
    user: admin
`
}

/** Writes admin.kubeconfig into the data directory and gives its path. */
export function writeKubeconfig(
  settings: Pick<
    Settings,
    'dataDir' | 'securePort' | 'bindAddress' | 'advertiseAddress' | 'serviceClusterIpRange'
  >,
  certificates: Pick<Certificates, 'trustPem' | 'admin'>,
): string {
  const path = join(settings.dataDir, 'admin.kubeconfig')
  const text = kubeconfigText(localUrl(settings), certificates)
  if (readIfThere(path) !== text) writePrivateFile(path, text)
  return path
}
