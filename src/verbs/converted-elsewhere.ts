/**
 * Conversion webhooks for field ownership. Field ownership is computed synchronously, but webhooks
 * are asynchronous. So a computation that needs a missing conversion throws; it is repeated when
 * the webhook has returned. The computation must be pure.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { FieldManagerKind } from '#patch/apply/field-manager.ts'

/** Thrown if a conversion is not available yet. */
export class ConvertedElsewhere extends Error {
  override name = 'ConvertedElsewhere'
  readonly key: string
  readonly coming: Promise<KubeObject>

  constructor(object: KubeObject, apiVersion: string, coming: Promise<KubeObject>) {
    super(`not converted to ${apiVersion} yet`)
    this.key = keyOf(object, apiVersion)
    this.coming = coming
  }
}

/** Each attempt makes new objects, so they are identified by their contents. */
const keyOf = (object: KubeObject, apiVersion: string): string =>
  `${apiVersion} ${JSON.stringify(object)}`

export async function withConversions<Result>(
  manager: FieldManagerKind,
  act: (manager: FieldManagerKind) => Result,
): Promise<Result> {
  const done = new Map<string, KubeObject>()
  const remembering: FieldManagerKind = {
    ...manager,
    convert: (object, apiVersion) =>
      done.get(keyOf(object, apiVersion)) ?? manager.convert(object, apiVersion),
  }
  for (;;) {
    try {
      return act(remembering)
    } catch (error) {
      if (!(error instanceof ConvertedElsewhere)) throw error
      done.set(error.key, await error.coming)
    }
  }
}
