/**
 * The AdmissionReview of a response as a type, for kube-apiserver's errors about members of the
 * wrong type. Conversion reviews share its Status. The flags of a field are those of
 * schema/make-type.ts: `o` omitempty, `p` pointer, `i` inline.
 */
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct } from '#schema/type.ts'

const meta = (name: string) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`
const string = scalar('string')
export const typeMeta = field(
  '',
  structOf(meta('TypeMeta'), [field('kind', string, 1, 'o'), field('apiVersion', string, 2, 'o')]),
  0,
  'i',
)
export const status = structOf(meta('Status'), [
  typeMeta,
  field(
    'metadata',
    structOf(meta('ListMeta'), [
      field('selfLink', string, 1, 'o'),
      field('resourceVersion', string, 2, 'o'),
      field('continue', string, 3, 'o'),
      field('remainingItemCount', scalar('int64'), 4, 'op'),
    ]),
    1,
    'o',
  ),
  field('status', string, 2, 'o'),
  field('message', string, 3, 'o'),
  field('reason', string, 4, 'o'),
  field(
    'details',
    structOf(meta('StatusDetails'), [
      field('name', string, 1, 'o'),
      field('group', string, 2, 'o'),
      field('kind', string, 3, 'o'),
      field('uid', string, 6, 'o'),
      field(
        'causes',
        listOf(
          structOf(meta('StatusCause'), [
            field('reason', string, 1, 'o'),
            field('message', string, 2, 'o'),
            field('field', string, 3, 'o'),
          ]),
        ),
        4,
        'o',
      ),
      field('retryAfterSeconds', scalar('int32'), 5, 'o'),
    ]),
    5,
    'op',
  ),
  field('code', scalar('int32'), 6, 'o'),
])

/** The type of an AdmissionReview response. The `request` in a response is ignored. */
export function reviewType(version: string): Struct {
  const own = (name: string) => `io.k8s.api.admission.${version}.${name}`
  const response = structOf(own('AdmissionResponse'), [
    field('uid', string, 1, ''),
    field('allowed', scalar('bool'), 2, ''),
    field('status', status, 3, 'op'),
    field('patch', scalar('bytes'), 4, 'o'),
    field('patchType', string, 5, 'op'),
    field('auditAnnotations', mapOf(string), 6, 'o'),
    field('warnings', listOf(string), 7, 'o'),
  ])
  return structOf(own('AdmissionReview'), [
    typeMeta,
    field('request', scalar('any'), 1, 'op'),
    field('response', response, 2, 'op'),
  ])
}
