/** Makes the initial objects for clusters of the package: see src/testing/initial-store.ts. */
import { ClusterHost, seededTime } from '#testing/cluster-host.ts'
import { initialStoreOf } from '#testing/initial-store.ts'
import { releases } from '#settings/flag-table.ts'

/** A build gives the same file each time: time and chance come from a seed. */
const seed = 1

export async function initialStoreText(): Promise<string> {
  const release = releases.at(-1) ?? ''
  const host = new ClusterHost({ seed, emulatedVersion: releases.at(-1), controllers: ['-*'] })
  await host.start()
  const first = host.first()
  const saved = first.snapshot().storage.save()
  await first.close()
  return `${JSON.stringify(initialStoreOf(saved, release, seededTime))}\n`
}
