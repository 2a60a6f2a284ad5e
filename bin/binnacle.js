#!/usr/bin/env node
/**
 * The `binnacle` command. A checkout runs its sources as they are, because Node removes the types.
 * An installed package runs the bundle that the release step made. Node keeps the compiled code for
 * the next start; everything else is in src/main.ts.
 */
import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const at = (path) => new URL(path, import.meta.url)
const inCheckout = existsSync(at('../src/main.ts'))
const args = process.argv.slice(2)
const [major] = process.versions.node.split('.').map(Number)

/** A process that is killed writes no cache at its end. */
const flushAfterMs = 2000

if (major >= (inCheckout ? 26 : 24)) {
  const cache = inCheckout ? fileURLToPath(at('../.node/compile-cache')) : undefined
  nodeModule.enableCompileCache(cache)
  const { main } = inCheckout
    ? await import(at('../src/main.ts').href)
    : nodeModule.createRequire(import.meta.url)('../bundle/server.cjs')
  await main(args)
  setTimeout(() => nodeModule.flushCompileCache(), flushAfterMs).unref()
} else if (inCheckout) {
  // The launcher of a checkout fetches the Node that is needed.
  const { main } = await import(at('../tools/run.mjs').href)
  process.exitCode = await main(['start', ...args])
} else {
  process.stderr.write(
    `binnacle: needs Node 24 or later, and this is ${process.versions.node}: install a newer Node (https://nodejs.org), ` +
      'or use the single executable, which needs none\n',
  )
  process.exitCode = 1
}
