/**
 * What verbs owe to kinds that a webhook converts. Reckoning with owners does not wait, and
 * webhooks make wait: it is tried, ends where a conversion is missing, and is tried again with that
 * conversion at hand. What is tried must be pure.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { FieldManagerKind } from '#patch/apply/field-manager.ts'

/** Thrown where a conversion is not at hand yet. */
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

/** Objects are made anew with every try: they are known by what they say. */
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
