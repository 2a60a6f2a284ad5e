/**
 * The result of a replay as numbers: per family how many answers were the same, and which answers
 * were not. Reads the replayer's own lines; runs nothing.
 */

export interface FamilyTally {
  readonly same: number
  readonly of: number
  readonly statusSame: number
}

export interface Tally {
  readonly families: ReadonlyMap<string, FamilyTally>
  /** `case name#step`, for every answer that differs; `case name` for a case that broke off. */
  readonly different: ReadonlySet<string>
}

const familyLine =
  /^(\S+)\s+cases \d+\/\d+\s+answers the same (\d+)\/(\d+)(?: \([\d.]+%\))?\s+status the same (\d+)\/\d+/
const differenceLine = /^✗ (.+) step (\d+) [A-Z]+ \/\S*/
const brokenLine = /^✗ (.+?): /

export function readTally(output: string): Tally {
  const families = new Map<string, FamilyTally>()
  const different = new Set<string>()
  for (const line of output.split('\n')) {
    const family = familyLine.exec(line)
    if (family !== null && family[1] !== 'all') {
      const [same, of, statusSame] = family.slice(2, 5).map(Number) as [number, number, number]
      families.set(family[1]!, { same, of, statusSame })
      continue
    }
    const difference = differenceLine.exec(line)
    if (difference !== null) different.add(`${difference[1]}#${difference[2]}`)
    else {
      const broken = brokenLine.exec(line)
      if (broken !== null) different.add(broken[1]!)
    }
  }
  return { families, different }
}

/** The tally as a table for people. */
export function tallyTable(release: string, tally: Tally, floor: FloorOfRelease = {}): string {
  const rows = [['', 'answers the same', '', 'statuses', 'floor']]
  const percent = (part: number, of: number) => `${((100 * part) / Math.max(of, 1)).toFixed(1)} %`
  const total = { same: 0, of: 0, statusSame: 0 }
  for (const [family, t] of [...tally.families].sort(([a], [b]) => (a < b ? -1 : 1))) {
    total.same += t.same
    total.of += t.of
    total.statusSame += t.statusSame
    rows.push([
      family,
      `${t.same}/${t.of}`,
      percent(t.same, t.of),
      percent(t.statusSame, t.of),
      `${floor[family] ?? ''}`,
    ])
  }
  rows.push([
    'all',
    `${total.same}/${total.of}`,
    percent(total.same, total.of),
    percent(total.statusSame, total.of),
    '',
  ])
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  '),
  )
  return [`release ${release}`, ...lines.map((line) => `  ${line}`)].join('\n')
}

/** The tally without the answers that were the same by luck: what a floor may be built on. */
export function withoutLuck(tally: Tally, lucky: ReadonlyMap<string, number>): Tally {
  const families = new Map(
    [...tally.families].map(([family, one]) => [
      family,
      { ...one, same: one.same - (lucky.get(family) ?? 0) },
    ]),
  )
  return { ...tally, families }
}

/** Answers the same per family: what a replay of a release must reach. */
export type FloorOfRelease = Record<string, number>
export type Floor = Record<string, FloorOfRelease>

/** What is below the floor, one sentence each. */
export function belowFloor(release: string, tally: Tally, floor: FloorOfRelease): string[] {
  return Object.entries(floor)
    .filter(([family, least]) => (tally.families.get(family)?.same ?? 0) < least)
    .map(([family, least]) => {
      const same = tally.families.get(family)?.same ?? 0
      return `release ${release}, ${family}: ${same} answers the same, the floor is ${least}`
    })
}

/** The floor lifted to what was reached; it never sinks. */
export function raisedFloor(tally: Tally, floor: FloorOfRelease): FloorOfRelease {
  const names = [...new Set([...Object.keys(floor), ...tally.families.keys()])].sort()
  return Object.fromEntries(
    names.map((name) => [name, Math.max(floor[name] ?? 0, tally.families.get(name)?.same ?? 0)]),
  )
}
