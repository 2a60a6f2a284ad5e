/**
 * The type of a Status for its protobuf form, because errors may occur before any kind is known.
 */
import { field, listOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct } from '#schema/type.ts'

const text = scalar('string')
const name = (of: string) => `io.k8s.apimachinery.pkg.apis.meta.v1.${of}`

const listMeta = structOf(name('ListMeta'), [
  field('selfLink', text, 1, 'o'),
  field('resourceVersion', text, 2, 'o'),
  field('continue', text, 3, 'o'),
  field('remainingItemCount', scalar('int64'), 4, 'op'),
])

const cause = structOf(name('StatusCause'), [
  field('reason', text, 1, 'o'),
  field('message', text, 2, 'o'),
  field('field', text, 3, 'o'),
])

const details = structOf(name('StatusDetails'), [
  field('name', text, 1, 'o'),
  field('group', text, 2, 'o'),
  field('kind', text, 3, 'o'),
  field('uid', text, 6, 'o'),
  field('causes', listOf(cause), 4, 'o'),
  field('retryAfterSeconds', scalar('int32'), 5, 'o'),
])

export const statusType: Struct = structOf(name('Status'), [
  field('metadata', listMeta, 1, 'o'),
  field('status', text, 2, 'o'),
  field('message', text, 3, 'o'),
  field('reason', text, 4, 'o'),
  field('details', details, 5, 'op'),
  field('code', scalar('int32'), 6, 'o'),
])
