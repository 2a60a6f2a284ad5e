/**
 * Parses tokens by the grammar into a tree of rules. After an error it recovers as ANTLR's parsers
 * do: it deletes or inserts a token, or skips to a token that can follow. cel-go's errors show what
 * such a parser found next.
 */
import type { CelError } from '#cel/source.ts'
import {
  type Element,
  nextTokens,
  type GrammarRule,
  type RuleName,
  ruleEnd,
  ruleOf,
  type State,
  stateAfter,
} from './grammar.ts'
import {
  endOfInput,
  quoted,
  type Token,
  type TokenStream,
  tokenNames,
  tokenType,
} from './tokens.ts'

export interface Node {
  readonly rule: RuleName
  /**
   * The alternative of a rule with several: its number or the name of its continuation. Undefined
   * after an error.
   */
  alternative: number | string | undefined
  readonly start: Token
  readonly parts: Map<string, (Token | Node)[]>
}

const errorsMax = 100

export interface ParseLimits {
  /** Deepest nesting of one rule, and of operators and selections. */
  readonly recursionMax: number
  /** Attempts to go on after an error. */
  readonly recoveriesMax: number
  /** Tokens that one attempt may skip. */
  readonly recoveryTokensMax: number
}

/** Those of cel-go, which Kubernetes does not change. */
export const defaultLimits: ParseLimits = {
  recursionMax: 250,
  recoveriesMax: 30,
  recoveryTokensMax: 256,
}

interface Frame {
  readonly rule: RuleName
  /** The state that called the rule; undefined for the first rule. */
  readonly caller: State | undefined
  readonly precedence: number
}

/** A syntax error that ends the current rule. */
class Mismatch {
  readonly start: number
  readonly at: number
  readonly isNoViableAlternative: boolean
  constructor(start: number, at: number, isNoViableAlternative: boolean) {
    this.start = start
    this.at = at
    this.isNoViableAlternative = isNoViableAlternative
  }
}

/** Ends parsing, because a limit is reached. */
class GiveUp {}

const minus = tokenType('-')
const dot = tokenType('.')
const question = tokenType('?')
const openParenthesis = tokenType('(')
const openBracket = tokenType('[')
const openBrace = tokenType('{')
const identifier = tokenType('IDENTIFIER')
const escapedIdentifier = tokenType('ESC_IDENTIFIER')
const int = tokenType('NUM_INT')
const float = tokenType('NUM_FLOAT')
const not = tokenType('!')
const comma = tokenType(',')

const nameOf = (type: number): string => (type === endOfInput ? '<EOF>' : tokenNames[type]!)

function listed(types: ReadonlySet<number>): string {
  const names = [...types].sort((a, b) => a - b).map(nameOf)
  return names.length > 1 ? `{${names.join(', ')}}` : (names[0] ?? '{}')
}

export class SyntaxParser {
  readonly #limits: ParseLimits
  readonly #tokens: TokenStream
  readonly #report: (error: CelError) => void
  readonly #frames: Frame[] = []
  readonly #depths = new Map<RuleName, number>()
  #at = 0
  #state: State
  #isRecovering = false
  #lastErrorAt = -1
  #lastErrorStates = new Set<State>()
  #recoveries = 0
  #errors = 0

  constructor(tokens: TokenStream, report: (error: CelError) => void, limits: ParseLimits) {
    this.#limits = limits
    this.#tokens = tokens
    this.#report = report
    this.#state = ruleOf('start').body[0]!.state
  }

  /** The tree, or undefined if a limit stopped the parser. */
  parse(): Node | undefined {
    try {
      return this.#rule('start', undefined, 0)
    } catch (error) {
      if (error instanceof GiveUp) return undefined
      throw error
    }
  }

  #peek(ahead = 0): number {
    return this.#tokens.get(this.#at + ahead).type
  }

  get #token(): Token {
    return this.#tokens.get(this.#at)
  }

  #consume(): Token {
    const token = this.#token
    if (token.type !== endOfInput) this.#at++
    return token
  }

  #enter(rule: RuleName): void {
    const depth = (this.#depths.get(rule) ?? 0) + 1
    this.#depths.set(rule, depth)
    const { recursionMax } = this.#limits
    if (depth <= recursionMax) return
    this.#report({ position: -1, message: `expression recursion limit exceeded: ${recursionMax}` })
    throw new GiveUp()
  }

  #exit(rule: RuleName): void {
    this.#depths.set(rule, Math.max(0, this.#depths.get(rule)! - 1))
  }

  #rule(name: RuleName, caller: State | undefined, precedence: number): Node {
    const rule = ruleOf(name)
    this.#frames.push({ rule: name, caller, precedence })
    this.#enter(name)
    let node: Node = { rule: name, alternative: undefined, start: this.#token, parts: new Map() }
    try {
      this.#sequence(rule.body, node)
      this.#state = rule.loop
      if (rule.continuations.length > 0) this.#sync()
      for (let more = this.#continues(rule); more; more = this.#continues(rule)) {
        this.#exit(name)
        const wrapper: Node = {
          rule: name,
          alternative: undefined,
          start: node.start,
          parts: new Map([['e', [node]]]),
        }
        const continuation = this.#continuation(rule)
        wrapper.alternative = continuation.name
        node = wrapper
        this.#enter(name)
        this.#sequence(continuation.body, node)
        this.#state = rule.back
        this.#sync()
      }
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      this.#reportMismatch(error)
      this.#recover()
    }
    this.#exit(name)
    this.#frames.pop()
    if (caller !== undefined) this.#state = caller
    return node
  }

  #sequence(body: readonly Element[], node: Node): void {
    for (const element of body) this.#element(element, node)
  }

  #element(element: Element, node: Node): void {
    this.#state = element.state
    switch (element.kind) {
      case 'token':
        this.#keep(node, element.label, this.#match(element.tokens))
        return
      case 'rule':
        this.#keep(node, element.label, this.#rule(element.rule, element.state, element.precedence))
        return
      case 'optional':
        this.#sync()
        if (this.#isFirstOf(element.body)) this.#sequence(element.body, node)
        return
      case 'loop':
        this.#sync()
        while (this.#repeats(element.body, node.rule)) {
          this.#sequence(element.body, node)
          this.#state = element.back
          this.#sync()
        }
        return
      case 'plus':
        this.#sync()
        do {
          this.#sequence(element.body, node)
          this.#state = element.back
          this.#sync()
        } while (this.#repeatsSign(element.body))
        return
      case 'choice': {
        this.#sync()
        const alternative = this.#choose(element.name)
        node.alternative = alternative
        this.#sequence(element.bodies[alternative - 1]!, node)
      }
    }
  }

  #keep(node: Node, label: string, part: Token | Node): void {
    if (label === '') return
    const parts = node.parts.get(label)
    if (parts === undefined) node.parts.set(label, [part])
    else parts.push(part)
  }

  // Predictions: which way out of a choice the next tokens mean.

  #isFirstOf(body: readonly Element[]): boolean {
    return nextTokens(body[0]!.state).has(this.#peek())
  }

  /** After a comma, another element or, if the list may end with a comma, the end. */
  #repeats(body: readonly Element[], rule: RuleName): boolean {
    if (!this.#isFirstOf(body)) return false
    if (rule !== 'listInit' && rule !== 'mapInitializerList' && rule !== 'fieldInitializerList')
      return true
    return this.#peek() === comma && nextTokens(body[1]!.state).has(this.#peek(1))
  }

  /** `--1` is two signs, and in `-` before something else than an operand nothing fits. */
  #repeatsSign(body: readonly Element[]): boolean {
    if (!this.#isFirstOf(body)) return false
    if (this.#peek() === minus && !this.#isOperandAt(1)) this.#failAt(this.#at + 1)
    return true
  }

  #isOperandAt(ahead: number): boolean {
    const next = this.#peek(ahead)
    return next === minus || nextTokens(ruleOf('member').body[0]!.state).has(next)
  }

  #continues(rule: GrammarRule): boolean {
    const { precedence } = this.#frames.at(-1)!
    return rule.continuations.some(
      (one) => one.precedence >= precedence && nextTokens(one.body[0]!.state).has(this.#peek()),
    )
  }

  #continuation(rule: GrammarRule) {
    if (rule.continuations.length === 1) return rule.continuations[0]!
    this.#state = rule.inner
    this.#sync()
    const [first, second, third] = rule.continuations
    if (rule.name === 'calc') return this.#isFirstOf(first!.body) ? first! : second!
    if (this.#peek() === openBracket) return third!
    const next = this.#peek(1)
    if (next === question || next === escapedIdentifier) return first!
    if (next !== identifier) return this.#failAt(this.#at + 1)
    return this.#peek(2) === openParenthesis ? second! : first!
  }

  #choose(name: string): number {
    const next = this.#peek()
    switch (name) {
      case 'unary':
        if (next === not) return 2
        if (next !== minus) return this.#isOperandAt(0) ? 1 : this.#failAt(this.#at)
        if (this.#peek(1) === int || this.#peek(1) === float) return 1
        return this.#isOperandAt(1) ? 3 : this.#failAt(this.#at + 1)
      case 'primary':
        return this.#choosePrimary(next)
      case 'escapeIdent':
        if (next === identifier) return 1
        return next === escapedIdentifier ? 2 : this.#failAt(this.#at)
      default:
        return this.#chooseLiteral(next)
    }
  }

  #choosePrimary(next: number): number {
    if (next === openParenthesis) return 3
    if (next === openBracket) return 4
    if (next === openBrace) return 5
    if (next !== dot && next !== identifier)
      return nextTokens(ruleOf('literal').body[0]!.state).has(next) ? 7 : this.#failAt(this.#at)
    let ahead = next === dot ? 1 : 0
    if (this.#peek(ahead) !== identifier) return this.#failAt(this.#at + ahead)
    ahead++
    if (this.#peek(ahead) === openParenthesis) return 2
    while (this.#peek(ahead) === dot && this.#peek(ahead + 1) === identifier) ahead += 2
    return this.#peek(ahead) === openBrace ? 6 : 1
  }

  #chooseLiteral(next: number): number {
    const unsigned = next === minus ? this.#peek(1) : next
    if (unsigned === int) return 1
    if (unsigned === float) return 3
    if (next === minus) return this.#failAt(this.#at + 1)
    const at = ['NUM_UINT', 'STRING', 'BYTES', 'true', 'false', 'null'].map(tokenType).indexOf(next)
    if (at < 0) return this.#failAt(this.#at)
    return [2, 4, 5, 6, 7, 8][at]!
  }

  #failAt(at: number): never {
    throw new Mismatch(this.#at, at, true)
  }

  // Errors and recovery.

  #match(types: readonly number[]): Token {
    if (types.includes(this.#peek())) {
      this.#endRecovery()
      return this.#consume()
    }
    this.#countRecovery()
    const next = this.#deleteToken()
    if (next) return this.#consume()
    if (this.#expectedAfter(stateAfter(this.#state)).has(this.#peek())) {
      this.#reportUnlessRecovering(
        () => `missing ${listed(this.#expected())} at ${this.#display(this.#token)}`,
      )
      const missing = [...this.#expected()].sort((a, b) => a - b)[0]!
      const text = missing === endOfInput ? '<missing EOF>' : `<missing ${nameOf(missing)}>`
      return { type: missing, text, start: this.#token.start, before: '', missing: true }
    }
    throw new Mismatch(this.#at, this.#at, false)
  }

  /** Where a loop or a choice begins: makes the next token one that fits, if that can be done. */
  #sync(): void {
    if (this.#isRecovering) return
    const next = nextTokens(this.#state)
    if (next.has(ruleEnd) || next.has(this.#peek())) return
    if (this.#state.kind === 'choice') {
      if (this.#deleteToken()) return
      throw new Mismatch(this.#at, this.#at, false)
    }
    if (this.#state.kind === 'loopBack') {
      this.#reportUnwanted()
      const stops = new Set([...this.#expected(), ...this.#recoverySet()])
      this.#skipTo(stops, false)
    }
  }

  /** Deletes the next token if the one after it fits. */
  #deleteToken(): boolean {
    if (!this.#expected().has(this.#peek(1))) return false
    this.#reportUnwanted()
    this.#consume()
    this.#endRecovery()
    return true
  }

  #endRecovery(): void {
    this.#isRecovering = false
    this.#lastErrorStates.clear()
    this.#lastErrorAt = -1
  }

  #recover(): void {
    this.#countRecovery()
    let consumed = 0
    if (this.#lastErrorAt === this.#at && this.#lastErrorStates.has(this.#state)) {
      this.#consume()
      consumed++
    }
    this.#lastErrorAt = this.#at
    this.#lastErrorStates.add(this.#state)
    this.#skipTo(this.#recoverySet(), true, consumed)
  }

  #skipTo(stops: ReadonlySet<number>, isLimited: boolean, consumed = 0): void {
    const { recoveryTokensMax } = this.#limits
    while (this.#peek() !== endOfInput && !stops.has(this.#peek())) {
      if (isLimited && consumed++ >= recoveryTokensMax) {
        this.#report({
          position: -1,
          message: `error recovery token lookahead limit exceeded: ${recoveryTokensMax}`,
        })
        throw new GiveUp()
      }
      this.#consume()
    }
  }

  #countRecovery(): void {
    const { recoveriesMax } = this.#limits
    if (this.#recoveries++ < recoveriesMax) return
    this.#reportAt(this.#token, `error recovery attempt limit exceeded: ${recoveriesMax}`)
    throw new GiveUp()
  }

  /** What may come next, with what may follow the rules that can end here. */
  #expected(): ReadonlySet<number> {
    return this.#expectedAfter(this.#state)
  }

  #expectedAfter(state: State): ReadonlySet<number> {
    const expected = new Set<number>()
    let next = nextTokens(state)
    for (let depth = this.#frames.length - 1; ; depth--) {
      for (const one of next) if (one !== ruleEnd) expected.add(one)
      if (!next.has(ruleEnd)) return expected
      const caller = this.#frames[depth]?.caller
      if (caller === undefined) return expected.add(endOfInput)
      next = nextTokens(stateAfter(caller))
    }
  }

  #recoverySet(): ReadonlySet<number> {
    const set = new Set<number>()
    for (const { caller } of this.#frames)
      if (caller !== undefined) for (const one of nextTokens(stateAfter(caller))) set.add(one)
    set.delete(ruleEnd)
    return set
  }

  #display(token: Token): string {
    return quoted(token.text)
  }

  #reportUnwanted(): void {
    this.#reportUnlessRecovering(
      () => `extraneous input ${this.#display(this.#token)} expecting ${listed(this.#expected())}`,
    )
  }

  #reportUnlessRecovering(message: () => string): void {
    if (this.#isRecovering) return
    this.#isRecovering = true
    this.#reportAt(this.#token, message())
  }

  #reportMismatch({ start, at, isNoViableAlternative }: Mismatch): void {
    if (this.#isRecovering) return
    this.#isRecovering = true
    const token = this.#tokens.get(at)
    if (!isNoViableAlternative) {
      const expected = listed(this.#expected())
      this.#reportAt(token, `mismatched input ${this.#display(token)} expecting ${expected}`)
      return
    }
    const text = this.#textBetween(start, at)
    const message = `no viable alternative at input ${quoted(text)}`
    this.#reportAt(
      token,
      message.replace(
        /no viable alternative at input '.(true|false|null)'/,
        "mismatched input '$1' expecting IDENTIFIER",
      ),
    )
  }

  #textBetween(start: number, end: number): string {
    const first = this.#tokens.get(start)
    if (first.type === endOfInput) return '<EOF>'
    let text = first.text
    for (let at = start + 1; at <= end; at++) {
      const token = this.#tokens.get(at)
      text += token.before + (token.type === endOfInput ? '' : token.text)
    }
    return text
  }

  #reportAt(token: Token, message: string): void {
    if (this.#errors++ < errorsMax) {
      this.#report({ position: token.start, message: `Syntax error: ${message}` })
      return
    }
    const position = token.start
    this.#report({ position, message: `Syntax error: More than ${errorsMax} syntax errors` })
    throw new GiveUp()
  }
}
