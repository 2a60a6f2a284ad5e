/**
 * Checks the directives (`%` lines) before a YAML document, with the error messages of Kubernetes'
 * library. The parser interprets them.
 */
import { YamlError } from './yaml-error.ts'

/** The parts of each directive after its name, and the error for a missing part. */
const forms: Readonly<Record<string, readonly (readonly [wanted: RegExp, missed: string])[]>> = {
  YAML: [
    [/^[ \t]*[0-9]+/, 'did not find expected version number'],
    [/^\./, "did not find expected digit or '.' character"],
    [/^[0-9]+/, 'did not find expected version number'],
  ],
  TAG: [
    [/^[ \t]*!([\w-]*!)?(?=[ \t]|$)/, "did not find expected '!'"],
    [/^[ \t]+[^ \t]+/, 'did not find expected whitespace'],
  ],
}

/**
 * The library's scanner finds malformed directives, its parser repeated and unsupported ones. It
 * counts lines from 0 and omits line 0. It adds 1 to the line of a scanner error only.
 */
export class Directives {
  readonly #seen = new Set<string>()

  /** `source` is the directive without its comment; `line` is its line number, from 1. */
  check(source: string, line: number): void {
    const scannerError = scannerErrorIn(source)
    if (scannerError !== undefined)
      throw new YamlError(`yaml: ${inLine(line > 1 ? line : 0)}${scannerError}`)
    const parserError = this.#parserErrorIn(source)
    if (parserError !== undefined) throw new YamlError(`yaml: ${inLine(line - 1)}${parserError}`)
  }

  #parserErrorIn(source: string): string | undefined {
    const [name, value] = source.slice(1).split(/[ \t]+/) as [string, string]
    const one = name === 'YAML' ? name : value
    if (this.#seen.has(one)) return `found duplicate %${name} directive`
    this.#seen.add(one)
    const isOther = name === 'YAML' && !/^0*1\.0*1$/.test(value)
    return isOther ? 'found incompatible YAML document' : undefined
  }
}

const inLine = (line: number) => (line > 0 ? `line ${line}: ` : '')

function scannerErrorIn(source: string): string | undefined {
  const [name] = /^[\w-]*/.exec(source.slice(1)) as RegExpExecArray
  if (name === '') return 'could not find expected directive name'
  let rest = source.slice(1 + name.length)
  if (/^[^ \t]/.test(rest)) return 'found unexpected non-alphabetical character'
  if (!Object.hasOwn(forms, name)) return 'found unknown directive name'
  for (const [wanted, missed] of forms[name]) {
    const [taken] = wanted.exec(rest) ?? []
    if (taken === undefined) return missed
    rest = rest.slice(taken.length)
  }
  return /^[ \t]*$/.test(rest) ? undefined : 'did not find expected comment or line break'
}
