/**
 * Named differences between releases of Kubernetes. Declare a change next to the rule that it
 * affects. Write the rule for the newest release, and test `release.has(change)` where older
 * releases differ:
 *
 *   const errorsShowJson = change('field errors show values as JSON', { since: 34 })
 *   const watchesList = change('a watch can begin with a list',
 *     { since: 32, until: 32 }, { since: 34 })
 *
 * No other file compares release numbers. docs/releases.md lists all changes.
 */
import { assert } from '#base/assert.ts'

/**
 * Minor numbers of the first and the last release that have something. Both are inclusive, here and
 * wherever the code or the facts have `since` and `until`. Absent: from the oldest release, up to
 * the newest.
 */
export interface Span {
  readonly since?: number
  readonly until?: number
}

export interface ReleaseChange {
  /** The difference that a client notices, as listed in docs/releases.md. */
  readonly title: string
  readonly spans: readonly Span[]
}

/** The emulated release. */
export interface Release {
  /** 22 for 1.22. For arithmetic and messages; rules use `has`. */
  readonly minor: number
  /** '1.22' */
  readonly name: string
  has(change: ReleaseChange): boolean
}

const declared = new Map<string, ReleaseChange>()

/** Declares a change. Two changes cannot have one title. */
export function change(title: string, ...spans: Span[]): ReleaseChange {
  assert(spans.length > 0, `change "${title}" names no release`)
  assert(!declared.has(title), `two changes are called "${title}"`)
  const made = { title, spans }
  declared.set(title, made)
  return made
}

/** The changes of all modules that are loaded. */
export const declaredChanges = (): readonly ReleaseChange[] => [...declared.values()]

export const isWithin = ({ since, until }: Span, minor: number): boolean =>
  (since === undefined || minor >= since) && (until === undefined || minor <= until)

const releases = new Map<number, Release>()

/** One instance per minor version, shared by all servers that emulate it. */
export function releaseOf(minor: number | Release): Release {
  if (typeof minor !== 'number') return minor
  let release = releases.get(minor)
  if (release === undefined) {
    release = makeRelease(minor)
    releases.set(minor, release)
  }
  return release
}

function makeRelease(minor: number): Release {
  const answers = new Map<ReleaseChange, boolean>()
  return {
    minor,
    name: `1.${minor}`,
    has(change) {
      let answer = answers.get(change)
      if (answer === undefined) {
        answer = change.spans.some((span) => isWithin(span, minor))
        answers.set(change, answer)
      }
      return answer
    },
  }
}
