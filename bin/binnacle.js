#!/usr/bin/env node
/**
 * The `binnacle` command. In a checkout it runs the sources as they are (Node strips the types), in an
 * installed package what the release step left in dist/. It decides nothing else: src/main.ts does.
 */
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

// Imported, it would bring all of its streams and promises, twice. A Node that cannot give it so is told below that it is too old.
const { existsSync } = process.getBuiltinModule?.('node:fs') ?? (await import('node:fs'))
const source = new URL('../src/main.ts', import.meta.url)
const built = new URL('../dist/main.js', import.meta.url)
const inCheckout = existsSync(source)

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
// itself, before anything is loaded; unless whoever started it did so already.
if (process.execve !== undefined && process.env.BINNACLE_BEGUN === undefined) {
  const { memoryFlags, withMemorySettings } = await import('./memory-settings.js')
  const script = fileURLToPath(import.meta.url)
  process.execve(
    process.execPath,
    [process.execPath, ...memoryFlags, ...process.execArgv, script, ...process.argv.slice(2)],
    withMemorySettings(process.env),
  )
}
delete process.env.BINNACLE_BEGUN

/** Node says at its first use that this may change; it does the same to sources it loads by itself, without a word. */
function withoutTypes(text) {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return nodeModule.stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emitWarning
  }
}

// Code without its types, compiled, is kept for the next start. A cache that cannot be written is no error.
nodeModule.enableCompileCache(
  inCheckout ? fileURLToPath(new URL('../.node/compile-cache', import.meta.url)) : undefined,
)
const entry = inCheckout ? source : built
// An older Node cannot even load this: it was told so above.
const { resolveOwnModules } = await import('./own-modules.js')
const { beforeLoading, giveMemoryBack } = await import('./give-memory-back.js')
const root = new URL('.', entry)
if (inCheckout) {
  const { KeptSources } = await import('./kept-sources.js')
  const place = new URL(`../.node/sources-${process.version}`, import.meta.url)
  const kept = new KeptSources(fileURLToPath(place), fileURLToPath(root), withoutTypes)
  resolveOwnModules(root.href, '.ts', beforeLoading, (path) => kept.source(path))
} else {
  resolveOwnModules(root.href, '.js', beforeLoading)
}
const { main } = await import(entry.href)
await main(process.argv.slice(2))

giveMemoryBack()

// Node writes the cache when a process exits by itself; one that is killed would never leave any.
setTimeout(() => nodeModule.flushCompileCache(), 2000).unref()
