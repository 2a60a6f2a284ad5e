/**
 * The map and the code agree. Layers, names, sizes, the absences that ARCHITECTURE.md promises, and
 * the pages that every dependency owes. All are read from the tree as it is and compared. Nothing
 * here runs the server. A failing check names every offender, so that one run is enough to mend
 * them.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { kindRows, placeOf } from '#kinds/registry.ts'
import { flagTable } from '#settings/flag-table.ts'
import { settingName } from '#settings/flags.ts'
import { forgivenChanges, untestedChanges } from '../tools/boundary-tests.ts'

const root = resolve(import.meta.dirname, '..')
const fileLinesMax = 600
const fileLinesP95Max = 400

interface Source {
  /** From the root of the repository: `src/http/route.ts`. */
  path: string
  text: string
  /** The folder of src/ it belongs to; `main` for src/main.ts; '' outside src/. */
  folder: string
  /** Tests, suites and benchmarks: they may look anywhere and be as long as they must. */
  isTest: boolean
  imports: Import[]
}

interface Import {
  specifier: string
  typeOnly: boolean
  /**
   * By a statement, so that it is loaded with its importer; else by a call, when that is reached.
   */
  atOnce: boolean
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const skipped = /(^|\/)(node_modules|dist|\.node|\.git)(\/|$)/

function filesUnder(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !skipped.test(path))
    .sort()
}

/** Comments and strings blanked, so that words inside them are not taken for code. */
function codeOf(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g,
    (part) => (part.startsWith('/') ? ' ' : "''"),
  )
}

function importsOf(text: string): Import[] {
  const found: Import[] = []
  const code = text.replace(/\/\*[\s\S]*?\*\//g, ' ').replace(/^\s*\/\/[^\n]*/gm, ' ')
  const statement =
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"\n]+)['"]/g
  for (const match of code.matchAll(statement))
    found.push({ specifier: match[2] as string, typeOnly: match[1] !== undefined, atOnce: true })
  for (const match of code.matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]/g))
    found.push({ specifier: match[1] as string, typeOnly: false, atOnce: false })
  return found
}

function sourceOf(path: string): Source {
  const text = read(path)
  const parts = path.split('/')
  const folder = parts[0] !== 'src' ? '' : parts.length === 2 ? 'main' : (parts[1] as string)
  const isTest = /\.(test|suite|bench|child|fixture)\.ts$/.test(path)
  return { path, text, folder, isTest, imports: importsOf(text) }
}

const sources = filesUnder('src')
  .filter((path) => path.endsWith('.ts'))
  .map(sourceOf)
const program = sources.filter((source) => !source.isTest)
/** What is not part of the server and uses parts of it. */
const toolSources = ['tools', 'conformance', 'benchmarks', 'bin', 'examples']
  .flatMap(filesUnder)
  .filter((path) => /\.(ts|mjs|js)$/.test(path))
  .map(sourceOf)
const packageJson = JSON.parse(read('package.json'))
const architecture = read('ARCHITECTURE.md')
const foldersOnDisk = readdirSync(join(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

/** The layer of each folder, as the table of ARCHITECTURE.md has it. */
const layers = new Map<string, number>()
for (const row of architecture.matchAll(/^\| (\d+) \| ([a-z, ]+) \|/gm))
  for (const folder of (row[2] as string).split(', ')) layers.set(folder.trim(), Number(row[1]))

/** Fails with the whole list of what is wrong, one line each. */
function none(offenders: string[]) {
  assert.equal(offenders.join('\n'), '')
}

function offendersIn(where: Source[], complain: (source: Source) => string[] | string | undefined) {
  return where.flatMap((source) => {
    const said = complain(source) ?? []
    return (Array.isArray(said) ? said : [said]).map((words) => `${source.path}: ${words}`)
  })
}

test('every folder of src has a layer', () => {
  none(foldersOnDisk.filter((name) => !layers.has(name)).map((name) => `${name} has no layer`))
  const known = [...layers.keys()].filter((name) => name !== 'main')
  none(known.filter((name) => !foldersOnDisk.includes(name)).map((name) => `${name} is missing`))
})

test('an import is spelled by where it leads', () => {
  const packages = Object.keys(packageJson.dependencies)
  const devPackages = Object.keys(packageJson.devDependencies)
  none(
    offendersIn(sources, (source) =>
      source.imports.flatMap(({ specifier }) => {
        if (specifier.startsWith('node:')) return []
        if (specifier.startsWith('#'))
          return /^#[a-z]+\/[\w./-]+\.(ts|json)$/.test(specifier) ? [] : `odd import ${specifier}`
        if (specifier.startsWith('.')) {
          if (source.folder === 'main') return `spell ${specifier} as #folder/file.ts`
          const inside = /^\.\/(?!.*\.\.)[\w./-]+\.(ts|json)$/.test(specifier)
          return inside ? [] : `odd import ${specifier}`
        }
        const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
        if (packages.includes(name) || (source.isTest && devPackages.includes(name))) return []
        return `import of ${specifier}, which package.json does not list`
      }),
    ),
  )
})

const folderOf = (specifier: string) => /^#([a-z]+)\//.exec(specifier)?.[1]

test('imports point down', () => {
  none(
    offendersIn(program, (source) => {
      const from = layers.get(source.folder) ?? Number.POSITIVE_INFINITY
      return source.imports.flatMap(({ specifier }) => {
        const folder = folderOf(specifier)
        const to = folder === undefined ? undefined : layers.get(folder)
        return to !== undefined && to > from ? `layer ${from} imports ${specifier} of ${to}` : []
      })
    }),
  )
})

test('no circle of folders', () => {
  const edges = new Map<string, Set<string>>()
  for (const source of program)
    for (const { specifier } of source.imports) {
      const folder = folderOf(specifier)
      if (folder === undefined || folder === source.folder) continue
      if (!edges.has(source.folder)) edges.set(source.folder, new Set())
      edges.get(source.folder)?.add(folder)
    }
  const circles: string[] = []
  const visit = (folder: string, trail: string[]) => {
    if (trail.includes(folder)) {
      circles.push([...trail.slice(trail.indexOf(folder)), folder].join(' → '))
      return
    }
    for (const next of edges.get(folder) ?? []) visit(next, [...trail, folder])
  }
  for (const folder of edges.keys()) if (circles.length === 0) visit(folder, [])
  none(circles)
})

/** Where a specifier leads, as a path of the tree. */
const pathOf = (source: Source, specifier: string): string | undefined => {
  if (specifier.startsWith('#')) return `src/${specifier.slice(1)}`
  return specifier.startsWith('./') ? join(dirname(source.path), specifier) : undefined
}

test('no circle of files, types included', () => {
  const edges = new Map(
    program.map((source) => [
      source.path,
      source.imports.flatMap(({ specifier }) => pathOf(source, specifier) ?? []),
    ]),
  )
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: string[]) => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (trail.includes(path) || done.has(path)) return
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) visit(path, [])
  none(circles)
})

test('files are short', () => {
  const lines = program.map((source) => source.text.split('\n').length).sort((a, b) => a - b)
  none(
    offendersIn(program, (source) => {
      const count = source.text.split('\n').length - 1
      return count > fileLinesMax ? `${count} lines, at most ${fileLinesMax}` : []
    }),
  )
  const p95 = lines[Math.floor(lines.length * 0.95)] ?? 0
  assert.ok(p95 <= fileLinesP95Max, `one file in twenty has more than ${p95} lines`)
})

test('names say what is inside', () => {
  const empty = /^(utils?|commons?|helpers?|core|libs?|internal|types|index|misc|shared)$/
  none(
    offendersIn(sources, ({ path }) => {
      // The core API group has its kinds in src/kinds/core.
      const [file = '', ...folders] = path
        .replace(/^src\/kinds\/core\//, '')
        .split('/')
        .reverse()
      const stem = file.split('.')[0] as string
      const said = [stem, ...folders].filter((name) => empty.test(name)).map((n) => `called ${n}`)
      if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.slow)?(\.(test|suite|bench|child|fixture))?\.ts$/.test(file))
        said.push('a file name is words in lower case joined by hyphens')
      return said
    }),
  )
})

test('every file opens with what it is for', () => {
  none(
    offendersIn(program, ({ text }) => {
      const first = text.replace(/^#![^\n]*\n/, '')
      return /^(\/\*\*|\/\/ \S)/.test(first) ? [] : 'does not open with a comment'
    }),
  )
})

test('nothing that Node would have to transform, nothing half private, nothing left for later', () => {
  const forbidden: [RegExp, string][] = [
    [/^\s*(export\s+)?(const\s+)?enum\s/m, 'enum'],
    [/^\s*(export\s+)?namespace\s+[\w.]+\s*\{/m, 'namespace'],
    [/^\s+(private|protected)\s+(static\s+|readonly\s+)*\w+\s*[:=?;]/m, 'a private keyword field'],
  ]
  const later = /\b(TODO|FIXME|XXX|HACK)\b/
  none(
    offendersIn(sources, ({ text }) => {
      const code = codeOf(text)
      const said = forbidden.filter(([pattern]) => pattern.test(code)).map(([, what]) => what)
      return later.test(text) ? [...said, 'something left for later'] : said
    }),
  )
})

test('storage imports only base', () => {
  none(
    offendersIn(
      program.filter((source) => source.folder === 'storage'),
      ({ imports }) =>
        imports
          .filter(({ specifier }) => !['base', 'storage', undefined].includes(folderOf(specifier)))
          .map(({ specifier }) => `imports ${specifier}`),
    ),
  )
})

const inputAndOutput =
  /^node:(fs|net|tls|http|https|http2|dgram|dns|child_process|worker_threads|timers|readline|os|process|cluster|sqlite)(\/|$)/
const network = /^(node:(net|tls|http|https|http2|dgram|dns)(\/.*)?|@grpc\/grpc-js|undici|ws)$/

test('schema, codec, patch, cel and kinds do no I/O and read neither clock nor chance', () => {
  const impure: [RegExp, string][] = [
    [/\bDate\.now\(/, 'Date.now'],
    [/\bnew Date\(\)/, 'new Date()'],
    [/\bMath\.random\(/, 'Math.random'],
    [/\bperformance\.now\(/, 'performance.now'],
    [/\bprocess\.(hrtime|env|cwd)\b/, 'process'],
    [/\b(randomUUID|randomBytes|randomInt|getRandomValues)\(/, 'a random source'],
    [/\b(setTimeout|setInterval|setImmediate)\(/, 'a timer'],
    [/\bfetch\(/, 'fetch'],
  ]
  const pure = ['schema', 'codec', 'patch', 'cel', 'kinds']
  none(
    offendersIn(
      program.filter((source) => pure.includes(source.folder)),
      ({ text, imports }) => {
        const code = codeOf(text)
        return [
          ...imports
            .filter(({ specifier, typeOnly }) => !typeOnly && inputAndOutput.test(specifier))
            .map(({ specifier }) => `imports ${specifier}`),
          ...impure.filter(([pattern]) => pattern.test(code)).map(([, what]) => `uses ${what}`),
        ]
      },
    ),
  )
})

test('network modules appear where calls come in or go out', () => {
  const allowed = /^src\/(http\/|access\/|storage\/etcd\/|admission\/webhook\/)/
  none(
    offendersIn(
      program.filter((source) => !allowed.test(source.path)),
      ({ imports }) =>
        imports
          .filter(({ specifier, typeOnly }) => !typeOnly && network.test(specifier))
          .map(({ specifier }) => `imports ${specifier}`),
    ),
  )
})

/**
 * Modules that every start loads, whatever is requested later. Each costs about half a millisecond
 * and some tens of kilobytes: what a first request of its kind can load belongs behind `loadLater`.
 */
const startModulesMax = 298

const byPath = new Map(sources.map((source) => [source.path, source]))

/** The file an import of ours leads to. */
const target = (from: string, specifier: string) =>
  specifier.startsWith('#')
    ? `src/${specifier.slice(1)}`
    : join(dirname(from), specifier).replaceAll('\\', '/')

test('a start loads few modules', () => {
  const loaded = new Set(['src/main.ts', 'src/cli/start.ts'])
  for (const path of loaded) {
    for (const { specifier, typeOnly, atOnce } of byPath.get(path)?.imports ?? [])
      if (!typeOnly && atOnce && /^[#.]/.test(specifier)) loaded.add(target(path, specifier))
  }
  assert.ok(
    loaded.size <= startModulesMax,
    `a start loads ${loaded.size} modules, more than ${startModulesMax}`,
  )
})

/** The registry loads one file of every kind folder by its path. */
const kindFiles = kindRows.map(({ folder }) => join('src/kinds', `${placeOf(folder).path}.ts`))

/**
 * Where the program begins: the command, the thread that writes, the library, and what the registry
 * of kinds loads.
 */
const beginnings = [
  'src/main.ts',
  'src/storage/sqlite/writer.ts',
  'src/server/embedded-server.ts',
  'src/testing/start-cluster.ts',
  ...kindFiles,
]

test('the program has no file that nothing leads to', () => {
  const reached = new Set(beginnings)
  for (const path of reached) {
    // Paths stand in import statements, and without their ending in `loadLater`.
    for (const [, words] of byPath.get(path)?.text.matchAll(/'([#.][\w./-]+)'/g) ?? [])
      for (const found of [target(path, words!), `${target(path, words!)}.ts`])
        if (byPath.has(found)) reached.add(found)
  }
  none(program.map(({ path }) => path).filter((path) => !reached.has(path)))
})

test('what is exported is imported, and by more than tests unless its own file uses it', () => {
  const users = new Map<string, Source[]>()
  for (const source of [...sources, ...toolSources])
    for (const word of new Set(source.text.match(/[\w$]+/g)))
      users.set(word, [...(users.get(word) ?? []), source])
  const exported = /^export (?:async )?(?:function\*?|const|let|(?:abstract )?class) ([\w$]+)/gm
  const finished = program.filter(({ path }) => !beginnings.includes(path))
  none(
    offendersIn(finished, (source) =>
      [...source.text.matchAll(exported)].flatMap(([, name]) => {
        const others = users.get(name!)!.filter((user) => user !== source)
        if (others.length === 0) return `exports ${name} for nobody`
        const usesItself = source.text.match(new RegExp(`\\b${name}\\b`, 'g'))!.length > 1
        return usesItself || others.some(({ isTest }) => !isTest)
          ? []
          : `${name} is for tests alone`
      }),
    ),
  )
})

/** Files that compare release numbers for another reason than a difference between releases. */
const numberFiles = new Map([
  ['src/api/releases/change.ts', 'the mechanism'],
  ['src/kinds/facts.ts', 'the releases that the facts know'],
  ['src/kinds/feature-gates.ts', 'rows of facts/features.json'],
  ['src/kinds/deprecation.ts', 'rows of facts/releases.json'],
  ['src/storage/etcd/progress.ts', 'releases of etcd'],
  ['src/server/dropped-fields-log.ts', 'later releases'],
  ['src/cli/check.ts', 'later releases'],
  ['src/cli/doctor/objects.ts', 'later releases'],
])
/** Tables of other releases than the emulated one: those of the Pod Security Standards. */
const spanTables = ['src/admission/pod-security/pod-checks.ts']
/** Files that evaluate spans of tables. Other files call `release.has(change)`. */
const spanReaders = [
  ...spanTables,
  'src/api/releases/change.ts',
  'src/kinds/facts-table.ts',
  'src/kinds/declarative/rules-table.ts',
  'src/access/authorize/bootstrap-policy.ts',
]
/** `const some = (name: string, ...spans: Span[]) =>`: a function that declares a change. */
const declarer = /\bconst (\w+) = \([^()]*\.\.\.spans: Span\[\]\)/g

test('differences between releases are named changes', () => {
  const compared =
    /[\w.#]*(?<![.\w])(?:\w+\.)*#?(?:[rR]elease|minor)\b\)? *(?:>=?|<=?|[!=]==) *(?!undefined|\w+\.release\b|')[\w(]|\b\d\d? *(?:>=?|<=?) *[\w.#]*(?:[rR]elease|minor)\b/
  const numbered = /\b\w*(?:Since|Until|Before|[rR]elease)(?:: number)? = [1-3]\d\b/
  const span = /\b(?:since|until|before|\w+Since|\w+Until): *[1-3]\d\b/
  none(
    offendersIn(program, ({ path, text }) => {
      if (numberFiles.has(path)) return []
      const declarers = [...text.matchAll(declarer)].map(([, name]) => name)
      // The table of flags declares its changes with a function of another file.
      const names = ['change', ...declarers, ...(path.startsWith('src/settings/') ? ['some'] : [])]
      const changes = new RegExp(
        `(?<!\\w|[^.]\\.)(?:${names.join('|')})\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)`,
        'g',
      )
      const code = codeOf(text).replace(changes, ' ')
      return [
        ...(compared.exec(code) ?? []).map((found) => `compares a release: ${found}`),
        ...(numbered.exec(code) ?? []).map((found) => `a constant is a release: ${found}`),
        ...(spanTables.includes(path) ? [] : (span.exec(code) ?? [])).map(
          (found) => `a span outside change(): ${found}`,
        ),
        ...(spanReaders.includes(path) || !/\bisWithin\b.*releases\/change\.ts'/.test(text)
          ? []
          : ['evaluates spans: isWithin']),
      ]
    }),
  )
})

test('changes have tests on both sides of their boundaries', async () => {
  const forgiven = new Set(forgivenChanges())
  none(
    (await untestedChanges())
      .filter((title) => !forgiven.has(title))
      .map((title) => `"${title}": no test beside the rule names the releases before and after`),
  )
})

/** Two folders may use a general word for a detail of their own; three make it ambiguous. */
const typeNameUsesMax = 2

test('a type has a name of its own', () => {
  const owners = new Map<string, string[]>()
  for (const { path, text } of program)
    for (const [, name] of text.matchAll(/^export (?:interface|type|(?:abstract )?class) (\w+)/gm))
      owners.set(name!, [...(owners.get(name!) ?? []), path])
  none(
    [...owners]
      .filter(([, paths]) => paths.length > typeNameUsesMax)
      .map(([name, paths]) => `${name} is exported by ${paths.join(', ')}`),
  )
})

test('controllers have no private door', () => {
  const doors = ['storage', 'watchcache', 'verbs', 'http', 'discovery']
  none(
    offendersIn(
      program.filter((source) => source.folder === 'controllers'),
      ({ imports }) =>
        imports
          .filter(({ specifier }) => doors.includes(folderOf(specifier) ?? ''))
          .map(({ specifier }) => `imports ${specifier}`),
    ),
  )
})

test('what differs between kinds is a property with a name: origin, formats, decoding', () => {
  const guesses = /\bkind\??\.(?:protobuf|isBuiltIn|isCustom)\b|instanceof (?:BuiltIn|CustomKind)\b/
  const outside = program.filter(({ folder }) => folder !== 'kinds')
  none(offendersIn(outside, ({ text }) => guesses.exec(codeOf(text))?.[0]))
})

test('whether a kind is built in or custom is known in kinds alone', () => {
  none(
    offendersIn(
      program.filter((source) => !['kinds', 'main', 'cli', 'server'].includes(source.folder)),
      ({ imports }) =>
        imports
          .filter(
            ({ specifier, typeOnly }) =>
              !typeOnly && /^#kinds\/(built-in|custom)\.ts$/.test(specifier),
          )
          .map(({ specifier }) => `imports ${specifier}`),
    ),
  )
})

test('the filter chain is the one in ARCHITECTURE.md', () => {
  const code = read('src/http/filters.ts')
  const list = /\bfilters\b[^=\n]*= \[([\s\S]*?)\n\]/.exec(code)?.[1] ?? ''
  const inCode = [...list.matchAll(/name: '([a-z-]+)'/g)].map((match) => match[1])
  const told = /Filters, in order:\s+([^.]*)\./.exec(architecture)?.[1] ?? ''
  assert.deepEqual(told.replaceAll('`', '').split(/,\s+/), inCode)
})

test('a flag has an effect exactly when something reads its setting', () => {
  const table = /^src\/settings\/flag(s|-table|-row|-value)\.ts$/
  const readers = program.filter(({ path }) => !table.test(path))
  const words = new Set(readers.flatMap(({ text }) => codeOf(text).match(/\b[a-z]\w*\b/g) ?? []))
  const fromSettings = new Set(
    readers
      .filter(({ folder }) => ['main', 'cli', 'server'].includes(folder))
      .flatMap(({ text }) => [...codeOf(text).matchAll(/\bsettings\.(\w+)/g)])
      .map((match) => match[1]!),
  )
  const rows = Object.entries(flagTable) as [string, { status: string }][]
  none(
    rows.flatMap(([name, { status }]) => {
      const setting = settingName(name)
      if (status === 'wired' && !words.has(setting))
        return `--${name} is wired and nothing reads it`
      if (status === 'unwired' && fromSettings.has(setting)) return `--${name} is unwired and read`
      return []
    }),
  )
})

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...filesUnder('docs').filter((path) => path.endsWith('.md')),
  ...['facts', 'conformance', 'benchmarks', 'examples']
    .flatMap(filesUnder)
    .filter((path) => path.endsWith('.md')),
]

test('every path a page names is there', () => {
  const roots = [...foldersOnDisk.map((f) => `src/${f}`), 'src', 'test', 'docs', 'tools', 'facts']
  const offenders: string[] = []
  for (const page of pages) {
    const text = read(page)
    for (const [, target] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)[^)]*\)/g))
      if (!existsSync(join(root, dirname(page), target!))) offenders.push(`${page}: ${target}`)
    for (const [, path] of text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs|js|md|txt))`/g))
      if (roots.some((r) => path!.startsWith(`${r}/`)) && !existsSync(join(root, path!)))
        offenders.push(`${page}: ${path}`)
  }
  none(offenders)
})

test('every dependency has its reason in docs/decisions', () => {
  const reasons = filesUnder('docs/decisions')
    .map((path) => /^# (.*)$/m.exec(read(path))?.[1] ?? '')
    .join('\n')
  const names = [
    ...Object.keys(packageJson.dependencies),
    ...Object.keys(packageJson.devDependencies),
  ]
  none(names.filter((name) => !reasons.includes(`\`${name}\``)).map((name) => `${name}: no page`))
})

test('the two commands of the README are scripts', () => {
  const said = [...read('README.md').matchAll(/(?:^\$ |`)npm (?:run )?([a-z]+)/gm)].map(
    (m) => m[1]!,
  )
  assert.ok(said.includes('start') && said.includes('test'))
  const known = [...Object.keys(packageJson.scripts), 'install', 'pack', 'ci']
  none(said.filter((name) => !known.includes(name)))
})

test('the project speaks of itself alone', () => {
  const strangers: RegExp[] = [
    /\bsub-?agents?\b/i,
    /\b(AI|coding|language) (agents?|assistants?|models?)\b/i,
    /\b(Claude|Anthropic|ChatGPT|OpenAI|Copilot|LLMs?)\b/,
    /\b(this|previous|earlier|next|another|last) session\b/i,
    /\b(the|my|your|our) brief\b/i,
    /\bissue #?\d+\b/i,
    /(^|[^\w.])\/(work|tmp\/n26|tmp\/g|opt\/peers|root)\//,
  ]
  const own = new Set(['test/tidy.test.ts'])
  const everywhere = [
    ...[
      'src',
      'test',
      'tools',
      'conformance',
      'benchmarks',
      'bin',
      'docs',
      '.ci',
      'examples',
    ].flatMap(filesUnder),
    ...readdirSync(root).filter(
      (name) => /\.(md|json)$/.test(name) && name !== 'package-lock.json',
    ),
  ].filter((path) => /\.(ts|mjs|js|md|json|txt|sh)$|\/run$/.test(path) && !own.has(path))
  none(
    everywhere.flatMap((path) => {
      const text = read(path)
      return strangers
        .map((pattern) => pattern.exec(text)?.[0])
        .filter((found) => found !== undefined)
        .map((found) => `${path}: ${JSON.stringify(found)}`)
    }),
  )
})
