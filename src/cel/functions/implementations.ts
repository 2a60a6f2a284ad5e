/**
 * What every function of every library does, by the id of its overload. Which of them an expression
 * can call is decided by the declarations of its environment (release and mode), so that one table
 * serves all releases.
 */
import { authorizerImplementations } from '#cel/functions/authorizer.ts'
import { collectionImplementations } from '#cel/functions/collections.ts'
import { formatImplementations } from '#cel/functions/named-format.ts'
import { networkImplementations } from '#cel/functions/network.ts'
import { optionalImplementations } from '#cel/functions/optional.ts'
import { quantityImplementations } from '#cel/functions/quantity.ts'
import { semverImplementations } from '#cel/functions/semver.ts'
import { standardImplementations } from '#cel/functions/standard.ts'
import { textImplementations } from '#cel/functions/text.ts'
import { urlImplementations } from '#cel/functions/url.ts'
import type { Implementation } from '#cel/plan-call.ts'

/** `/` → `~1`, `~` → `~0`: a key as a segment of a JSON pointer. */
const escapeKey: Implementation = (key) =>
  (key as string).replace(/[~/]/g, (ch) => (ch === '~' ? '~0' : '~1'))

export const implementations: ReadonlyMap<string, Implementation> = new Map([
  ...standardImplementations,
  ...optionalImplementations,
  ...textImplementations,
  ...collectionImplementations,
  ...urlImplementations,
  ...quantityImplementations,
  ...networkImplementations,
  ...formatImplementations,
  ...semverImplementations,
  ...authorizerImplementations,
  ['string_jsonpatch_escapeKey_string', escapeKey] as const,
])
