/**
 * Converts our parser's YAML errors to the messages of Kubernetes' YAML library, where possible.
 */
import type { LineCounter, YAMLParseError } from 'yaml'

const cannotStart = 'found character that cannot start any token'
const noMapping = 'mapping values are not allowed in this context'
/** Faults of the scanner; their messages name the line unless it is the first. */
const scanning: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: cannotStart,
  BAD_SCALAR_START: cannotStart,
  BLOCK_AS_IMPLICIT_KEY: noMapping,
  MULTILINE_IMPLICIT_KEY: noMapping,
  BAD_DQ_ESCAPE: 'found unknown escape character',
}

const inLine = (line: number) => (line > 0 ? `line ${line}: ` : '')

export function describeFault(
  errors: readonly YAMLParseError[],
  text: string,
  lines: LineCounter,
): string {
  const { code, message, pos } =
    errors.find((one) => one.code === 'MULTILINE_IMPLICIT_KEY') ?? errors[0]
  const lineOf = (at: number) => lines.linePos(Math.min(at, text.length)).line
  const scanned = message.startsWith('Missing closing')
    ? 'found unexpected end of stream'
    : scanning[code]
  if (scanned !== undefined) {
    const line = lineOf(scanned === noMapping ? pos[1] : pos[0])
    return `yaml: ${inLine(line === 1 ? 0 : line)}${scanned}`
  }
  const bracket = /^Flow .* end with a (.)/.exec(message)?.[1]
  if (bracket !== undefined) {
    const before = text.slice(0, pos[0]).trimEnd().at(-1) ?? ''
    const wanted = '{[,:'.includes(before) ? 'node content' : `',' or '${bracket}'`
    return `yaml: ${inLine(lineOf(pos[0]))}did not find expected ${wanted}`
  }
  // The nesting limit of our parser, whose stack would overflow.
  if (message.startsWith('Maximum call stack')) return 'yaml: exceeded max depth'
  const wanted = /^\s*- /.test(text) ? "'-' indicator" : 'key'
  if (code === 'UNEXPECTED_TOKEN') {
    return `yaml: ${inLine(lineOf(pos[0]) - 1)}did not find expected ${wanted}`
  }
  return `yaml: ${inLine(lineOf(pos[0]))}${message}`
}
