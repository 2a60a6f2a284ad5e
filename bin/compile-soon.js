/**
 * The server's code is compiled soon. The engine waits for some hundred calls of a function, and of those on the way of a
 * request most are called once for each: the first five hundred requests would take a tenth longer. A start, which writes some
 * two hundred objects, is practice enough for half of them. The best compiler, which takes long, keeps its usual patience.
 */
import { setFlag } from './engine-flags.js'

/** The flag, what it is unless told otherwise in engines that are known, and what it is here. */
export const soonFlags = [
  ['invocation-count-for-maglev', 400, 50],
  ['minimum-invocations-after-ic-update', 500, 20],
]
const isKnown = /^1[34]\./.test(process.versions.v8)

export function compileSoon() {
  // Node loads this by itself when a server first listens, and would refuse the compiled code that it has of it.
  process.getBuiltinModule('node:cluster')
  if (isKnown) for (const [name, usual, soon] of soonFlags) setFlag(name, usual, soon)
}
