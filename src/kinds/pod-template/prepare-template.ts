/** Prepares the pod template of any workload before validation. */
import type { Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { dropDisabledPodFields } from './dropped-fields.ts'
import { agreeOnServiceAccount, dropInitContainerAnnotations } from './normal-form.ts'

/** Changes `next`. `old` is the template before the update, if any. */
export function prepareTemplate(
  next: Loose | null | undefined,
  old: Loose | null | undefined,
  context: Context,
): void {
  if (!next) return
  if (next.spec) agreeOnServiceAccount(next.spec)
  dropInitContainerAnnotations(next.metadata)
  dropDisabledPodFields(next, old, context)
}
