/**
 * Updates the configuration of priority and fairness from the objects in the API. It also updates
 * the `Dangling` condition of each FlowSchema. It does not classify requests.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { FlowControl } from '#observe/fairness/flow-control.ts'
import { DanglingSchemas, type DanglingSchemasParts } from './dangling-schemas.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'
export interface FairnessConfigParts extends DanglingSchemasParts {
  readonly flows: FlowControl
  readonly reader: ObjectReader
}

export interface FollowedFairness {
  /** Resolves when the conditions of the schemas that existed at the start are written. */
  readonly settled: Promise<unknown>
  stop(): void
}

/** Resolves when every stored object is in use. */
export async function followFairness(parts: FairnessConfigParts): Promise<FollowedFairness> {
  const levels = new Map<string, KubeObject>()
  const schemas = new Map<string, KubeObject>()
  const dangling = new DanglingSchemas(parts)
  let planned = false
  let ready = false
  /** Runs once for all changes of a turn, and not before the start is complete. */
  const plan = () => {
    if (planned || !ready) return
    planned = true
    setImmediate(() => {
      planned = false
      if (ready) digest()
    })
  }
  const configure = () =>
    parts.flows.configure([...levels.values()], [...schemas.values()], parts.monotonicMs())
  const first = Promise.withResolvers<unknown>()
  const digest = () => {
    configure()
    const writes = [...schemas].map(async ([name, schema]) => {
      const writing = dangling.settle(schema, levels)
      if (writing === undefined) return
      const written = await writing
      // If the schema did not change during the write, use the written one. The watch delivers
      // later changes.
      if (written !== undefined && schemas.get(name) === schema) schemas.set(name, written)
      plan()
    })
    first.resolve(Promise.all(writes))
  }
  const keep = (kept: Map<string, KubeObject>) => ({
    changed(object: KubeObject) {
      kept.set(object.metadata.name ?? '', object)
      plan()
    },
    deleted({ metadata: { name = '' } }: KubeObject) {
      kept.delete(name)
      if (kept === schemas) dangling.forget(name)
      plan()
    },
  })
  const stops = [
    await parts.reader.follow(flowGroup, 'prioritylevelconfigurations', keep(levels)),
    await parts.reader.follow(flowGroup, 'flowschemas', keep(schemas)),
  ]
  ready = true
  configure()
  plan()
  return {
    settled: first.promise,
    stop() {
      ready = false
      first.resolve(undefined)
      for (const stop of stops) stop()
    },
  }
}
