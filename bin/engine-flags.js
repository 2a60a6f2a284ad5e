/**
 * Flags of the engine that are changed while it runs. Compiled code that was kept is taken by an engine with the flags it was
 * compiled under, and by no other: while something is loaded they are what they were at the start.
 */
import { setFlagsFromString } from 'node:v8'

/** A thread loads its modules by itself, and says nothing when it has. */
const threadLoadsMs = 500

const wanted = new Map()
let holds = 0
let isLoading = false

const write = (name, value) => setFlagsFromString(`--${name}=${value}`)

/** `usual` is what the flag was at the start. */
export function setFlag(name, usual, value) {
  if ((wanted.get(name)?.value ?? usual) === value) return
  wanted.set(name, { usual, value })
  if (holds === 0) write(name, value)
}

function hold() {
  if (holds++ === 0) for (const [name, { usual }] of wanted) write(name, usual)
}

function release() {
  if (--holds === 0) for (const [name, { value }] of wanted) write(name, value)
}

/** Node finds, reads and compiles a module without a wait in between, whether it is required or imported. */
export function beforeLoading() {
  if (isLoading) return
  isLoading = true
  hold()
  queueMicrotask(() => {
    isLoading = false
    release()
  })
}

export function beforeThread() {
  hold()
  setTimeout(release, threadLoadsMs).unref()
}
