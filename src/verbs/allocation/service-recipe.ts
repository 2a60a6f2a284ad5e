/** What a service is given before it is checked. */
import type { KubeObject } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { addressesOfBlocks } from './address-source.ts'
import type { ServiceTaking } from './service-taking.ts'
import { ServiceWork } from './service-work.ts'

export async function giveToService(
  taking: ServiceTaking,
  service: KubeObject,
  old: KubeObject | undefined,
  context: Context,
): Promise<void> {
  const source = addressesOfBlocks(taking, context.feature('ServiceIPStaticSubrange'))
  await new ServiceWork(taking, source, service, old, context).run()
}
