/**
 * The controllers as part of a running server. They are selected before the start, loaded and
 * started when the server is ready, and stopped before the store closes. They run in this process,
 * each with its own service account, and use only the API.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { TimerClock } from '#base/clock.ts'
import type { QueueMeter } from '#client/work-queue.ts'
import type { ControllerName } from '#controllers/names.ts'
import type { Aggregation } from '#http/aggregation/aggregation.ts'
import type { Log } from '#observe/log.ts'
import { localClient } from '#verbs/local-client.ts'
import type { Server } from '#verbs/server.ts'
import type { Certificates } from './certificates.ts'
import type { Settings } from '#settings/flags.ts'

/**
 * Requests that waited for the server to be ready are answered first: loading the controllers takes
 * longer than a response.
 */
const firstAnswersMs = 50
/** kube-controller-manager waits as long before it empties a namespace. */
const othersSeeMs = 5000

/** The field manager of their writes. */
const manager = 'kube-controller-manager'

export interface ControllerOptions {
  readonly names: readonly ControllerName[]
  readonly settings: Pick<
    Settings,
    | 'storageBackend'
    | 'clusterSigningDurationMs'
    | 'terminatedPodGcThreshold'
    | 'legacyServiceAccountTokenCleanUpPeriodMs'
    | 'leaderElectLeaseDurationMs'
    | 'leaderElectRenewDeadlineMs'
    | 'leaderElectRetryPeriodMs'
  >
  readonly server: Server
  readonly aggregation: Aggregation
  readonly queueMeter: (name: string) => QueueMeter
  readonly certificates: Certificates
  readonly log: Log
  readonly clock: TimerClock
  readonly signal: AbortSignal
}

/**
 * Resolves when the controllers have started. With leader election, resolves when the lease is
 * released after the signal.
 */
export async function startControllers(options: ControllerOptions): Promise<void> {
  const { names, settings, server, certificates, log, clock, signal } = options
  if (names.length === 0) return
  await new Promise((resolve) => setTimeout(resolve, firstAnswersMs))
  if (signal.aborted) return
  const { aggregation } = options
  const [
    { loadControllers },
    { runControllers },
    { combinedClient },
    { RemoteApiClient },
    { RemoteKinds },
    { servedSchema },
  ] = await Promise.all([
    import('#controllers/all.ts'),
    import('#controllers/run.ts'),
    import('#client/combined-client.ts'),
    import('#http/aggregation/remote-client.ts'),
    import('#http/aggregation/remote-kinds.ts'),
    import('#kinds/served-schema.ts'),
  ])
  const remoteKinds = new RemoteKinds(aggregation)
  const clientFor = (account: string) => {
    const user = accountUser(account)
    const remote = new RemoteApiClient(aggregation, remoteKinds, user)
    return combinedClient(localClient(server, user, manager), remote)
  }
  await runControllers({
    controllers: await loadControllers(names),
    // Only etcd can be shared by several servers.
    elect:
      settings.storageBackend === 'etcd3'
        ? {
            leaseDurationMs: settings.leaderElectLeaseDurationMs,
            renewDeadlineMs: settings.leaderElectRenewDeadlineMs,
            retryPeriodMs: settings.leaderElectRetryPeriodMs,
          }
        : undefined,
    signal,
    surroundings: {
      clientFor,
      clock,
      schemaOf(apiVersion, name) {
        const kind = server.catalog.byKind(apiVersion, name)
        return kind && servedSchema(kind)
      },
      release: server.release,
      feature: server.feature,
      report: (message, error) => log.warn(message, error === undefined ? {} : { error }),
      randomSuffix: server.randomSuffix,
      queueMeter: options.queueMeter,
      rootCertificates: certificates.trustPem,
      mint: server.access.mint,
      authority: {
        certificate: new X509Certificate(certificates.ca.certificatePem),
        privateKey: createPrivateKey(certificates.ca.keyPem),
      },
      signingDurationMs: settings.clusterSigningDurationMs,
      terminatedPodsMax: settings.terminatedPodGcThreshold,
      legacyTokenUnusedMs: settings.legacyServiceAccountTokenCleanUpPeriodMs,
      othersSeeMs: settings.storageBackend === 'etcd3' ? othersSeeMs : 0,
    },
  })
}

const accountUser = (account: string) => ({
  name: `system:serviceaccount:kube-system:${account}`,
  uid: '',
  groups: ['system:masters', 'system:serviceaccounts', 'system:authenticated'],
  extra: {},
})
