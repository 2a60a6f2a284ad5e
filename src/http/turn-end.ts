/**
 * The end of a turn of the event loop, once for all who have something to do there: answers leave, then watches look at
 * what happened, then what they wrote leaves. Whoever wrote and waits for its answer is not kept waiting by those who watch.
 */

let writers: (() => void)[] = []
let watches: (() => void)[] = []
let isPlanned = false

/** Something is to be written. */
export function writeAtTurnEnd(write: () => void): void {
  writers.push(write)
  plan()
}

/** Something happened that watches are to be told. */
export function lookAtTurnEnd(look: () => void): void {
  watches.push(look)
  plan()
}

function plan(): void {
  if (isPlanned) return
  isPlanned = true
  setImmediate(endTurn)
}

function endTurn(): void {
  try {
    runAll(takeWriters())
    runAll(takeWatches())
  } finally {
    isPlanned = false
  }
  // Whoever has more to write than goes at once does so in the next turn.
  runAll(takeWriters())
  if (watches.length > 0) plan()
}

function takeWriters(): (() => void)[] {
  const all = writers
  writers = []
  return all
}

function takeWatches(): (() => void)[] {
  const all = watches
  watches = []
  return all
}

function runAll(all: readonly (() => void)[]): void {
  for (let i = 0; i < all.length; i++) (all[i] as () => void)()
}
