/**
 * What only the start needed is let go as soon as there is nothing else to do, down to pages the engine would keep for
 * a while; a server that is never quiet does it anyway.
 */
const lookMs = 100
const quietShare = 0.3
const latestMs = 15_000

export function giveMemoryBack() {
  const collect = globalThis.gc
  if (collect === undefined) return
  const beganAt = performance.now()
  let seen = performance.eventLoopUtilization()
  const look = () => {
    const { utilization } = performance.eventLoopUtilization(seen)
    seen = performance.eventLoopUtilization()
    if (utilization < quietShare || performance.now() - beganAt > latestMs)
      collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    else setTimeout(look, lookMs).unref()
  }
  setTimeout(look, lookMs).unref()
}
