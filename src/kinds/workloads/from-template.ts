/**
 * Defaults that the first beta versions of workloads take from the pod template: the selector and
 * the labels.
 */
import type { Loose } from '#api/object-meta.ts'
import { rememberEmpty, wasWrittenEmpty } from '#api/written-empty.ts'

/** The selector for template labels that the client wrote empty. Validation always rejects it. */
function emptySelector(): Loose {
  const selector = {}
  rememberEmpty(selector, 'matchLabels')
  return selector
}

/** An absent selector and absent labels default to the labels of the pod template. */
export function fromTemplate(object: Loose): void {
  const holder: Loose | undefined = object.spec.template?.metadata
  const labels: Record<string, string> | undefined = holder?.labels
  if (!labels) {
    if (wasWrittenEmpty(holder, 'labels')) object.spec.selector ??= emptySelector()
    return
  }
  object.spec.selector ??= { matchLabels: { ...labels } }
  if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels }
}
