/** Allocates the addresses and ports of a service before validation (releases since 1.23). */
import type { KubeObject } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import type { AddressObjects } from './address-objects.ts'
import { addressesOfBlocks, addressesOfObjects } from './address-source.ts'
import type { ServiceTaking } from './service-taking.ts'
import { ServiceWork } from './service-work.ts'

export async function allocateForService(
  taking: ServiceTaking,
  service: KubeObject,
  old: KubeObject | undefined,
  context: Context,
  objects?: { readonly of: AddressObjects; readonly random: () => number },
): Promise<void> {
  const source =
    objects === undefined
      ? addressesOfBlocks(taking, context.feature('ServiceIPStaticSubrange'))
      : addressesOfObjects(taking, objects.of, service, objects.random)
  await new ServiceWork(taking, source, service, old, context).run()
}
