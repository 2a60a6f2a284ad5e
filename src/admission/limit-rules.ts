/**
 * Checks requests and limits against one item of a LimitRange: minimum, maximum and the ratio of
 * limit to request.
 */
import type { Loose } from '#api/object-meta.ts'
import {
  compareQuantities,
  formatQuantity,
  quantityMilliValue,
  quantityOf,
  quantityValue,
} from '#api/quantity.ts'
import { ownValue } from '#kinds/own-key.ts'
import { setKey } from '#schema/user-key.ts'

/** Quantities by resource name. */
export type Amounts = Record<string, string>

/** Up to this value, quantities are compared in thousandths. */
const milliValueMax = (2n ** 63n - 1n) / 1000n

type Maybe = string | undefined

/** One constraint of a LimitRange with the request and limit to check. */
interface Asked {
  readonly type: string
  readonly name: string
  readonly enforced: string
  readonly request: Maybe
  readonly limit: Maybe
}

/** `limits` is undefined for claims, which have only requests. */
export function limitProblems(
  limit: Loose,
  requests: Amounts,
  limits: Amounts | undefined,
): string[] {
  const problems: Maybe[] = []
  const each = (field: string, rule: (asked: Asked) => Maybe) => {
    for (const [name, enforced] of Object.entries((limit[field] ?? {}) as Amounts)) {
      const request = ownValue(requests, name)
      problems.push(
        rule({ type: limit.type, name, enforced, request, limit: ownValue(limits, name) }),
      )
    }
  }
  each('min', tooLittle)
  each('max', limits === undefined ? tooMuchRequested : tooMuch)
  if (limits !== undefined) each('maxLimitRequestRatio', tooFarApart)
  return problems.filter((problem) => problem !== undefined)
}

/** All values are in thousandths, unless one is too large for that. */
function comparable(...amounts: [Maybe, Maybe, Maybe]): [bigint, bigint, bigint] {
  const whole = amounts.map((amount) => quantityValue(amount ?? '0'))
  const large = whole.some((amount) => amount > milliValueMax)
  const all = large ? whole : amounts.map((amount) => quantityMilliValue(amount ?? '0'))
  return all as [bigint, bigint, bigint]
}

function tooLittle({ type, name, enforced, request, limit }: Asked): Maybe {
  const [requested, limited, bound] = comparable(request, limit, enforced)
  const rule = `minimum ${name} usage per ${type} is ${enforced}`
  if (request === undefined) return `${rule}.  No request is specified`
  if (requested < bound) return `${rule}, but request is ${request}`
  if (limit !== undefined && limited < bound) return `${rule}, but limit is ${limit}`
  return undefined
}

function tooMuchRequested({ type, name, enforced, request, limit }: Asked): Maybe {
  const [requested, , bound] = comparable(request, limit, enforced)
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (request === undefined) return `${rule}.  No request is specified`
  return requested > bound ? `${rule}, but request is ${request}` : undefined
}

function tooMuch({ type, name, enforced, request, limit }: Asked): Maybe {
  const [requested, limited, bound] = comparable(request, limit, enforced)
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (limit === undefined) return `${rule}.  No limit is specified`
  if (limited > bound) return `${rule}, but limit is ${limit}`
  if (request !== undefined && requested > bound) return `${rule}, but request is ${request}`
  return undefined
}

function tooFarApart({ type, name, enforced, request, limit }: Asked): Maybe {
  const [requested, limited] = comparable(request, limit, enforced)
  const rule = `${name} max limit to request ratio per ${type} is ${enforced}`
  if (request === undefined || requested === 0n)
    return `${rule}, but no request is specified or request is 0`
  if (limit === undefined || limited === 0n)
    return `${rule}, but no limit is specified or limit is 0`
  const ratio = Number(limited) / Number(requested)
  const small = quantityValue(enforced) <= milliValueMax
  const bound = Number(small ? quantityMilliValue(enforced) : quantityValue(enforced))
  return ratio * (small ? 1000 : 1) > bound
    ? `${rule}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined
}

/**
 * The total requests or limits of a pod before 1.28. A resource counts only if every container
 * specifies it. The total is the sum, or the largest init container if that is more.
 */
export function olderPodAmounts(spec: Loose, field: 'requests' | 'limits'): Amounts {
  const lists = ((spec.containers ?? []) as Loose[]).map(
    ({ resources }) => (resources?.[field] ?? {}) as Amounts,
  )
  const result: Amounts = {}
  for (const name of new Set(lists.flatMap((list) => Object.keys(list)))) {
    if (lists.every((list) => Object.hasOwn(list, name))) setKey(result, name, sum(name, lists))
  }
  for (const { resources } of (spec.initContainers ?? []) as Loose[]) {
    for (const [name, amount] of Object.entries((resources?.[field] ?? {}) as Amounts)) {
      const there = ownValue(result, name)
      if (there === undefined || compareQuantities(amount, there) > 0) setKey(result, name, amount)
    }
  }
  return result
}

function sum(name: string, lists: Amounts[]): string {
  const cpu = name === 'cpu'
  let total = 0n
  for (const list of lists)
    total += (cpu ? quantityMilliValue : quantityValue)(list[name] as string)
  return formatQuantity(
    cpu ? { unscaled: total, scale: -3, format: 'DecimalSI' } : quantityOf(total),
  )
}
