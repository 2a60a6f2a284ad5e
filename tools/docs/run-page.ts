/**
 * Runs the commands of a page in a folder of its own, in one shell, and compares what they print.
 * `binnacle` and `npm start` are this checkout on free ports: 6443 and 6444 of the page are mapped
 * to them and back. Servers end with the page.
 *
 *   node tools/run.mjs file tools/docs/run-page.ts docs/operate.md
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import memory from '../memory-settings.json' with { type: 'json' }
import { type ConsoleCommand, consoleCommands, matches } from './console-blocks.ts'

const root = resolve(import.meta.dirname, '../..')
/** `npm run release` takes half a minute on a machine with nothing else to do. */
const commandMsMax = 300_000
const serverMsMax = 120_000
const lookMs = 50

export interface PageReport {
  readonly ran: number
  /** Programs that are not on this machine; their blocks were left out. */
  readonly missing: readonly string[]
  readonly problems: readonly string[]
}

/** The ports that pages name, and those that their servers get. */
async function portsOf(): Promise<Map<string, string>> {
  const free = async () => {
    const probe = createServer()
    await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening))
    const { port } = probe.address() as { port: number }
    await new Promise((closed) => probe.close(closed))
    return String(port)
  }
  const named = ['6443', '6444', '2379', '2380', '8001', '8080']
  return new Map(await Promise.all(named.map(async (port) => [port, await free()] as const)))
}

const mapped = (text: string, ports: ReadonlyMap<string, string>) =>
  text.replaceAll(/\b\d{4,5}\b/g, (number) => ports.get(number) ?? number)

/** The npm beside this Node, or that on the PATH: the one that is fetched into .node/ has none. */
function npmOfMachine(): string {
  const beside = join(dirname(process.execPath), 'npm')
  if (existsSync(beside)) return beside
  return spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
}

/** What a clone has not: made by commands, or not wanted in a copy. */
const madeHere = new Set(['.git', '.node', 'node_modules', 'bundle', 'dist', 'binnacle-data'])

/** The files of the checkout: linked, or copied for pages whose commands write beside them. */
function makeCheckout(folder: string, isCopy: boolean): void {
  for (const name of readdirSync(root)) {
    if (madeHere.has(name) || name.endsWith('.tgz')) continue
    if (isCopy) cpSync(join(root, name), join(folder, name), { recursive: true })
    else symlinkSync(join(root, name), join(folder, name))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

/** Programs of the page, before those of the machine. */
function makePrograms(folder: string, ports: ReadonlyMap<string, string>): string {
  const programs = join(folder, '.programs')
  mkdirSync(programs)
  const put = (name: string, lines: string[]) => {
    writeFileSync(join(programs, name), ['#!/bin/bash', ...lines, ''].join('\n'))
    chmodSync(join(programs, name), 0o755)
  }
  const node = [process.execPath, ...memory.engineFlags, join(root, 'bin', 'binnacle.js')]
  put('binnacle', [
    `case " $* " in *" --secure-port"*|*" help"*|*"-version "*) ;; *) set -- "$@" --secure-port=${ports.get('6443')};; esac`,
    `exec ${node.join(' ')} "$@"`,
  ])
  put('npm', [
    'if [ "$1" = start ]; then shift; [ "$1" = -- ] && shift; exec binnacle "$@"; fi',
    `exec ${npmOfMachine()} "$@"`,
  ])
  if (helm !== 'helm') put('helm', [`exec ${helm} "$@"`])
  return programs
}

/** Go keeps what it compiled in the real home: client-go takes minutes. */
function goCaches(): NodeJS.ProcessEnv {
  const names = ['GOCACHE', 'GOMODCACHE']
  const { status, stdout } = spawnSync('go', ['env', ...names], { encoding: 'utf8' })
  if (status !== 0) return {}
  const values = stdout.split('\n')
  return Object.fromEntries(names.map((name, at) => [name, values[at]]))
}

const marker = '__end_of_command__'

class Shell {
  readonly #child: ChildProcess
  #output = ''

  constructor(folder: string, programs: string) {
    const path = [programs, dirname(process.execPath), process.env['PATH']].join(delimiter)
    const own = { PATH: path, HOME: folder, TERM: 'dumb', KUBECONFIG: '' }
    const env = { ...process.env, ...goCaches(), ...own }
    // What belongs to the test that runs the page; authorities of the machine stay.
    for (const name of Object.keys(env))
      if (/^npm_|^NODE_(?!EXTRA_CA_CERTS)/.test(name)) delete (env as NodeJS.ProcessEnv)[name]
    this.#child = spawn('bash', ['--norc'], { cwd: folder, env, detached: true })
    // Its group is its own: it would outlive this process.
    process.once('exit', () => this.end())
    this.#child.stdout?.on('data', (chunk) => (this.#output += chunk))
    this.#child.stderr?.on('data', (chunk) => (this.#output += chunk))
  }

  /** What the command printed, and the code it ended with. */
  async run(command: string): Promise<{ output: string; code: number }> {
    this.#output = ''
    this.#child.stdin?.write(`{ ${command}\n} 2>&1; echo "${marker} $?"\n`)
    const end = new RegExp(`^([\\s\\S]*)${marker} (\\d+)\\n`)
    for (const until = Date.now() + commandMsMax; Date.now() < until; await sleep(lookMs)) {
      const found = end.exec(this.#output)
      if (found !== null) return { output: found[1] ?? '', code: Number(found[2]) }
    }
    return { output: `${this.#output}\n(no end after ${commandMsMax} ms)`, code: 1 }
  }

  /** The shell and everything that it started. */
  end(): void {
    try {
      process.kill(-this.#child.pid!, 'SIGKILL')
    } catch {
      // All have ended.
    }
  }
}

export async function runPage(
  path: string,
  watch?: (command: ConsoleCommand, code: number) => void,
): Promise<PageReport> {
  const page = readFileSync(path, 'utf8')
  const commands = consoleCommands(page)
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-page-'))
  const ports = await portsOf()
  const back = new Map([...ports].map(([named, port]) => [port, named]))
  makeCheckout(folder, /^\$ (npm (run|pack)|node tools)\b/m.test(page))
  const shell = new Shell(folder, makePrograms(folder, ports))
  const missing = new Set<string>()
  const problems: string[] = []
  let ran = 0
  try {
    for (const one of commands) {
      const absent = (one.needs ?? []).filter((program) => !isThere(program))
      for (const program of absent) missing.add(program)
      if (absent.length > 0) continue
      for (const { path: name, text } of one.files ?? []) writeIn(folder, name, mapped(text, ports))
      const { output, code } = await runOne(shell, folder, mapped(one.command, ports), one, back)
      ran++
      watch?.(one, code)
      const shown = mapped(output, back).replaceAll(folder, '/home/you')
      if (code !== 0 || !matches(shown, one.expected))
        problems.push(`${path}:${one.line}: ${one.command}\n${indented(shown)} (code ${code})`)
    }
  } finally {
    shell.end()
    rmSync(folder, { recursive: true, force: true })
  }
  return { ran, missing: [...missing], problems }
}

const indented = (text: string) => text.trimEnd().replaceAll(/^/gm, '    ')

function writeIn(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

const helm = process.env['BINNACLE_HELM'] ?? 'helm'
const answers = (command: string) =>
  spawnSync('sh', ['-c', command], { stdio: 'ignore' }).status === 0

/** What is more than a program on the PATH. */
const conditions: Readonly<Record<string, string>> = {
  docker: 'docker ps',
  helm: `${helm} version`,
  registry: 'curl -sfI --max-time 10 "$(npm config get registry)"',
  pypi: 'python3 -c "import ensurepip, venv" && timeout 60 python3 -m pip index versions kubernetes',
}
const known = new Map<string, boolean>()

function isThere(program: string): boolean {
  const found = known.get(program) ?? answers(conditions[program] ?? `command -v ${program}`)
  known.set(program, found)
  return found
}

/** A server on a busy machine may warn of what takes long; pages show what it prints itself. */
const withoutLog = (text: string) => text.replaceAll(/^\d{4}-\S+Z (?:info|warn) .*\n/gm, '')

async function runOne(
  shell: Shell,
  folder: string,
  command: string,
  { isServer, expected, line }: ConsoleCommand,
  back: ReadonlyMap<string, string>,
): Promise<{ output: string; code: number }> {
  // Where its output is in a file of the page, there is nothing to wait for.
  if (!isServer || / > \S+( 2>&1)? &$/.test(command)) return shell.run(command)
  const file = join(folder, `.output-${line}`)
  await shell.run(`${command.slice(0, -2)} > ${file} 2>&1 &`)
  const read = () => (existsSync(file) ? withoutLog(readFileSync(file, 'utf8')) : '')
  for (const until = Date.now() + serverMsMax; Date.now() < until; await sleep(lookMs)) {
    const shown = mapped(read(), back).replaceAll(folder, '/home/you')
    if (matches(shown, expected)) break
  }
  return { output: read(), code: 0 }
}

if (import.meta.main) {
  process.once('SIGTERM', () => process.exit(1))
  const watch = ({ line, command }: ConsoleCommand, code: number) =>
    void process.stderr.write(`${line}: ${command.split('\n')[0]} (code ${code})\n`)
  for (const path of process.argv.slice(2)) {
    const { ran, missing, problems } = await runPage(path, watch)
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    const left = missing.length === 0 ? '' : `; without ${missing.join(', ')}`
    process.stdout.write(`${path}: ${ran} commands, ${problems.length} problems${left}\n`)
    if (problems.length > 0) process.exitCode = 1
  }
}
