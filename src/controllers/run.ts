/**
 * Starts the selected controllers, immediately or while this server is the leader, and stops them.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type ElectionOptions, runForLeader } from '#client/leader-election.ts'
import type { Controller, Surroundings } from './controller.ts'
import { Informers } from './informers.ts'

/** The account of what all controllers share: pictures, and the lease. */
const managerAccount = 'kube-controller-manager'

export interface RunOptions {
  readonly controllers: readonly Controller[]
  readonly surroundings: Surroundings
  /** Leader election times, if other servers can share the store. Otherwise undefined. */
  readonly elect:
    | Pick<ElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>
    | undefined
  readonly signal: AbortSignal
}

/**
 * Starts the controllers. The signal stops them without waiting for work in progress. With leader
 * election, the promise resolves when the election has ended and the lease is released.
 */
export async function runControllers({
  controllers,
  surroundings,
  elect,
  signal,
}: RunOptions): Promise<void> {
  if (controllers.length === 0) return
  const lead = (leading: AbortSignal) => startAll(controllers, surroundings, leading)
  if (elect === undefined) return lead(signal)
  const { clientFor, clock, report } = surroundings
  await runForLeader({
    ...elect,
    client: clientFor(managerAccount),
    namespace: 'kube-system',
    name: 'kube-controller-manager',
    identity: `${hostname()}_${randomUUID()}`,
    clock,
    signal,
    report,
    lead,
  })
}

function startAll(
  controllers: readonly Controller[],
  surroundings: Surroundings,
  signal: AbortSignal,
): void {
  const { clientFor, report } = surroundings
  const informers = new Informers(clientFor(managerAccount), signal, report)
  for (const controller of controllers) {
    try {
      controller.start({
        ...surroundings,
        client: clientFor(controller.account),
        informers,
        signal,
      })
    } catch (error) {
      report(`the controller ${controller.name} could not start`, error)
    }
  }
}
