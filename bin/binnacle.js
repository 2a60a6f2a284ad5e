#!/usr/bin/env node
/**
 * The `binnacle` command. In a checkout it runs the sources as they are (Node strips the types), in an
 * installed package what the release step left in dist/. It decides nothing else: src/main.ts does.
 */
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

// Imported, it would bring all of its streams and promises, twice. A Node that cannot give it so is told below that it is too old.
const { existsSync } = process.getBuiltinModule?.('node:fs') ?? (await import('node:fs'))
const inCheckout = existsSync(new URL('../src/main.ts', import.meta.url))

const [major] = process.versions.node.split('.').map(Number)
const majorWanted = inCheckout ? 26 : 24
if (major < majorWanted) {
  process.stderr.write(
    `binnacle: needs Node ${majorWanted} or later and this is ${process.versions.node}` +
      `${inCheckout ? '; `npm start` fetches it by itself' : ''}\n`,
  )
  process.exit(1)
}

// Memory is given back soon. Node and the C library take this only at their own start, so the process begins once more, as
// itself, before anything is loaded; unless whoever started it did so already, or profiles it: the profiler's signals would
// end the process that it becomes.
const isProfiled = `${process.execArgv} ${process.env.NODE_OPTIONS}`.includes('--cpu-prof')
if (process.execve !== undefined && process.env.BINNACLE_BEGUN === undefined && !isProfiled) {
  const { memoryFlags, withMemorySettings } = await import('./memory-settings.js')
  const script = fileURLToPath(import.meta.url)
  process.execve(
    process.execPath,
    [process.execPath, ...memoryFlags, ...process.execArgv, script, ...process.argv.slice(2)],
    withMemorySettings(process.env),
  )
}
delete process.env.BINNACLE_BEGUN

// An older Node cannot even load these: it was told so above.
const { prepareLoading } = await import('./loading.js')
const { beforeLoading, beforeThread } = await import('./engine-flags.js')
const { compileSoon } = await import('./compile-soon.js')
const { giveMemoryBack } = await import('./give-memory-back.js')
const root = await prepareLoading(inCheckout, beforeLoading)
const { main } = await import(new URL(inCheckout ? 'main.ts' : 'main.js', root).href)
process.on('worker', beforeThread)
await main(process.argv.slice(2), compileSoon)

giveMemoryBack()

// Node writes the cache when a process exits by itself; one that is killed would never leave any.
setTimeout(() => nodeModule.flushCompileCache(), 2000).unref()
