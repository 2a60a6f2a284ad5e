/**
 * Why an object of a name cannot even be asked for, in Go's words: plugins look names of a pod up through the API, where
 * a name is a part of a path.
 */
import { goQuote } from '#api/go-syntax.ts'
import { pathSegmentName } from '#api/names.ts'

/** undefined: it can be asked for. */
export function lookupProblem(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty'
  const problems = pathSegmentName(name)
  if (problems.length === 0) return undefined
  return `invalid resource name ${goQuote(name)}: [${problems.join(' ')}]`
}
