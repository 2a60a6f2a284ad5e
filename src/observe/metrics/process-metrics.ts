/**
 * Metrics of the process and its event loop, with the usual names for Node. Measured on each
 * scrape.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { gauge, type ValueFamily, counter } from './metric.ts'
import type { Registry } from './registry.ts'

/** Rarely measured, so that an idle server sleeps. */
const lagResolutionMs = 100

/** Returns a function that measures. */
export function processMeter(registry: Registry): () => void {
  const plain = (name: string, help: string, make: (name: string) => ValueFamily = gauge) =>
    registry.registerPlain(make(name), help).labels()
  const cpu = plain(
    'process_cpu_seconds_total',
    'User and system CPU time spent, in seconds.',
    counter,
  )
  const resident = plain('process_resident_memory_bytes', 'Resident memory, in bytes.')
  const virtual = plain('process_virtual_memory_bytes', 'Virtual memory, in bytes.')
  const virtualMax = plain(
    'process_virtual_memory_max_bytes',
    'Most virtual memory there may be, in bytes.',
  )
  const started = plain(
    'process_start_time_seconds',
    'When the process started, in seconds since 1970.',
  )
  const open = plain('process_open_fds', 'Open file descriptors.')
  const openMax = plain('process_max_fds', 'Most file descriptors that may be open.')
  const heap = plain('nodejs_heap_size_total_bytes', 'Heap that V8 has reserved, in bytes.')
  const heapUsed = plain('nodejs_heap_size_used_bytes', 'Heap in use, in bytes.')
  const external = plain(
    'nodejs_external_memory_bytes',
    'Memory of buffers outside of the heap, in bytes.',
  )
  const lag = registerLag(registry)
  const version = registry.registerPlain(
    gauge('nodejs_version_info', 'version'),
    'The version of Node.',
  )
  version.labels(process.version).set(1)
  started.set(performance.timeOrigin / 1000)
  const limits = fileText('/proc/self/limits')
  const spaceMax = /Max address space\s+(\d+)/.exec(limits)?.[1]
  virtualMax.set(spaceMax === undefined ? 2 ** 64 : Number(spaceMax))
  openMax.set(Number(/Max open files\s+(\d+)/.exec(limits)?.[1] ?? 0))
  return () => {
    const { user, system } = process.cpuUsage()
    cpu.set((user + system) / 1e6)
    const memory = memoryUsage()
    if (memory !== undefined) {
      resident.set(memory.rss)
      heap.set(memory.heapTotal)
      heapUsed.set(memory.heapUsed)
      external.set(memory.external)
    }
    virtual.set(Number(/VmSize:\s+(\d+)/.exec(fileText('/proc/self/status'))?.[1] ?? 0) * 1024)
    open.set(descriptorCount())
    lag()
  }
}

/** Linux reports it in a file, which a process without a free descriptor cannot open. */
function memoryUsage(): NodeJS.MemoryUsage | undefined {
  try {
    return process.memoryUsage()
  } catch {
    return undefined
  }
}

/**
 * How late timers fire. Each page covers the time since the previous page; the first one shows 0. A
 * histogram of Node takes 360 KiB, so only servers whose metrics are read have one.
 */
function registerLag(registry: Registry): () => void {
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined
  const of = (part: string, help: string) =>
    registry.registerPlain(gauge(`nodejs_eventloop_lag_${part}seconds`), help).labels()
  const mean = of('mean_', 'Mean delay of the event loop since the last look, in seconds.')
  const max = of('max_', 'Longest delay of the event loop since the last look, in seconds.')
  const quantiles = [50, 90, 99].map(
    (percent) =>
      [
        percent,
        of(`p${percent}_`, `Delay of the event loop, quantile ${percent}, in seconds.`),
      ] as const,
  )
  const busy = registry
    .registerPlain(gauge('nodejs_eventloop_utilization'), 'Share of time the event loop was busy.')
    .labels()
  let before: EventLoopUtilization | undefined
  return () => {
    // A timer that fires in time counts as no delay.
    const seconds = (nanoseconds: number) =>
      Math.max(0, nanoseconds / 1e9 - lagResolutionMs / 1000) || 0
    if (delay === undefined) {
      delay = monitorEventLoopDelay({ resolution: lagResolutionMs })
      delay.enable()
    }
    mean.set(seconds(delay.mean))
    max.set(seconds(delay.max))
    for (const [percent, child] of quantiles) child.set(seconds(delay.percentile(percent)))
    delay.reset()
    const now = performance.eventLoopUtilization()
    busy.set(
      before === undefined
        ? now.utilization
        : performance.eventLoopUtilization(now, before).utilization,
    )
    before = now
  }
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function descriptorCount(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
