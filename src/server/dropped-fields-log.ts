/**
 * Logs once per kind and field if a client writes a field that the emulated release drops and a
 * later release supports. The response does not mention it, as with kube-apiserver.
 */
import { loadLater } from '#base/load-later.ts'
import { releases } from '#settings/flag-table.ts'
import { releaseNumber } from '#settings/flags.ts'
import type { Server } from '#verbs/server.ts'
import type { Foundation } from './foundation.ts'

const loadDropped = loadLater<typeof import('#kinds/dropped-fields.ts')>(
  import.meta.url,
  '#kinds/dropped-fields',
)

/**
 * The maximum number of paths to look up, so that a client that repeats a mistake costs no time.
 */
const pathsMax = 2000

export function droppedFieldsLog({
  facts,
  release,
  log,
}: Pick<Foundation, 'facts' | 'release' | 'log'>): NonNullable<Server['fieldsDropped']> {
  const later = releases.map(releaseNumber).filter((minor) => minor > release)
  const looked = new Set<string>()
  const logged = new Set<string>()
  return (kind, paths) => {
    for (const path of paths) {
      const where = `${kind.apiVersion} ${kind.kind} ${path}`
      if (looked.size >= pathsMax || looked.has(where)) continue
      looked.add(where)
      const found = loadDropped().supportedLater(facts, kind, path, later)
      if (found === undefined) continue
      const name = `${kind.apiVersion} ${kind.kind} ${found.field}`
      if (logged.has(name)) continue
      logged.add(name)
      log.warn(
        `the field ${found.field} of ${kind.apiVersion} ${kind.kind} is dropped: release 1.${release} does not have it, ` +
          `1.${found.since} and later do; --emulated-version=1.${found.since} keeps it`,
      )
    }
  }
}
