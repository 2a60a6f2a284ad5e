/**
 * `binnacle verify` reads the whole store and lists damaged objects. It exits with code 1 if there
 * are any.
 */
import { databasePath, openOfflineStore } from '#server/offline-store.ts'
import { verifyStore } from '#server/verify-store.ts'
import { checkDatabase } from '#storage/sqlite/check-database.ts'
import type { GivenCommand } from './command.ts'
import { progressLine } from './progress.ts'

export async function verify({ flags: { settings } }: GivenCommand): Promise<void> {
  const problems: string[] = []
  const progress = progressLine('verify')
  const store = await openOfflineStore(settings, (text) => process.stderr.write(`${text}\n`))
  const checked: string[] = []
  try {
    if (settings.storageBackend === 'sqlite') {
      const { rows, problems: found } = checkDatabase(databasePath(settings), progress.update)
      problems.push(...found)
      checked.push(`${rows} rows`)
    }
    const report = await verifyStore(store, settings.etcdPrefix, progress.update)
    problems.push(...report.problems)
    checked.push(`${report.objects} objects at revision ${report.revision}`)
  } finally {
    progress.end()
    await store.storage.close()
  }
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  const verdict = problems.length === 0 ? 'no problem' : `${problems.length} problems`
  process.stdout.write(`verified ${checked.join(', ')}: ${verdict}\n`)
  if (problems.length > 0) process.exitCode = 1
}
