/**
 * Keeps fairness configured by what is in the API, and has every flow schema told whether the priority level it names is
 * there. It judges no request.
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

/** Resolves once every object there is counts. The result ends following. */
export async function followFairness(parts: FairnessConfigParts): Promise<() => void> {
  const levels = new Map<string, KubeObject>()
  const schemas = new Map<string, KubeObject>()
  const dangling = new DanglingSchemas(parts)
  let planned = false
  let ready = false
  /** Once for all that changes in one turn, and after whoever waits for this to begin. */
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
  const digest = () => {
    configure()
    for (const [name, schema] of schemas) {
      void dangling.settle(schema, levels)?.then((written) => {
        // What was seen before it was written must not count again; what comes later will.
        if (written !== undefined && schemas.get(name) === schema) schemas.set(name, written)
        plan()
      })
    }
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
  return () => {
    ready = false
    for (const stop of stops) stop()
  }
}
