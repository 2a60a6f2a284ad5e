/** The type of `request` in expressions: an AdmissionRequest without its objects. */
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'

const text = scalar('string')
const named = (name: string, fields: readonly string[]) =>
  structOf(
    name,
    fields.map((one, at) => field(one, text, at + 1)),
  )
const kindType = named('meta.v1.GroupVersionKind', ['group', 'version', 'kind'])
const resourceType = named('meta.v1.GroupVersionResource', ['group', 'version', 'resource'])
const userType = structOf('authentication.v1.UserInfo', [
  field('username', text, 1, 'o'),
  field('uid', text, 2, 'o'),
  field('groups', listOf(text), 3, 'o'),
  field('extra', mapOf(listOf(text)), 4, 'o'),
])

export const requestType = structOf('admission.v1.AdmissionRequest', [
  field('uid', text, 1),
  field('kind', kindType, 2),
  field('resource', resourceType, 3),
  field('subResource', text, 4, 'o'),
  field('requestKind', kindType, 13, 'op'),
  field('requestResource', resourceType, 14, 'op'),
  field('requestSubResource', text, 15, 'o'),
  field('name', text, 5, 'o'),
  field('namespace', text, 6, 'o'),
  field('operation', text, 7),
  field('userInfo', userType, 8),
  field('object', scalar('any'), 9, 'o'),
  field('oldObject', scalar('any'), 10, 'o'),
  field('dryRun', scalar('bool'), 11, 'op'),
  field('options', scalar('any'), 12, 'o'),
])
