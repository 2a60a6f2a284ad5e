/**
 * The first code of the single executable. Everything is inside: the server's bundle, what the engine compiled of it on the
 * build machine, and the data. Run by a plain Node with a folder instead, it compiles the bundle and writes the compiled code.
 */
'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const sea = require('node:sea')
const vm = require('node:vm')

/** `read` gives the bytes of a file of the bundle, or undefined. */
function load(read, folder) {
  const filename = join(folder, 'server.cjs')
  const code = `(function (exports, require, module, __filename, __dirname) {${read('server.cjs')}\n})`
  const cachedData = read('server.cache')
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const script = new vm.Script(code, { filename, cachedData, importModuleDynamically })
  if (script.cachedDataRejected) process.emitWarning('the compiled code in this executable is of no use')
  const module = { exports: {} }
  script.runInThisContext()(module.exports, require, module, filename, folder)
  return { script, main: module.exports.main }
}

/** A start compiles what the next one needs; `write` is called when it has had time for that. */
async function compile(folder, to, args) {
  const { script, main } = load((name) => (name === 'server.cjs' ? readFileSync(join(folder, name)) : undefined), folder)
  await main(args)
  setTimeout(() => {
    writeFileSync(to, script.createCachedData())
    process.kill(process.pid, 'SIGTERM')
  }, 1000)
}

if (sea.isSea()) {
  const { main } = load((name) => Buffer.from(sea.getRawAsset(name)), __dirname)
  main(process.argv.slice(2))
} else {
  const [folder, to, ...args] = process.argv.slice(2)
  compile(folder, to, args)
}
