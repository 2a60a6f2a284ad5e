/**
 * Validation of status.responders, which the responders write: when they started, when they last
 * reported, and when they ended. Only the active responder may change its item.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { timestampMs } from '#api/timestamp.ts'
import { repeats, sameJson } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { respondersMax, skewMs } from './responder-limits.ts'

const path = FieldPath.of('status', 'responders')
const type = 'io.k8s.api.lifecycle.v1alpha1.ResponderStatus'
const expectedMsMax = 10 * 365 * 24 * 60 * 60_000

export function checkResponders(next: Loose, old: Loose, nowMs: number): FieldError[] {
  const [responders, targets]: Loose[][] = [next.responders ?? [], next.targetResponders ?? []]
  const names = (responders as Loose[]).map(({ name = '' }) => name as string)
  const wrong = (detail: string) => [invalid(path, internalValue(type, next.responders), detail)]
  if (targets.length !== responders.length)
    return wrong('must be the same length as status.targetResponders and contain the same keys')
  if (targets.some(({ name = '' }) => !names.includes(name)))
    return wrong('must contain the same keys as status.targetResponders')
  // Declared rules report these.
  if (responders.length > respondersMax || repeats(names).includes(true)) return []
  const before: Loose[] = old.responders ?? []
  return responders.flatMap((responder, i) => {
    const called = (one: Loose) => (one.name ?? '') === names[i]
    const isActive = targets.find(called)?.state === 'Active'
    return new ResponderCheck(responder, before.find(called), path.index(i), nowMs).run(isActive)
  })
}

/** One item of the list. Declared rules keep startTime and completionTime once they are set. */
class ResponderCheck {
  readonly #next: Loose
  readonly #old: Loose
  readonly #isNew: boolean
  readonly #path: FieldPath
  readonly #nowMs: number

  constructor(next: Loose, old: Loose | undefined, path: FieldPath, nowMs: number) {
    this.#next = next
    this.#old = old ?? {}
    this.#isNew = old === undefined
    this.#path = path
    this.#nowMs = nowMs
  }

  run(isActive: boolean): FieldError[] {
    if (!this.#isNew && !isActive && !sameJson(this.#next, this.#old))
      return [invalid(this.#path, internalValue(type, this.#next), immutableMessage)]
    return [
      ...this.#checkStart(isActive),
      ...this.#checkHeartbeat(),
      ...this.#checkExpected(),
      ...this.#checkCompletion(),
    ]
  }

  #checkStart(isActive: boolean): FieldError[] {
    const field = 'startTime'
    const isSet = this.#isSet(field)
    if (this.#old[field] && !this.#isSame(field)) return []
    if (!isSet)
      return isActive
        ? [required(this.#path.child(field), 'is required for an active responder')]
        : []
    return this.#isSame(field) || this.#isNow(field)
      ? []
      : this.#wrong(field, 'must be set to the present time')
  }

  #checkHeartbeat(): FieldError[] {
    const field = 'heartbeatTime'
    if (!this.#isSet(field))
      return this.#old[field] ? [required(this.#path.child(field), 'is required once set')] : []
    if (this.#isSame(field)) return []
    if (!this.#isSet('startTime')) return this.#beforeStart(field)
    const time = this.#ms(field)
    if (this.#old[field] && time < timestampMs(this.#old[field]))
      return this.#wrong(field, 'cannot be decreased')
    if (time < this.#ms('startTime')) return this.#notAfterStart(field)
    return this.#isNow(field) ? [] : this.#wrong(field, 'must be set to the present time')
  }

  #checkExpected(): FieldError[] {
    const field = 'expectedCompletionTime'
    if (!this.#isSet(field) || this.#isSame(field)) return []
    if (!this.#isSet('startTime')) return this.#beforeStart(field)
    const time = this.#ms(field)
    if (time < this.#ms('startTime')) return this.#notAfterStart(field)
    if (time < this.#nowMs - skewMs) return this.#wrong(field, 'cannot be set to the past time')
    return time > this.#nowMs + expectedMsMax
      ? this.#wrong(field, 'must complete within 10 years')
      : []
  }

  #checkCompletion(): FieldError[] {
    const field = 'completionTime'
    if (!this.#isSet(field) || (this.#old[field] && !this.#isSame(field))) return []
    if (!this.#isSet('startTime')) return this.#beforeStart(field)
    if (this.#ms(field) < this.#ms('startTime')) return this.#notAfterStart(field)
    return this.#isSame(field) || this.#isNow(field)
      ? []
      : this.#wrong(field, 'must be set to the present time')
  }

  #isSet(field: string): boolean {
    return Boolean(this.#next[field])
  }

  #isSame(field: string): boolean {
    const [next, old]: (string | undefined)[] = [this.#next[field], this.#old[field]]
    if (!next || !old) return !next && !old
    return timestampMs(next) === timestampMs(old)
  }

  #ms(field: string): number {
    return timestampMs(this.#next[field])
  }

  #isNow(field: string): boolean {
    return Math.abs(this.#ms(field) - this.#nowMs) < skewMs
  }

  #wrong(field: string, detail: string): FieldError[] {
    return [invalid(this.#path.child(field), this.#next[field], detail)]
  }

  #beforeStart(field: string): FieldError[] {
    return this.#wrong(field, `cannot be set before ${this.#path.child('startTime')} is set`)
  }

  #notAfterStart(field: string): FieldError[] {
    return this.#wrong(field, `must occur after ${this.#path.child('startTime')}`)
  }
}
