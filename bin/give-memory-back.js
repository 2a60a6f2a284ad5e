/**
 * What is no longer needed goes back to the system when there is nothing else to do: after the start, and whenever work
 * that took much memory is over. The engine by itself would keep emptied pages, and take its time to look.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setFlag } from './engine-flags.js'

/** Half a second of quiet is the end of some work, and the next has not begun: a search that comes now disturbs neither. */
const lookMs = { first: 40, later: 500 }
/** Once as soon as possible, and once more when what starts after the start has started. */
const firstTimes = 2
const firstPauseMs = 2000
const quietShare = 0.2
/** A server that is never quiet gives back what its start needed all the same. */
const firstLatestMs = 15_000
/** Less than this, or sooner after the last time, is not worth the pause. */
const grownBytesMin = 24 * 1024 * 1024
const pauseMsMin = 10_000
/** Looking through a larger heap takes longer than anybody should wait; there the engine's own pace is kept. */
const heapBytesMax = 96 * 1024 * 1024

/** By how much the heap may grow before garbage is looked for: by half, and by so much in any case. */
const growthPercentMin = 50
const growthBytesMin = 24 * 1024 * 1024

const growthAsTheEngineLikes = 0

/** How much of a heap is usually left of it when its garbage is gone. */
const liveShare = 0.7

/**
 * The engine knows shares only, and a share of a small heap would have it look again and again. Said at each look: a
 * heap that has become large is not to be measured by what it was.
 */
function setGrowth(usedShare = 1) {
  const share = growthBytesMin / (usedShare * getHeapStatistics().used_heap_size)
  const percent = Math.max(growthPercentMin, Math.round(100 * share))
  setFlag('heap-growing-percent', growthAsTheEngineLikes, percent)
}

/** The system tells it by a file, which a process that has no descriptor left cannot open: then there is nothing to compare. */
function residentBytes() {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}

/** Only a context made under the flag has it; as a flag of the whole process it would cost each start a tenth. */
function searchForGarbage() {
  setFlagsFromString('--expose-gc')
  const search = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return search
}

export function giveMemoryBack() {
  const collect = searchForGarbage()
  let seen = performance.eventLoopUtilization()
  let times = 0
  let lastAt = performance.now()
  let bytesAfter = 0
  const isDue = (isQuiet) => {
    const passedMs = performance.now() - lastAt
    if (times < firstTimes)
      return (isQuiet && passedMs > times * firstPauseMs) || passedMs > firstLatestMs
    return isQuiet && passedMs > pauseMsMin && residentBytes() > bytesAfter + grownBytesMin
  }
  const look = () => {
    setGrowth()
    const { utilization } = performance.eventLoopUtilization(seen)
    if (isDue(utilization < quietShare) && getHeapStatistics().used_heap_size < heapBytesMax) {
      // What is measured by the garbage before it leaves no room for the next work: the search would begin with it.
      setGrowth(liveShare)
      // Later on the compiled code that looks unused is about to be used again: it is left alone.
      const flavor = times === 0 ? 'last-resort' : 'regular'
      collect({ type: 'major', execution: 'sync', flavor })
      times++
      lastAt = performance.now()
      bytesAfter = residentBytes() ?? bytesAfter
    }
    // The collection itself is no sign that the server is busy.
    seen = performance.eventLoopUtilization()
    setTimeout(look, times < firstTimes ? lookMs.first : lookMs.later).unref()
  }
  setTimeout(look, lookMs.first).unref()
}
