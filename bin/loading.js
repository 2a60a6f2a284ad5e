/**
 * How our modules are loaded, from src/ in a checkout and from dist/ in an installed package: where imports lead, sources
 * without their types, and compiled code, both kept for the next start. What cannot be written is no error.
 */
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { resolveOwnModules } from './own-modules.js'

const at = (path) => new URL(path, import.meta.url)

/** `beforeLoading` is called before each module of ours. The result is the URL of the directory they are in. */
export async function prepareLoading(inCheckout, beforeLoading) {
  nodeModule.enableCompileCache(
    inCheckout ? fileURLToPath(at('../.node/compile-cache')) : undefined,
  )
  const root = at(inCheckout ? '../src/' : '../dist/')
  if (inCheckout) {
    const { KeptSources } = await import('./kept-sources.js')
    const place = fileURLToPath(at(`../.node/sources-${process.version}`))
    const kept = new KeptSources(place, fileURLToPath(root), withoutTypes)
    resolveOwnModules(root.href, '.ts', beforeLoading, (path) => kept.source(path))
  } else resolveOwnModules(root.href, '.js', beforeLoading)
  return root
}

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
