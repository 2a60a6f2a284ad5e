/**
 * Declarative validation of built-in kinds: the rules in tags on fields, in addition to
 * hand-written ones. Their errors follow the hand-written errors. A beta rule replaces the
 * hand-written error for the same problem.
 */
import type { FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { DeclaredWrite } from '#kinds/kind.ts'
import type { Struct } from '#schema/type.ts'
import type { DeclaredError, DeclaredRule } from './check.ts'
import { RuleCompiler } from './compile.ts'
import { type ReadRules, stepsIn, subresourcesIn } from './rules-table.ts'

/** The feature gate that makes beta rules authoritative. */
const betaGate = 'DeclarativeValidationBeta'

/** Appends declarative errors to the hand-written ones. */
export type Declared = (write: DeclaredWrite, handwritten: FieldError[]) => FieldError[]

/** The declarative rules of a kind. Undefined if the release has none. */
export function declaredRules(
  read: ReadRules,
  file: string,
  type: Struct,
  kind: string,
  release: number,
): Declared | undefined {
  const subresources = subresourcesIn(read(file), kind, release)
  if (subresources.length === 0) return undefined
  const compilers = new Map<string, RuleCompiler>()
  const rule = compilerOf(file).typeRule(kind, type)

  function compilerOf(of: string): RuleCompiler {
    let compiler = compilers.get(of)
    if (compiler === undefined) {
      compiler = new RuleCompiler(
        (name) => stepsIn(read(of), name, release),
        (inFile, name, at) => compilerOf(inFile).typeRule(name, at),
      )
      compilers.set(of, compiler)
    }
    return compiler
  }

  return (write, handwritten) =>
    subresources.includes(write.subresource) ? withDeclared(rule, write, handwritten) : handwritten
}

function withDeclared(
  rule: DeclaredRule,
  write: DeclaredWrite,
  handwritten: FieldError[],
): FieldError[] {
  const { next, old, feature } = write
  const isUpdate = old !== undefined
  const found = rule({ path: FieldPath.root, value: next, old, isUpdate, feature })
  const withBeta = feature(betaGate)
  if (withBeta && handwritten.some(({ isCovered }) => isCovered)) {
    const counting = handwritten.filter(({ isCovered }) => !isCovered)
    return withFound(found, counting, withBeta)
  }
  return withFound(found, handwritten, withBeta)
}

function withFound(
  found: readonly DeclaredError[],
  handwritten: FieldError[],
  withBeta: boolean,
): FieldError[] {
  if (found.length === 0) return handwritten
  const enforced = found.filter(({ isBeta }) => withBeta || !isBeta)
  return [
    ...handwritten.filter((error) => !isReplaced(error, enforced)),
    ...enforced.map(({ error }) => error),
  ]
}

/**
 * A format of paths that only one of the versions has: requests of a claim lie one level deeper
 * from v1beta2 on.
 */
const normalised = (field: string): string => field.replace(/\.(exactly|basic)(?=\.|$)/, '')

const isReplaced = (error: FieldError, enforced: readonly DeclaredError[]): boolean =>
  enforced.some(
    ({ error: declared, isBeta }) =>
      isBeta &&
      declared.type === error.type &&
      normalised(declared.field) === normalised(error.field) &&
      (error.type !== 'FieldValueInvalid' || isSameFault(error, declared)),
  )

const isSameFault = (error: FieldError, declared: FieldError): boolean =>
  error.origin === undefined
    ? inBytes(error.message) === inBytes(declared.message)
    : error.origin === declared.origin

/** Declarative errors say "bytes" where hand-written ones say "characters". */
const inBytes = (message: string): string => message.replace(/ characters$/, ' bytes')
