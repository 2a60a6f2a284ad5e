/** Defaults of LimitRange. */
import type { Loose } from '#api/object-meta.ts'
import { forgetEmpty } from '#api/written-empty.ts'
import { copyText } from '#api/written-text.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { amounts } from '#kinds/all-kinds/round-amounts.ts'
import { setKey } from '#schema/user-key.ts'

/** Adds quantities from another list for resources that this list does not have. */
function addMissing(item: Loose, field: string, from: Record<string, string> | undefined): void {
  for (const name of Object.keys(from ?? {})) {
    item[field] ??= {}
    if (Object.hasOwn(item[field], name)) continue
    setKey(item[field], name, (from as Loose)[name])
    copyText(from as Loose, item[field], name)
  }
  forgetEmpty(item, field)
}

const limitRangeItem: Defaulter = (value) => {
  if (value.type === 'Container') {
    addMissing(value, 'default', value.max)
    addMissing(value, 'defaultRequest', value.default)
    addMissing(value, 'defaultRequest', value.min)
  }
  amounts('max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio')(value)
}

export const limitRangeDefaults: Defaulters = {
  'io.k8s.api.core.v1.LimitRangeItem': limitRangeItem,
}
