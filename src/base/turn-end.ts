/**
 * The end of a turn of the event loop, once for all who have something to do there: answers leave, watches are told what
 * happened, they look at it, and what they wrote leaves. Whoever wrote and waits for its answer is not kept waiting by
 * those who watch.
 */

type Action = () => void

let writing: Action[] = []
let telling: Action[] = []
let looking: Action[] = []
let isPlanned = false

/** Something is to be written. */
export function writeAtTurnEnd(write: Action): void {
  writing.push(write)
  plan()
}

/** Something happened that others are to be told. */
export function tellAtTurnEnd(tell: Action): void {
  telling.push(tell)
  plan()
}

/** Somebody was told, and looks at everything that came together. */
export function lookAtTurnEnd(look: Action): void {
  looking.push(look)
  plan()
}

function plan(): void {
  if (isPlanned) return
  isPlanned = true
  setImmediate(endTurn)
}

function endTurn(): void {
  try {
    write()
    const tells = telling
    telling = []
    runAll(tells)
    const looks = looking
    looking = []
    runAll(looks)
  } finally {
    isPlanned = false
  }
  // Whoever has more to write than goes at once does so in the next turn.
  write()
  if (telling.length > 0 || looking.length > 0) plan()
}

function write(): void {
  const writes = writing
  writing = []
  runAll(writes)
}

function runAll(actions: readonly Action[]): void {
  for (let i = 0; i < actions.length; i++) (actions[i] as Action)()
}
