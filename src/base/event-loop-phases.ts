/**
 * The phases at the end of a turn of the event loop. They send responses, notify watches, let
 * watches read the changes, and send what the watches wrote. A client that waits for the response
 * to its write does not wait for the watchers of that write.
 */

type Action = () => void

let writing: Action[] = []
let notifying: Action[] = []
let reading: Action[] = []
let isPlanned = false

/** Runs `write` in the phase that sends responses. */
export function runInWritePhase(write: Action): void {
  writing.push(write)
  plan()
}

/** Runs `notify` in the phase that notifies listeners of changes. */
export function runInNotifyPhase(notify: Action): void {
  notifying.push(notify)
  plan()
}

/** Runs `read` in the phase in which listeners read all changes together. */
export function runInReadPhase(read: Action): void {
  reading.push(read)
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
    const notifications = notifying
    notifying = []
    runAll(notifications)
    const reads = reading
    reading = []
    runAll(reads)
  } finally {
    isPlanned = false
  }
  // An action that did not finish its writes continues in the next turn.
  write()
  if (notifying.length > 0 || reading.length > 0) plan()
}

function write(): void {
  const writes = writing
  writing = []
  runAll(writes)
}

function runAll(actions: readonly Action[]): void {
  for (let i = 0; i < actions.length; i++) (actions[i] as Action)()
}
