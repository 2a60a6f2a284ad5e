/** One item of a LimitRange against what is requested: minimum, maximum, and how far a limit may exceed a request. */
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

/** Amounts by the name of what they are of. */
export type Amounts = Record<string, string>

/** Up to here amounts are compared in thousandths. */
const milliValueMax = (2n ** 63n - 1n) / 1000n

/** `limits` is undefined where only requests exist: claims. */
export function limitProblems(
  limit: Loose,
  requests: Amounts,
  limits: Amounts | undefined,
): string[] {
  const problems: (string | undefined)[] = []
  const each = (field: string, rule: (name: string, enforced: string) => string | undefined) => {
    for (const [name, enforced] of Object.entries(limit[field] ?? {}))
      problems.push(rule(name, enforced as string))
  }
  const type = limit.type as string
  each('min', (name, enforced) =>
    tooLittle(type, name, enforced, ownValue(requests, name), ownValue(limits, name)),
  )
  if (limits === undefined) {
    each('max', (name, enforced) =>
      tooMuchRequested(type, name, enforced, ownValue(requests, name)),
    )
  } else {
    each('max', (name, enforced) =>
      tooMuch(type, name, enforced, ownValue(requests, name), ownValue(limits, name)),
    )
    each('maxLimitRequestRatio', (name, enforced) =>
      tooFarApart(type, name, enforced, ownValue(requests, name), ownValue(limits, name)),
    )
  }
  return problems.filter((problem) => problem !== undefined)
}

/** All in thousandths, unless one of them is too large for that. */
function comparable(...amounts: (string | undefined)[]): bigint[] {
  const whole = amounts.map((amount) => quantityValue(amount ?? '0'))
  if (whole.some((amount) => amount > milliValueMax)) return whole
  return amounts.map((amount) => quantityMilliValue(amount ?? '0'))
}

type Maybe = string | undefined

function tooLittle(
  type: string,
  name: string,
  enforced: string,
  request: Maybe,
  limit: Maybe,
): Maybe {
  const [requested, limited, bound] = comparable(request, limit, enforced) as [
    bigint,
    bigint,
    bigint,
  ]
  const rule = `minimum ${name} usage per ${type} is ${enforced}`
  if (request === undefined) return `${rule}.  No request is specified`
  if (requested < bound) return `${rule}, but request is ${request}`
  if (limit !== undefined && limited < bound) return `${rule}, but limit is ${limit}`
  return undefined
}

function tooMuchRequested(type: string, name: string, enforced: string, request: Maybe): Maybe {
  const [requested, bound] = comparable(request, enforced) as [bigint, bigint]
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (request === undefined) return `${rule}.  No request is specified`
  return requested > bound ? `${rule}, but request is ${request}` : undefined
}

function tooMuch(
  type: string,
  name: string,
  enforced: string,
  request: Maybe,
  limit: Maybe,
): Maybe {
  const [requested, limited, bound] = comparable(request, limit, enforced) as [
    bigint,
    bigint,
    bigint,
  ]
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (limit === undefined) return `${rule}.  No limit is specified`
  if (limited > bound) return `${rule}, but limit is ${limit}`
  if (request !== undefined && requested > bound) return `${rule}, but request is ${request}`
  return undefined
}

function tooFarApart(
  type: string,
  name: string,
  enforced: string,
  request: Maybe,
  limit: Maybe,
): Maybe {
  const [requested, limited] = comparable(request, limit, enforced) as [bigint, bigint]
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

/** What a whole pod asks for: of each resource that every container names the sum, or an init container's if larger. */
export function podAmounts(spec: Loose, field: 'requests' | 'limits'): Amounts {
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
