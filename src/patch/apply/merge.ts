/**
 * An applied configuration laid over a live object: the configuration's values win, nothing is removed. Items of
 * lists keep the order of the live list where the configuration does not say otherwise (before 1.21, in any case).
 * The result shares parts with both; neither is changed.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap, type JsonMap, ownValue, setMember } from '#patch/json-map.ts'
import type { List, Type } from '#schema/type.ts'
import { type ApplyRules, newestRules } from './rules.ts'
import { isHollow, itemElement, memberType, shapeOf, untyped } from './shape.ts'

/** Both must be valid for the type. */
export function mergeObjects(
  type: Type,
  live: Json,
  config: Json,
  rules: ApplyRules = newestRules,
): Json {
  return mergeValue(type, live, config, rules) ?? null
}

/** undefined: nothing is left to write. */
function mergeValue(
  type: Type,
  live: Json | undefined,
  config: Json | undefined,
  rules: ApplyRules,
): Json | undefined {
  if (config === undefined) return live
  if (live === undefined) return config
  const like = type.is === 'untyped' && config === null ? live : config
  const shape = shapeOf(type, like)
  if (shape === 'leaf') return config
  if (shape === 'map') return mergeMembers(type, asMap(live), asMap(config), rules) ?? config
  const liveItems = asList(live)
  const items = asList(config)
  if (liveItems.length + items.length === 0) return config
  return mergeItems(type as List, liveItems, items, rules)
}

const asList = (value: Json): Json[] => (Array.isArray(value) ? value : [])
const asMap = (value: Json): JsonMap => (isMap(value) ? value : {})

/** What the configuration does not mention is taken over at once, in its place. */
function mergeMembers(
  type: Type,
  live: JsonMap,
  config: JsonMap,
  rules: ApplyRules,
): JsonMap | undefined {
  const out: JsonMap = { ...live }
  for (const name of Object.keys(config)) {
    const member = memberType(type, name) ?? untyped
    const merged = mergeValue(member, ownValue(live, name), config[name], rules)
    if (merged !== undefined) setMember(out, name, merged)
  }
  return isHollow(out) ? undefined : out
}

function mergeItems(
  list: List,
  live: Json[],
  config: Json[],
  rules: ApplyRules,
): Json[] | undefined {
  const [liveOrder, liveItems] = index(list, live)
  const [configOrder, configItems] = index(list, config)
  const out: Json[] = []
  const push = (element: string) => {
    const merged = mergeValue(list.items, liveItems.get(element), configItems.get(element), rules)
    if (merged !== undefined) out.push(merged)
  }
  if (rules.ordersAsConfigured) {
    inOrder(liveOrder, configOrder, liveItems, configItems, push)
  } else {
    for (const element of liveOrder) push(element)
    for (const element of configOrder) if (!liveItems.has(element)) push(element)
  }
  return out.length > 0 ? out : undefined
}

/**
 * Live items keep their places; a configured item that is new comes right after the one before it in the
 * configuration, and where both lists have the same items in another order, the configuration's order wins.
 */
function inOrder(
  liveOrder: string[],
  configOrder: string[],
  liveItems: ReadonlyMap<string, Json>,
  configItems: ReadonlyMap<string, Json>,
  push: (element: string) => void,
): void {
  const shared = configOrder.filter((element) => liveItems.has(element))
  let sharedAt = 0
  let i = 0
  let j = 0
  while (i < liveOrder.length || j < configOrder.length) {
    const next = liveOrder[i]
    if (next !== undefined && j < configOrder.length) {
      if (next === configOrder[j]) {
        push(next)
        i++
        j++
        sharedAt++
        continue
      }
      const wanted = shared[sharedAt]
      if (configItems.has(next) && wanted !== undefined && wanted !== next) {
        i++
        continue
      }
    }
    if (next !== undefined && !configItems.has(next)) {
      push(next)
      i++
      continue
    }
    const configured = configOrder[j]
    if (configured === undefined) {
      // Every configured item is written; a live one that is left was written with it.
      i++
      continue
    }
    push(configured)
    j++
    if (shared[sharedAt] === configured) sharedAt++
  }
}

function index(list: List, items: Json[]): [string[], Map<string, Json>] {
  const order: string[] = []
  const byElement = new Map<string, Json>()
  for (const item of items) {
    const element = itemElement(list, item)
    if (byElement.has(element)) continue
    byElement.set(element, item)
    order.push(element)
  }
  return [order, byElement]
}
