/**
 * Loads rarely used modules on first use, so that the start stays fast. The path has no extension;
 * the module has the extension of its importer. A name without `./` or `#` is a package. The
 * release step replaces this file, because a bundle contains all modules
 * (`tools/release/bundle.ts`).
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
