/**
 * Why an object with this name cannot even be requested, in Go's words: plugins look up names of a
 * pod through the API, where a name is a part of a path.
 */
import { goQuote } from '#api/go-syntax.ts'
import { pathSegmentName } from '#api/names.ts'

/** undefined: it can be requested. */
export function lookupProblem(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty'
  const problems = pathSegmentName(name)
  if (problems.length === 0) return undefined
  return `invalid resource name ${goQuote(name)}: [${problems.join(' ')}]`
}
