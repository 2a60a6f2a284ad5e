/**
 * The ResourceQuota plugin: the usage of a namespace cannot exceed its quotas. Before an object is
 * stored, its usage is added to the status of the quotas. Requests of one namespace are processed
 * one by one, so two requests never use the same remainder. The quota controller recounts to find
 * released usage and objects that were not stored.
 */
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { ApiError } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { LimitedResource } from './check.ts'
import type { Evaluator, Settings } from './evaluator.ts'
import type { Evaluators } from './evaluators.ts'

/** Loaded with the first quota. */
const loadCheck = loadLater<typeof import('./check.ts')>(import.meta.url, './check')
const loadEvaluators = loadLater<typeof import('./evaluators.ts')>(import.meta.url, './evaluators')

/** How often the status is computed again after another writer changed it. */
const conflictRetriesMax = 3

export interface QuotaOptions extends Settings {
  /**
   * Writes the status of a quota if it still has its resourceVersion; throws a conflict otherwise.
   */
  readonly updateStatus: (quota: KubeObject) => Promise<unknown>
  readonly limited: readonly LimitedResource[]
}

export function resourceQuota(options: QuotaOptions): AdmissionPlugin {
  let evaluators: Evaluators | undefined
  /** Names of the quotas in each namespace. Requests in a namespace without quotas are skipped. */
  const inNamespace = new Map<string, Set<string>>()
  const turns = new Map<string, Promise<void>>()
  return {
    name: 'ResourceQuota',
    async start(reader) {
      await reader.follow('', 'resourcequotas', {
        changed({ metadata: { namespace = '', name = '' } }) {
          const names = inNamespace.get(namespace) ?? new Set()
          inNamespace.set(namespace, names.add(name))
        },
        deleted({ metadata: { namespace = '', name = '' } }) {
          const names = inNamespace.get(namespace)
          names?.delete(name)
          if (names?.size === 0) inNamespace.delete(namespace)
        },
      })
    },
    validate(request, reader) {
      const { namespace, kind } = request
      if (namespace === '') return
      if (!inNamespace.has(namespace) && options.limited.length === 0) return
      if (kind.group === '' && kind.plural === 'namespaces') return
      evaluators ??= new (loadEvaluators().Evaluators)(options)
      const evaluator = evaluators.of(kind.group, kind.plural)
      if (evaluator === undefined || !evaluator.handles(request)) return
      return inTurn(turns, namespace, () => take(request, reader, evaluator, options))
    },
  }
}

/** Runs after all earlier work for the same key, whether that succeeded or not. */
async function inTurn(
  turns: Map<string, Promise<void>>,
  key: string,
  run: () => Promise<void>,
): Promise<void> {
  const before = turns.get(key)
  const mine = before === undefined ? run() : before.then(run, run)
  turns.set(key, mine)
  try {
    await mine
  } finally {
    if (turns.get(key) === mine) turns.delete(key)
  }
}

async function take(
  request: AdmissionRequest,
  reader: ObjectReader,
  evaluator: Evaluator,
  { updateStatus, limited, release }: QuotaOptions,
): Promise<void> {
  await evaluator.prepare?.((...of) => reader.list(...of), request.namespace)
  let only: Set<string> | undefined
  for (let retry = 0; ; retry++) {
    const all = await reader.list('', 'resourcequotas', request.namespace)
    const quotas =
      only === undefined ? all : all.filter(({ metadata }) => only?.has(metadata.name as string))
    const charged = loadCheck().checkQuotas(quotas, request, evaluator, limited, release)
    if (request.dryRun || charged.length === 0) return
    const failed = new Set<string>()
    let last: unknown
    for (const quota of charged) {
      try {
        await updateStatus(quota)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        failed.add(quota.metadata.name as string)
        last = error
      }
    }
    if (failed.size === 0) return
    if (retry >= conflictRetriesMax) throw last
    only = failed
  }
}
