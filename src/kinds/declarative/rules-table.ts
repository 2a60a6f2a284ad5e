/**
 * The rows of facts/rules.*.json: the declarative rules of a type as steps, in kube-apiserver's
 * order. A step is a list of rule name, mark and arguments. The mark has up to three letters. The
 * stage of the rule is a (alpha) or b (beta). An s means that a failure ends the checks of the
 * field. A q means that a failure is not reported. For example, a beta rule that allows 32 items
 * and ends the checks:
 *
 *     ["maxItems", "bs", 32]
 */
import { isWithin, type Span } from '#api/releases/change.ts'

export type RuleStep = readonly [rule: string, mark: string, ...rest: unknown[]]

export interface RulesTable {
  /** For each kind, the subresources that run its rules; '' is the object itself. */
  readonly kinds: Readonly<Record<string, readonly KindRow[]>>
  readonly types: Readonly<Record<string, readonly TypeRow[]>>
}

interface KindRow extends Span {
  readonly subresources: readonly string[]
}

interface TypeRow extends Span {
  readonly steps: readonly RuleStep[]
}

/** Reads one table; undefined where the package has no rules in any release. */
export type ReadRules = (file: string) => RulesTable | undefined

export const subresourcesIn = (
  table: RulesTable | undefined,
  kind: string,
  release: number,
): readonly string[] =>
  table?.kinds[kind]?.find((row) => isWithin(row, release))?.subresources ?? []

export const stepsIn = (
  table: RulesTable | undefined,
  type: string,
  release: number,
): readonly RuleStep[] => table?.types[type]?.find((row) => isWithin(row, release))?.steps ?? []
