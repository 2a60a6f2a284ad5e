/**
 * The line-by-line difference between two values of an internal type, as messages show it since
 * 1.34.
 */
import { type FieldError, forbidden } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, type GoText } from '#api/go-syntax.ts'
import { indentedJson } from '#api/indented-json.ts'
import type { Loose } from '#api/object-meta.ts'
import { unifiedDiff } from '#api/unified-diff.ts'
import { type InternalJson, Unfinished } from './internal-value.ts'

interface Difference {
  /** The OpenAPI name of the type. */
  readonly type: string
  /** The text before the difference. */
  readonly sentence: string
  readonly old: Loose
  readonly next: Loose
}

class InternalDifference extends Unfinished {
  readonly difference: Difference
  constructor(difference: Difference) {
    super(difference.sentence, difference.sentence)
    this.difference = difference
  }
  finish(jsonOf: InternalJson): GoText {
    const { type, sentence, old, next } = this.difference
    const lines = (value: Loose) => indentedJson(jsonOf(type, value))
    return asGo(sentence, `${sentence}\n${unifiedDiff(lines(old), lines(next))}`)
  }
}

/**
 * An error that shows the difference. `before34` is the complete detail in releases before 1.34,
 * which format differences in another way.
 */
export const forbiddenChange = (
  path: FieldPath,
  { before34, ...difference }: Difference & { before34: string },
): FieldError => ({
  ...forbidden(path, before34),
  shown: { head: 'Forbidden', value: new InternalDifference(difference), detail: '' },
})
