/**
 * What some work costs, as time of the processor: the same on a machine that has other things to
 * do.
 */
export function processorMs(work: () => void): number {
  const spentMs = processorClock()
  work()
  return spentMs()
}

/** The same of work that is waited for: starts now, and says how much it has cost so far. */
export function processorClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
