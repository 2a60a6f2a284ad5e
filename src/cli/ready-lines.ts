/**
 * The text printed when the server is ready: its address, the start time, the location of its
 * state, and commands to try.
 */

export interface Ready {
  readonly url: string
  readonly tookMs: number
  /** `/some/dir`, `in memory, gone when it stops`, or `etcd at …`. */
  readonly state: string
  readonly release: string
  readonly kubeconfig: string
}

/** Quotes a word for a shell if necessary. */
const quoted = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const took = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Two commands that work on an empty server and have visible output. */
const firstCommands = [
  'kubectl create configmap hello --from-literal=who=world',
  'kubectl get configmaps --watch',
]

export function readyLines(ready: Ready): string {
  return [
    `Binnacle is ready on ${ready.url} after ${took(ready.tookMs)}, as Kubernetes ${ready.release}`,
    `  state: ${ready.state}`,
    `  export KUBECONFIG=${quoted(ready.kubeconfig)}`,
    ...firstCommands.map((command) => `  ${command}`),
    '',
  ].join('\n')
}

/** The same information as fields of one line, for logs in JSON. */
export const readyFields = ({ tookMs, ...ready }: Ready): Record<string, unknown> => ({
  ...ready,
  tookMs: Math.round(tookMs),
})

/** Describes the location of the state. */
export function stateText(settings: {
  storageBackend: 'sqlite' | 'memory' | 'etcd3'
  dataDir: string
  etcdServers: readonly string[]
}): string {
  switch (settings.storageBackend) {
    case 'sqlite':
      return settings.dataDir
    case 'memory':
      return 'in memory, gone when it stops'
    case 'etcd3':
      return `etcd at ${settings.etcdServers.join(', ')}`
  }
}
