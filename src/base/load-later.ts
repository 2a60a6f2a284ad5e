/**
 * Modules that most servers never need, or not at once, loaded when first used: start-up must not grow with what the
 * server can do. The path has no ending; the module has that of its importer, `.ts` in a checkout and `.js` in a package.
 */
import { createRequire } from 'node:module'
import { extname } from 'node:path'

export function loadLater<Module>(importer: string, path: string): () => Module {
  let loaded: Module | undefined
  return () => {
    loaded ??= createRequire(importer)(path + extname(importer)) as Module
    return loaded
  }
}
