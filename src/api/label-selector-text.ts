/**
 * Parses label selectors. It creates requirements from text, and rejects invalid text with the
 * messages of labels.Parse. label-selector.ts evaluates requirements.
 *
 *   selector    = [ requirement { "," requirement } ]
 *   requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) value
 *               | key ( "in" | "notin" ) "(" values ")"
 */
import { byCodePoint, goQuote } from './go-syntax.ts'
import {
  type LabelOperator,
  type LabelRequirement,
  LabelSelectorError,
  invalidKey,
  labelRequirement,
} from './label-requirement.ts'
import { qualifiedName } from './names.ts'
import { selectorOperators, type Words } from './release-words.ts'

type TokenKind = 'error' | 'end' | 'identifier' | 'in' | 'notin' | Symbol
type Symbol = ')' | ',' | '!' | '==' | '=' | '>' | '<' | '!=' | '('

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const special = '=!(),><'
const blank = ' \t\r\n'
const symbols = new Set<string>([')', ',', '!', '==', '=', '>', '<', '!=', '('])

/** As in kube-apiserver, a zero byte ends the text. */
function scan(text: string): Token[] {
  const tokens: Token[] = []
  const zero = text.indexOf('\0')
  const end = zero < 0 ? text.length : zero
  let at = 0
  for (;;) {
    while (at < end && blank.includes(text[at] as string)) at++
    if (at >= end) break
    const start = at
    if (!special.includes(text[at] as string)) {
      while (
        at < end &&
        !special.includes(text[at] as string) &&
        !blank.includes(text[at] as string)
      )
        at++
      const word = text.slice(start, at)
      tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word })
      continue
    }
    // The longest sequence of special characters that is a token.
    let found: string | undefined
    while (at < end && special.includes(text[at] as string)) {
      const run = text.slice(start, at + 1)
      if (symbols.has(run)) found = run
      else if (found !== undefined) break
      at++
    }
    tokens.push({ kind: found as Symbol, text: found as string })
  }
  tokens.push({ kind: 'end', text: '' })
  return tokens
}

class Parser {
  readonly #tokens: Token[]
  #position = 0
  constructor(text: string) {
    this.#tokens = scan(text)
  }

  /** The next token. `in` and `notin` are identifiers where a value is expected. */
  peek(): Token {
    const token = this.#tokens[this.#position] ?? { kind: 'end', text: '' }
    return token.kind === 'in' || token.kind === 'notin' ? { ...token, kind: 'identifier' } : token
  }

  take(): Token {
    const token = this.peek()
    this.#position++
    return token
  }

  takeOperator(): Token {
    return this.#tokens[this.#position++] ?? { kind: 'end', text: '' }
  }
}

const fail = (message: string): never => failIn(() => message)

const failIn = (inWords: (words: Words) => string): never => {
  throw new LabelSelectorError(inWords)
}

export function parseSelectorText(text: string): LabelRequirement[] {
  const parser = new Parser(text)
  const requirements: LabelRequirement[] = []
  for (;;) {
    const first = parser.peek()
    if (first.kind === 'end') return requirements
    if (first.kind !== 'identifier' && first.kind !== '!') {
      fail(`found '${first.text}', expected: !, identifier, or 'end of string'`)
    }
    requirements.push(parseRequirement(parser))
    const next = parser.take()
    if (next.kind === 'end') return requirements
    if (next.kind !== ',') fail(`found '${next.text}', expected: ',' or 'end of string'`)
    const after = parser.peek()
    if (after.kind !== 'identifier' && after.kind !== '!') {
      fail(`found '${after.text}', expected: identifier after ','`)
    }
  }
}

function parseRequirement(parser: Parser): LabelRequirement {
  try {
    return requirementOf(parser)
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error
    return failIn((words) => `unable to parse requirement: ${error.inWords(words)}`)
  }
}

function requirementOf(parser: Parser): LabelRequirement {
  let token = parser.take()
  const negated = token.kind === '!'
  if (negated) token = parser.take()
  if (token.kind !== 'identifier') fail(`found '${token.text}', expected: identifier`)
  const key = token.text
  const problems = qualifiedName(key)
  if (problems.length > 0) {
    failIn((words) => {
      const stated = problems.map((problem) => words.of(problem)).join('; ')
      const place = words.namesSelectorParts
        ? `<nil>: Invalid value: ${goQuote(key)}: `
        : invalidKey(key)
      return place + stated
    })
  }
  const next = parser.peek().kind
  if (negated) return labelRequirement(key, '!', [])
  if (next === 'end' || next === ',') return labelRequirement(key, 'exists', [])
  const operator = parseOperator(parser)
  const values =
    operator === 'in' || operator === 'notin' ? parseValues(parser) : parseExactValue(parser)
  return labelRequirement(key, operator, values)
}

const operatorOf: Readonly<Record<string, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
}

function parseOperator(parser: Parser): LabelOperator {
  const token = parser.takeOperator()
  const operator = token.kind === 'identifier' ? undefined : operatorOf[token.kind]
  return operator ?? failIn((words) => `found '${token.text}', ${words.of(selectorOperators)}`)
}

function parseExactValue(parser: Parser): string[] {
  const next = parser.peek().kind
  if (next === 'end' || next === ',') return ['']
  const token = parser.take()
  if (token.kind !== 'identifier') fail(`found '${token.text}', expected: identifier`)
  return [token.text]
}

function parseValues(parser: Parser): string[] {
  const open = parser.take()
  if (open.kind !== '(') fail(`found '${open.text}' expected: '('`)
  const next = parser.peek()
  if (next.kind === ')') {
    parser.take()
    return ['']
  }
  if (next.kind !== 'identifier' && next.kind !== ',') {
    fail(`found '${next.text}', expected: ',', ')' or identifier`)
  }
  const values = parseIdentifiers(parser)
  if (parser.take().kind !== ')') fail(`found '${next.text}', expected: ')'`)
  return [...values].sort(byCodePoint)
}

/** The values between commas, each of which may be empty. */
function parseIdentifiers(parser: Parser): Set<string> {
  const values = new Set<string>()
  for (;;) {
    const token = parser.take()
    if (token.kind === 'identifier') {
      values.add(token.text)
      const next = parser.peek()
      if (next.kind === ')') return values
      if (next.kind !== ',') fail(`found '${next.text}', expected: ',' or ')'`)
    } else if (token.kind === ',') {
      if (values.size === 0) values.add('')
      const next = parser.peek().kind
      if (next === ')') return values.add('')
      if (next === ',') {
        parser.take()
        values.add('')
      }
    } else {
      fail(`found '${token.text}', expected: ',', or identifier`)
    }
  }
}
