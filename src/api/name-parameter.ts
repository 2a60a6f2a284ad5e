/**
 * A name by which an object is looked up must be a part of a path: one that came in a body has not
 * been looked at as such.
 */
import { goQuote } from './go-syntax.ts'
import { pathSegmentName } from './names.ts'
import { badRequest } from './status-error.ts'

export function refuseUnfitName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.')
  const problems = pathSegmentName(name)
  if (problems.length === 0) return
  throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
}
