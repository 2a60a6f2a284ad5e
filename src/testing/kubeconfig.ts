/**
 * Makes a kubeconfig for one cluster: the URL with the path of the cluster, the CA, and a token.
 */

export interface KubeconfigParts {
  readonly url: string
  /** PEM */
  readonly authority: string
  readonly token: string
}

/** The name of the cluster, of its user and of their context. */
const name = 'binnacle'

/** JSON, which is valid YAML. */
export function kubeconfigText({ url, authority, token }: KubeconfigParts): string {
  const cluster = {
    server: url,
    'certificate-authority-data': Buffer.from(authority).toString('base64'),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

/** The clusters, users and contexts of a kubeconfig, in the form of @kubernetes/client-node. */
export interface KubeConfigOptions {
  readonly clusters: { name: string; server: string; caData: string; skipTLSVerify: boolean }[]
  readonly users: { name: string; token: string }[]
  readonly contexts: { name: string; cluster: string; user: string }[]
  readonly currentContext: string
}

export function kubeConfigOptions({ url, authority, token }: KubeconfigParts): KubeConfigOptions {
  const caData = Buffer.from(authority).toString('base64')
  return {
    clusters: [{ name, server: url, caData, skipTLSVerify: false }],
    users: [{ name, token }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  }
}
