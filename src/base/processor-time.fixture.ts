/**
 * Measures the CPU time of some work. Unlike elapsed time, it does not depend on the load of the
 * machine.
 */
export function processorMs(work: () => void): number {
  const spentMs = processorClock()
  work()
  return spentMs()
}

/**
 * Measures the CPU time of asynchronous work. It starts now and returns a function for the time
 * used so far.
 */
export function processorClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
