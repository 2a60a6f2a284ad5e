/**
 * The difference between two texts as kube-apiserver prints it since 1.34, a unified diff without
 * file names:
 *
 *     @@ -1,3 +1,3 @@
 *      {
 *     - "A": 1
 *     + "A": 2
 *      }
 *
 * Lines are matched as Python's difflib does it: the longest common block first, then the parts
 * before and after it. The result is not always the shortest diff, but it is the one that clients
 * of kube-apiserver see.
 */

/** `a[a1..a2)` and `b[b1..b2)` are equal, or the second range replaces the first. */
interface Step {
  readonly equal: boolean
  readonly a1: number
  readonly a2: number
  readonly b1: number
  readonly b2: number
}

/** Unchanged lines before and after a change. */
const contextLines = 3

/**
 * In texts of at least this many lines, a line that makes up more than one percent starts no block.
 */
const manyLines = 200

export function unifiedDiff(before: string, after: string): string {
  const [a, b] = [before.split('\n'), after.split('\n')]
  const lines = groupsOf(stepsOf(a, b)).flatMap((group) => linesOfGroup(group, a, b))
  return lines.map((line) => `${line}\n`).join('')
}

function linesOfGroup(group: readonly Step[], a: string[], b: string[]): string[] {
  const [first, last] = [group[0] as Step, group.at(-1) as Step]
  const head = `@@ -${rangeOf(first.a1, last.a2)} +${rangeOf(first.b1, last.b2)} @@`
  const body = group.flatMap(({ equal, a1, a2, b1, b2 }) =>
    equal
      ? a.slice(a1, a2).map((line) => ` ${line}`)
      : [
          ...a.slice(a1, a2).map((line) => `-${line}`),
          ...b.slice(b1, b2).map((line) => `+${line}`),
        ],
  )
  return [head, ...body]
}

/**
 * `start,length`. A length of 1 is omitted; an empty range has the number of the line before it.
 */
function rangeOf(start: number, end: number): string {
  const length = end - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

/** Groups of steps with context lines. A long equal part ends one group and begins the next. */
function groupsOf(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = []
  let group: Step[] = []
  for (const [i, step] of steps.entries()) {
    const length = step.a2 - step.a1
    const head = i === 0 ? 0 : Math.min(length, contextLines)
    const tail = i === steps.length - 1 ? 0 : Math.min(length, contextLines)
    if (!step.equal || (i > 0 && i < steps.length - 1 && length <= 2 * contextLines)) {
      group.push(step)
      continue
    }
    if (head > 0) group.push({ ...step, a2: step.a1 + head, b2: step.b1 + head })
    if (group.some(({ equal }) => !equal)) groups.push(group)
    group = tail > 0 ? [{ ...step, a1: step.a2 - tail, b1: step.b2 - tail }] : []
  }
  if (group.some(({ equal }) => !equal)) groups.push(group)
  return groups
}

function stepsOf(a: string[], b: string[]): Step[] {
  const steps: Step[] = []
  let [i, j] = [0, 0]
  for (const { a1, b1, size } of [...blocksOf(a, b), { a1: a.length, b1: b.length, size: 0 }]) {
    if (i < a1 || j < b1) steps.push({ equal: false, a1: i, a2: a1, b1: j, b2: b1 })
    ;[i, j] = [a1 + size, b1 + size]
    if (size > 0) steps.push({ equal: true, a1, a2: i, b1, b2: j })
  }
  return steps
}

interface Block {
  a1: number
  b1: number
  size: number
}

/** Equal blocks in order, neighbours joined. */
function blocksOf(a: string[], b: string[]): Block[] {
  const found: Block[] = []
  const at = placesOf(b)
  const search = (aLow: number, aHigh: number, bLow: number, bHigh: number): void => {
    const { a1, b1, size } = longestBlock(a, b, at, [aLow, aHigh, bLow, bHigh])
    if (size === 0) return
    if (aLow < a1 && bLow < b1) search(aLow, a1, bLow, b1)
    const last = found.at(-1)
    if (last !== undefined && last.a1 + last.size === a1 && last.b1 + last.size === b1)
      last.size += size
    else found.push({ a1, b1, size })
    if (a1 + size < aHigh && b1 + size < bHigh) search(a1 + size, aHigh, b1 + size, bHigh)
  }
  search(0, a.length, 0, b.length)
  return found
}

/** The positions of each line in `b`. */
function placesOf(b: string[]): Map<string, number[]> {
  const at = new Map<string, number[]>()
  for (const [i, line] of b.entries()) {
    const places = at.get(line)
    if (places === undefined) at.set(line, [i])
    else places.push(i)
  }
  if (b.length < manyLines) return at
  const most = Math.floor(b.length / 100) + 1
  for (const [line, places] of at) if (places.length > most) at.delete(line)
  return at
}

/** The longest common block within the bounds; the first one of several. */
function longestBlock(
  a: string[],
  b: string[],
  at: ReadonlyMap<string, number[]>,
  [aLow, aHigh, bLow, bHigh]: readonly [number, number, number, number],
): Block {
  const best: Block = { a1: aLow, b1: bLow, size: 0 }
  let lengths = new Map<number, number>()
  for (let i = aLow; i < aHigh; i++) {
    const next = new Map<number, number>()
    for (const j of at.get(a[i] as string) ?? []) {
      if (j < bLow) continue
      if (j >= bHigh) break
      const size = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, size)
      if (size > best.size) Object.assign(best, { a1: i - size + 1, b1: j - size + 1, size })
    }
    lengths = next
  }
  // Frequent lines start no block, but they extend one.
  while (best.a1 > aLow && best.b1 > bLow && a[best.a1 - 1] === b[best.b1 - 1]) {
    best.a1--
    best.b1--
    best.size++
  }
  const [a1, b1] = [best.a1, best.b1]
  while (
    a1 + best.size < aHigh &&
    b1 + best.size < bHigh &&
    a[a1 + best.size] === b[b1 + best.size]
  )
    best.size++
  return best
}
