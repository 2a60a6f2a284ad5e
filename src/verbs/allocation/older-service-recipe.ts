/** Allocates the addresses and ports of a service in releases up to 1.22, after validation. */
import type { KubeObject } from '#api/object-meta.ts'
import { checkExternalTraffic } from '#kinds/core/service/external-traffic.ts'
import type { Context } from '#kinds/kind.ts'
import { settleFamilies } from './older-families.ts'
import { OlderServiceWork } from './older-service-work.ts'
import type { ServiceTaking } from './service-taking.ts'

export function allocateForOlderService(
  taking: ServiceTaking,
  service: KubeObject,
  old: KubeObject | undefined,
  context: Context,
): void {
  const work = new OlderServiceWork(taking, service, old, context)
  if (context.feature('IPv6DualStack')) settleFamilies(service, taking.families)
  if (!taking.isDryRun) work.addresses()
  work.nodePorts()
  work.healthPort()
  work.trafficPolicy()
  work.refuse(checkExternalTraffic(service))
}
