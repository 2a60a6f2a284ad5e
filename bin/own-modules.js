/**
 * Where our own imports lead, and what is there: `#http/route.ts` and `./route.ts` are files under one root, and their form
 * is known. Node would ask the disk about each of some thousand at every start, and take longer over it than the server over
 * its own. Everything else (packages, Node's other modules, data) is Node's.
 */
import { registerHooks } from 'node:module'

/** Node's modules that load others when they are looked at as a whole, which an import does. */
const looselyTaken = new Set(['node:crypto', 'node:fs', 'node:http', 'node:util'])
const scheme = 'taken:'

/**
 * `root` is the URL of src/ or dist/, with a slash at its end. `sourceOf` gives the text of a path below it where Node could
 * not take it as it stands.
 */
export function resolveOwnModules(root, ending, beforeLoading, sourceOf) {
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
        if (url !== undefined) return { url, format: 'module', shortCircuit: true }
      }
      if (looselyTaken.has(specifier) && context.parentURL?.startsWith(root))
        return { url: scheme + specifier, format: 'module', shortCircuit: true }
      return next(specifier, context)
    },
    load(url, context, next) {
      if (url.startsWith(scheme)) return module(takenFrom(url.slice(scheme.length)))
      if (sourceOf === undefined || !url.startsWith(root) || !url.endsWith(ending))
        return next(url, context)
      try {
        return module(sourceOf(url.slice(root.length)))
      } catch {
        // A file that is not there, or is no TypeScript: Node says so better.
        return next(url, { ...context, format: 'module-typescript' })
      }
    },
  })
}

const module = (source) => ({ format: 'module', source, shortCircuit: true })

/** What is there at once; what would have to be loaded first is left out. */
function takenFrom(name) {
  const properties = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name))
  const names = Object.keys(properties).filter((key) => properties[key].get === undefined)
  return `const taken = process.getBuiltinModule('${name}')
export const { ${names.join(', ')} } = taken
export default taken
`
}
