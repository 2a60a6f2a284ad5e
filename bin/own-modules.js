/**
 * Where our own imports lead: `#http/route.ts` and `./route.ts` are files under one root, and their form is known. Node
 * would ask the disk about each of some thousand at every start, and take longer over it than the server over its own.
 * Everything else (packages, Node's modules, data) is resolved by Node.
 */
import { registerHooks } from 'node:module'

/** `root` is the URL of src/ or dist/, with a slash at its end. */
export function resolveOwnModules(root, ending, format, beforeLoading) {
  const urlOf = (specifier, parent) => {
    if (specifier.startsWith('#')) return root + specifier.slice(1)
    if (specifier.startsWith('./') && parent?.startsWith(root))
      return parent.slice(0, parent.lastIndexOf('/')) + specifier.slice(1)
    return undefined
  }
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.endsWith(ending)) {
        beforeLoading()
        const url = urlOf(specifier, context.parentURL)
        if (url !== undefined) return { url, format, shortCircuit: true }
      }
      return next(specifier, context)
    },
  })
}
