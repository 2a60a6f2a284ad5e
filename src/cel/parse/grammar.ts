/**
 * CEL's grammar as data, and the sets of tokens that can follow each of its states.
 * Errors of the parser list the tokens that a state expects, so states and sets are those of an
 * ANTLR parser.
 *
 *   rule('expr', ref('conditionalOr', 'e'), optional(token('?', 'op'), …))
 */
import { tokenType } from './tokens.ts'

export type RuleName =
  | 'start'
  | 'expr'
  | 'conditionalOr'
  | 'conditionalAnd'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInitializerList'
  | 'optField'
  | 'mapInitializerList'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal'

/** How a parser reacts when the next token fits none of the ways out of a state. */
export type StateKind = 'basic' | 'choice' | 'loopBack'

export interface State {
  readonly kind: StateKind
  readonly edges: Edge[]
}

type Edge =
  | { readonly to: State; readonly tokens?: readonly number[] }
  | { readonly to: State; readonly rule: RuleName }

/**
 * A part of a rule, with the states in which the parser is before it and between its repetitions.
 */
export type Element =
  | { readonly kind: 'token'; readonly tokens: readonly number[]; label: string; state: State }
  | {
      readonly kind: 'rule'
      readonly rule: RuleName
      label: string
      precedence: number
      state: State
    }
  | { readonly kind: 'optional'; readonly body: Element[]; state: State }
  | { readonly kind: 'loop' | 'plus'; readonly body: Element[]; state: State; back: State }
  | { readonly kind: 'choice'; readonly name: string; readonly bodies: Element[][]; state: State }

/** `relation op relation`: an alternative of a rule that begins with the rule itself. */
export interface Continuation {
  readonly name: string
  readonly precedence: number
  readonly body: Element[]
}

export interface GrammarRule {
  readonly name: RuleName
  readonly body: Element[]
  /** For left-recursive rules. */
  readonly continuations: readonly Continuation[]
  readonly loop: State
  readonly back: State
  /** The choice between several continuations. */
  readonly inner: State
}

/** Reached the end of the rule without a token. */
export const ruleEnd = -2

const state = (kind: StateKind = 'basic'): State => ({ kind, edges: [] })
const token = (names: string, label = ''): Element => ({
  kind: 'token',
  tokens: names.split(' ').map(tokenType),
  label,
  state: state(),
})
const ref = (rule: RuleName, label: string, precedence = 0): Element => ({
  kind: 'rule',
  rule,
  label,
  precedence,
  state: state(),
})
const optional = (...body: Element[]): Element => ({
  kind: 'optional',
  body,
  state: state('choice'),
})
const loop = (...body: Element[]): Element => ({
  kind: 'loop',
  body,
  state: state('choice'),
  back: state('loopBack'),
})
/** One or more times. */
const plus = (...body: Element[]): Element => ({
  kind: 'plus',
  body,
  state: state('choice'),
  back: state('loopBack'),
})
const choice = (name: string, ...bodies: Element[][]): Element => ({
  kind: 'choice',
  name,
  bodies,
  state: state('choice'),
})

/** Joins the states of a sequence of elements; returns the first state. */
function connect(body: readonly Element[], end: State): State {
  let next = end
  for (const element of body.toReversed()) {
    switch (element.kind) {
      case 'token':
        element.state.edges.push({ to: next, tokens: element.tokens })
        break
      case 'rule':
        element.state.edges.push({ to: next, rule: element.rule })
        break
      case 'optional':
        element.state.edges.push({ to: connect(element.body, next) }, { to: next })
        break
      case 'loop':
        element.state.edges.push({ to: connect(element.body, element.back) }, { to: next })
        element.back.edges.push({ to: element.state })
        break
      case 'plus':
        element.state.edges.push({ to: connect(element.body, element.back) })
        element.back.edges.push({ to: element.state }, { to: next })
        break
      case 'choice':
        for (const one of element.bodies) element.state.edges.push({ to: connect(one, next) })
    }
    next = element.state
  }
  return next
}

const rules = new Map<RuleName, GrammarRule & { readonly first: State }>()

function rule(name: RuleName, body: Element[], continuations: Continuation[] = []): void {
  const stop = state()
  const loopState = state('choice')
  const back = state('loopBack')
  const inner = state('choice')
  for (const { body } of continuations) inner.edges.push({ to: connect(body, back) })
  loopState.edges.push({ to: inner }, { to: stop })
  back.edges.push({ to: loopState })
  const first = connect(body, continuations.length === 0 ? stop : loopState)
  rules.set(name, { name, body, continuations, loop: loopState, back, inner, first })
}

const leadingDot = () => optional(token('.', 'leadingDot'))
const trailingComma = () => optional(token(','))

rule('start', [ref('expr', 'e'), token('EOF')])
rule('expr', [
  ref('conditionalOr', 'e'),
  optional(token('?', 'op'), ref('conditionalOr', 'e1'), token(':'), ref('expr', 'e2')),
])
rule('conditionalOr', [
  ref('conditionalAnd', 'e'),
  loop(token('||', 'op'), ref('conditionalAnd', 'e1')),
])
rule('conditionalAnd', [ref('relation', 'e'), loop(token('&&', 'op'), ref('relation', 'e1'))])
rule(
  'relation',
  [ref('calc', 'e')],
  [
    {
      name: 'relation',
      precedence: 1,
      body: [token('== != in < <= >= >', 'op'), ref('relation', 'e1', 2)],
    },
  ],
)
rule(
  'calc',
  [ref('unary', 'e')],
  [
    { name: 'multiply', precedence: 2, body: [token('* / %', 'op'), ref('calc', 'e1', 3)] },
    { name: 'add', precedence: 1, body: [token('- +', 'op'), ref('calc', 'e1', 2)] },
  ],
)
rule('unary', [
  choice(
    'unary',
    [ref('member', 'e')],
    [plus(token('!', 'op')), ref('member', 'e')],
    [plus(token('-', 'op')), ref('member', 'e')],
  ),
])
rule(
  'member',
  [ref('primary', 'e')],
  [
    {
      name: 'select',
      precedence: 3,
      body: [token('.', 'op'), optional(token('?', 'opt')), ref('escapeIdent', 'id')],
    },
    {
      name: 'memberCall',
      precedence: 2,
      body: [
        token('.', 'op'),
        token('IDENTIFIER', 'id'),
        token('(', 'open'),
        optional(ref('exprList', 'args')),
        token(')'),
      ],
    },
    {
      name: 'index',
      precedence: 1,
      body: [token('[', 'op'), optional(token('?', 'opt')), ref('expr', 'index'), token(']')],
    },
  ],
)
rule('primary', [
  choice(
    'primary',
    [leadingDot(), token('IDENTIFIER', 'id')],
    [
      leadingDot(),
      token('IDENTIFIER', 'id'),
      token('(', 'op'),
      optional(ref('exprList', 'args')),
      token(')'),
    ],
    [token('('), ref('expr', 'e'), token(')')],
    [token('[', 'op'), optional(ref('listInit', 'elems')), trailingComma(), token(']')],
    [token('{', 'op'), optional(ref('mapInitializerList', 'entries')), trailingComma(), token('}')],
    [
      leadingDot(),
      token('IDENTIFIER', 'id'),
      loop(token('.'), token('IDENTIFIER', 'id')),
      token('{', 'op'),
      optional(ref('fieldInitializerList', 'entries')),
      trailingComma(),
      token('}'),
    ],
    [ref('literal', 'e')],
  ),
])
rule('exprList', [ref('expr', 'e'), loop(token(','), ref('expr', 'e'))])
rule('listInit', [ref('optExpr', 'e'), loop(token(','), ref('optExpr', 'e'))])
const field = () => [ref('optField', 'key'), token(':', 'col'), ref('expr', 'value')]
rule('fieldInitializerList', [...field(), loop(token(','), ...field())])
rule('optField', [optional(token('?', 'opt')), ref('escapeIdent', 'id')])
const entry = () => [ref('optExpr', 'key'), token(':', 'col'), ref('expr', 'value')]
rule('mapInitializerList', [...entry(), loop(token(','), ...entry())])
rule('escapeIdent', [
  choice('escapeIdent', [token('IDENTIFIER', 'id')], [token('ESC_IDENTIFIER', 'id')]),
])
rule('optExpr', [optional(token('?', 'opt')), ref('expr', 'e')])
rule('literal', [
  choice(
    'literal',
    [optional(token('-', 'sign')), token('NUM_INT', 'tok')],
    [token('NUM_UINT', 'tok')],
    [optional(token('-', 'sign')), token('NUM_FLOAT', 'tok')],
    [token('STRING', 'tok')],
    [token('BYTES', 'tok')],
    [token('true', 'tok')],
    [token('false', 'tok')],
    [token('null', 'tok')],
  ),
])

export const ruleOf = (name: RuleName): GrammarRule => rules.get(name)!

const known = new WeakMap<State, ReadonlySet<number>>()

/** The tokens that can come next in the rule of a state; `ruleEnd` if the rule can end there. */
export function nextTokens(from: State): ReadonlySet<number> {
  let found = known.get(from)
  if (found === undefined) {
    found = collect(from)
    known.set(from, found)
  }
  return found
}

function collect(from: State): Set<number> {
  const tokens = new Set<number>()
  const visited = new Set<State>([from])
  for (const at of visited) {
    if (at.edges.length === 0) tokens.add(ruleEnd)
    for (const edge of at.edges) {
      if ('rule' in edge) {
        // No rule of this grammar can be empty.
        for (const one of nextTokens(rules.get(edge.rule)!.first)) tokens.add(one)
      } else if (edge.tokens === undefined) visited.add(edge.to)
      else for (const one of edge.tokens) tokens.add(one)
    }
  }
  return tokens
}

/** The state in which a rule goes on after a token or a rule. */
export const stateAfter = (from: State): State => from.edges[0]!.to
