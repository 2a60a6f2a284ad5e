/**
 * Runs garbage collection while the server is idle: after its start, and after work that used
 * memory. V8 alone would keep these pages. docs/decisions/memory.md has measurements.
 * BINNACLE_COLLECT_WHEN_IDLE=off disables it.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEveryMs = 750
const idleShare = 0.2
/** The pause is not worthwhile for less growth than this, or if the last collection was recent. */
const grownBytesMin = 24 * 1024 * 1024
const pauseMsMin = 10_000
/** A collection of a larger heap stops requests for longer than they should wait. */
const heapBytesMax = 96 * 1024 * 1024

export function collectWhenIdle(): void {
  if (process.env['BINNACLE_COLLECT_WHEN_IDLE'] === 'off') return
  const collect = collector()
  let seen = performance.eventLoopUtilization()
  let lastAt = Number.NEGATIVE_INFINITY
  let bytesAfter = 0
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(seen)
    seen = performance.eventLoopUtilization()
    if (utilization > idleShare || performance.now() - lastAt < pauseMsMin) return
    const bytes = residentBytes()
    if (bytes < bytesAfter + grownBytesMin) return
    if (getHeapStatistics().used_heap_size > heapBytesMax) return
    collect()
    lastAt = performance.now()
    bytesAfter = residentBytes()
    seen = performance.eventLoopUtilization()
  }, lookEveryMs).unref()
}

/**
 * Linux reports it in a file. A process without a free descriptor cannot open the file; then
 * nothing is collected.
 */
function residentBytes(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return 0
  }
}

/**
 * Only a context that is created with the V8 flag has the function; the server's own code never
 * sees it.
 */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as NodeJS.GCFunction
  setFlagsFromString('--no-expose-gc')
  // 'last-resort' also drops compiled code that nothing has used for a while.
  return () => void gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
