/** What happens to a pod template on its way in, whichever kind it belongs to. */
import type { Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { dropDisabledPodFields } from './dropped-fields.ts'
import { agreeOnServiceAccount, dropInitContainerAnnotations } from './normal-form.ts'

/** `next` is changed; `old` is what it was before, if it was there. */
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
