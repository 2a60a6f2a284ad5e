/**
 * The list of answers known to differ, and why. It is exact in both directions: a listed answer that is the same after all
 * fails, so that the list stays true; in a family declared complete an answer that differs and is not listed fails too.
 *
 *   complete 1.22 versions
 *   1.22 life/v1-pod-plain#3  the original prints a Go value with its address; ours names the field
 *
 * Names of cases may have single spaces, so two stand before the reason.
 */

export interface ExpectedFailures {
  /** `release family`. */
  readonly complete: ReadonlySet<string>
  /** `release case#step` → why. */
  readonly reasons: ReadonlyMap<string, string>
}

export function readExpectedFailures(text: string): ExpectedFailures {
  const complete = new Set<string>()
  const reasons = new Map<string, string>()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('# ') || line === '#') continue
    const declared = /^complete (\d+\.\d+) (\S+)$/.exec(line)
    if (declared !== null) {
      complete.add(`${declared[1]} ${declared[2]}`)
      continue
    }
    const listed = /^(\d+\.\d+) (\S.*?)\s{2,}(\S.*)$/.exec(line)
    if (listed === null)
      throw new Error(
        `line ${index + 1} is neither "complete RELEASE FAMILY" nor "RELEASE CASE#STEP  why"`,
      )
    reasons.set(`${listed[1]} ${listed[2]}`, listed[3]!)
  }
  return { complete, reasons }
}

/** Where the list and a replay disagree, one sentence each. `familyOf` knows the family of every case replayed. */
export function disagreements(
  release: string,
  different: ReadonlySet<string>,
  expected: ExpectedFailures,
  familyOf: ReadonlyMap<string, string>,
): string[] {
  const said: string[] = []
  const caseOf = (answer: string) => answer.replace(/#\d+$/, '')
  for (const name of expected.reasons.keys()) {
    const [listedRelease, answer] = [name.split(' ')[0], name.slice(name.indexOf(' ') + 1)]
    if (listedRelease !== release || different.has(answer)) continue
    said.push(
      familyOf.has(caseOf(answer))
        ? `${name} is listed as different and is the same: take it from the list`
        : `${name} is listed and no such case was replayed`,
    )
  }
  for (const answer of different) {
    const family = familyOf.get(caseOf(answer)) ?? ''
    if (
      expected.complete.has(`${release} ${family}`) &&
      !expected.reasons.has(`${release} ${answer}`)
    )
      said.push(`${release} ${answer} differs, is not listed, and ${family} is complete`)
  }
  return said
}
