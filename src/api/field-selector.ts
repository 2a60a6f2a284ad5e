/**
 * Parses field selectors such as `metadata.name=a,status.phase!=Running`, with Kubernetes' grammar
 * and errors.
 */
import { badRequest } from './status-error.ts'

export interface FieldRequirement {
  readonly field: string
  readonly value: string
  readonly equal: boolean
}

export type FieldSelector = readonly FieldRequirement[]

export const everything: FieldSelector = []

/** Splits at commas without a preceding backslash. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function unescape(text: string): string {
  if (!/[\\,=]/.test(text)) return text
  let out = ''
  for (let i = 0; i < text.length; i++) {
    const ch = text[i]
    if (ch === '\\') {
      const next = text[++i]
      if (next !== '\\' && next !== ',' && next !== '=') {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next ?? ''}`)
      }
      out += next
    } else if (ch === ',' || ch === '=') {
      // kube-apiserver's message has the code of the character.
      throw badRequest(`invalid field selector: unescaped character in value: ${ch.charCodeAt(0)}`)
    } else out += ch
  }
  return out
}

/** Escapes a value for a field selector. */
export const escapedValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&')

/** Splits a term at its first operator. A backslash does not escape an operator. */
function splitTerm(term: string): [string, '=' | '!=', string] | undefined {
  for (let i = 0; i < term.length; i++) {
    if (term.startsWith('!=', i)) return [term.slice(0, i), '!=', term.slice(i + 2)]
    if (term.startsWith('==', i)) return [term.slice(0, i), '=', term.slice(i + 2)]
    if (term[i] === '=') return [term.slice(0, i), '=', term.slice(i + 1)]
  }
  return undefined
}

export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everything
  const out: FieldRequirement[] = []
  for (const term of splitTerms(text)) {
    if (term === '') continue
    const parts = splitTerm(term)
    if (parts === undefined) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    }
    out.push({ field: parts[0], equal: parts[1] === '=', value: unescape(parts[2]) })
  }
  return out
}

/**
 * Rejects selectors with fields that the kind does not support. `refuse` returns the error for such
 * a field.
 */
export function requireKnownFields(
  selector: FieldSelector,
  refuse: (field: string) => string | undefined,
) {
  for (const { field } of selector) {
    const problem = refuse(field)
    if (problem !== undefined) throw badRequest(problem)
  }
}

/** The name, if the selector requires a single metadata.name. */
export function soleName(selector: FieldSelector): string | undefined {
  return selector.find(({ field, equal }) => equal && field === 'metadata.name')?.value
}
