/** Every controller there is, and which of them `--controllers` selects. */
import type { Controller } from './controller.ts'
import { certificateApproving } from './certificates/approving.ts'
import { certificateCleaning } from './certificates/cleaning.ts'
import { certificateSigning } from './certificates/signing.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { finishedJobs } from './jobs/finished-jobs.ts'
import { namespaceController } from './namespace/namespace.ts'
import { podCollector } from './pods/pod-collector.ts'
import { quotaController } from './resource-quota/resource-quota.ts'
import { roleAggregation } from './role-aggregation/role-aggregation.ts'
import { rootCertificatePublisher } from './root-ca/publisher.ts'
import { serviceAccountController } from './service-account/accounts.ts'
import { tokenController } from './service-account/tokens.ts'
import { tokenCleaner } from './token-cleaner/token-cleaner.ts'
import { claimProtection, volumeProtection } from './volume-protection/volume-protection.ts'

export const controllers: readonly Controller[] = [
  namespaceController,
  serviceAccountController,
  tokenController,
  rootCertificatePublisher,
  garbageCollector,
  roleAggregation,
  quotaController,
  certificateApproving,
  certificateSigning,
  certificateCleaning,
  tokenCleaner,
  claimProtection,
  volumeProtection,
  podCollector,
  finishedJobs,
]

/**
 * `*` stands for all that are on by default, `name` for one, `-name` for all but one and `-*` for none; a name said
 * outright wins over a star. Names that there are not are answered as an error.
 */
export function selectControllers(
  words: readonly string[],
  release: number,
  known: readonly Controller[] = controllers,
): readonly Controller[] | { error: string } {
  const said = words.map((word) => word.trim()).filter((word) => word !== '')
  for (const word of said) {
    const name = word.replace(/^-/, '')
    if (name === '*' || known.some((controller) => controller.name === name)) continue
    const names = known.map((controller) => controller.name).join(', ')
    return { error: `--controllers: "${name}" is not in the list of known controllers: ${names}` }
  }
  const star = said.includes('*') && !said.includes('-*')
  return known.filter(({ name, onByDefault = true, since = 0 }) => {
    if (release < since || said.includes(`-${name}`)) return false
    return said.includes(name) || (star && onByDefault)
  })
}
