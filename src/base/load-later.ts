/**
 * Modules that most servers never need, or not at once, loaded when first used: start-up must not
 * grow with what the server can do. The path has no ending; the module has that of its importer. A
 * name without `./` or `#` is a package. The release step replaces this file: a bundle has its
 * modules inside (`tools/release/bundle.ts`).
 */
import { createRequire } from 'node:module'
import { extname } from 'node:path'

export function loadLater<Module>(importer: string, path: string): () => Module {
  const isOurs = /^[.#]/.test(path)
  let loaded: Module | undefined
  return () => {
    loaded ??= createRequire(importer)(isOurs ? path + extname(importer) : path) as Module
    return loaded
  }
}
