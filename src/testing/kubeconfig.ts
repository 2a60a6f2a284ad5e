/**
 * Makes a kubeconfig for one cluster: the URL with the path of the cluster, the CA, and a token.
 */

export interface KubeconfigParts {
  readonly url: string
  /** PEM */
  readonly authority: string
  readonly token: string
}

/** JSON, which is valid YAML. */
export function kubeconfigText({ url, authority, token }: KubeconfigParts): string {
  const name = 'binnacle'
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
