/** The error for a call to a cluster that was closed. Informers stop on it. */
export class ClosedCluster extends Error {
  override name = 'ClosedCluster'

  constructor(cluster: string) {
    super(`the cluster ${cluster} is closed`)
  }
}
