/**
 * Permissions that a write needs for a field beside the permission for the write itself. A missing
 * one is an error of the field.
 */
import type { Attributes, Authorizer } from '#access/authorize.ts'
import { forbidden as forbiddenStatus } from '#access/forbidden.ts'
import { type FieldError, forbidden } from '#api/field-error.ts'
import type { RequiredRight } from '#kinds/kind.ts'
import type { WriteRequest } from './server.ts'

export async function refusedRights(
  authorizer: Authorizer,
  request: WriteRequest,
  rights: readonly RequiredRight[],
): Promise<FieldError[]> {
  const refused: FieldError[] = []
  for (const right of rights) {
    const verbs = right.verbPrefixes.map((prefix) => `${prefix}${verbOf(request)}`)
    const why = await refusalOf(authorizer, request, right, verbs)
    if (why !== undefined) refused.push(forbidden(right.path, `${right.detail(verbs)}: ${why}`))
  }
  return refused
}

const verbOf = (request: WriteRequest) => ('patchType' in request ? 'patch' : 'update')

/** The message for the first verb if the user has none of them. */
async function refusalOf(
  authorizer: Authorizer,
  { target: { kind, namespace }, user }: WriteRequest,
  { subresource, isNamespaced, name }: RequiredRight,
  verbs: readonly string[],
): Promise<string | undefined> {
  let first: string | undefined
  for (const verb of verbs) {
    const attributes: Attributes = {
      user,
      verb,
      isResource: true,
      group: kind.group,
      version: kind.version,
      resource: kind.plural,
      subresource,
      namespace: isNamespaced ? namespace : '',
      name,
      path: '',
    }
    const { decision, reason, error } = await authorizer.authorize(attributes)
    if (decision === 'allow') return undefined
    const why = [error ?? '', reason].filter((text) => text !== '').join(': ')
    first ??= forbiddenStatus(attributes, why).message
  }
  return first
}
