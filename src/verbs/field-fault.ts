/**
 * The error for a JSON text that does not fit its type, as the decoder of releases since 1.23
 * reports it.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { plainFault } from '#codec/go-json/plain-fault.ts'
import { withRepeatedMembers } from '#codec/go-json/repeated-members.ts'
import { hasUniqueKeys, parseJson, storedDepthMax } from '#codec/json.ts'
import type { Type } from '#schema/type.ts'

const namesGoFields = change('errors of bodies name the field as Go names it', { since: 23 })
const namesEmbedded = change('errors of bodies name embedded structs', { since: 35 })

/** Undefined in older releases, and if the text fits. */
export function fieldFault(type: Type, bytes: Buffer, minor: number): string | undefined {
  const release = releaseOf(minor)
  if (!release.has(namesGoFields)) return undefined
  const style = { namesEmbedded: release.has(namesEmbedded) }
  const text = bytes.toString('utf8')
  const whole = hasUniqueKeys(bytes) ? text : withRepeatedMembers(text)
  return plainFault(type, parseJson(whole, storedDepthMax), undefined, style)
}
