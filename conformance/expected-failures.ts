/**
 * The list of answers known to differ, and why. It is exact in both directions: a listed answer
 * that is the same after all fails, so that the list stays true; in a family declared complete an
 * answer that differs and is not listed fails too.
 *
 *   complete 1.22 versions
 *   1.22 life/v1-pod-plain#3  kube-apiserver prints an address in memory; ours names the field
 *
 *   sometimes 1.21 life/b#2  a race: what the recorded server had not got to yet
 *
 * An answer that differs only sometimes may do either. Names of cases may have single spaces, so
 * two stand before the reason.
 */

export interface ExpectedFailures {
  /** `release family`. */
  readonly complete: ReadonlySet<string>
  /** `release case#step` → why. */
  readonly reasons: ReadonlyMap<string, string>
  /** `release case#step` of those that differ in one run and not in another. */
  readonly sometimes: ReadonlySet<string>
}

export function readExpectedFailures(text: string): ExpectedFailures {
  const complete = new Set<string>()
  const reasons = new Map<string, string>()
  const sometimes = new Set<string>()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('# ') || line === '#') continue
    const declared = /^complete (\d+\.\d+) (\S+)$/.exec(line)
    if (declared !== null) {
      complete.add(`${declared[1]} ${declared[2]}`)
      continue
    }
    const listed = /^(?:sometimes )?(\d+\.\d+) (\S.*?)\s{2,}(\S.*)$/.exec(line)
    if (listed === null)
      throw new Error(
        `line ${index + 1} is neither "complete RELEASE FAMILY" nor "RELEASE CASE#STEP  why"`,
      )
    reasons.set(`${listed[1]} ${listed[2]}`, listed[3]!)
    if (line.startsWith('sometimes ')) sometimes.add(`${listed[1]} ${listed[2]}`)
  }
  return { complete, reasons, sometimes }
}

/** How many answers of each family were the same this time, but need not be the next. */
export function luckyAnswers(
  release: string,
  different: ReadonlySet<string>,
  { sometimes }: ExpectedFailures,
  familyOf: ReadonlyMap<string, string>,
): Map<string, number> {
  const lucky = new Map<string, number>()
  for (const name of sometimes) {
    const answer = name.slice(name.indexOf(' ') + 1)
    const family = familyOf.get(answer.replace(/#\d+$/, ''))
    if (!name.startsWith(`${release} `) || family === undefined || different.has(answer)) continue
    lucky.set(family, (lucky.get(family) ?? 0) + 1)
  }
  return lucky
}

/**
 * Where the list and a replay disagree, one sentence each. `familyOf` knows the family of every
 * case replayed.
 */
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
    if (expected.sometimes.has(name) && familyOf.has(caseOf(answer))) continue
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
