/**
 * Merges an applied configuration into a live object. The configuration's values win, and nothing
 * is removed. Items keep the live order unless the configuration specifies another one (before
 * 1.21, always). The result shares parts with both arguments, which are not changed.
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

/** undefined means that the field is removed. */
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

/** Fields that the configuration lacks are copied first, which keeps their position. */
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
  const lists = { live: indexed(list, live), config: indexed(list, config) }
  const out: Json[] = []
  /** `own` is a live item that the configuration lacks. */
  const push = (element: string, own?: Json) => {
    const before = own ?? lists.live.items.get(element)
    const merged = mergeValue(list.items, before, lists.config.items.get(element), rules)
    if (merged !== undefined) out.push(merged)
  }
  if (rules.ordersAsConfigured) {
    inOrder(lists, live, push)
  } else {
    for (const element of lists.live.order) push(element)
    for (const element of lists.config.order) if (!lists.live.items.has(element)) push(element)
  }
  return out.length > 0 ? out : undefined
}

/**
 * Live items keep their positions. A new configured item follows its predecessor in the
 * configuration. If both lists have the same items in different orders, the configuration's order
 * wins. A configured item replaces all live items with its key.
 */
function inOrder(
  { live, config }: { readonly live: Indexed; readonly config: Indexed },
  liveItems: readonly Json[],
  push: (element: string, own?: Json) => void,
): void {
  const shared = config.order.filter((element) => live.items.has(element))
  const written = new Set<string>()
  let sharedAt = 0
  let i = 0
  let j = 0
  while (i < live.order.length || j < config.order.length) {
    const next = live.order[i]
    if (next !== undefined && j < config.order.length) {
      if (next === config.order[j]) {
        push(next)
        written.add(next)
        i++
        j++
        sharedAt++
        continue
      }
      const wanted = shared[sharedAt]
      if (config.items.has(next) && wanted !== undefined && wanted !== next) {
        i++
        continue
      }
    }
    if (next !== undefined && !config.items.has(next)) {
      push(next, liveItems[i])
      i++
      continue
    }
    if (next !== undefined && written.has(next)) i++
    const configured = config.order[j]
    if (configured === undefined) continue
    push(configured)
    written.add(configured)
    j++
    if (shared[sharedAt] === configured) sharedAt++
  }
}

/** The path elements of a list's items, and the items by path element. */
interface Indexed {
  readonly order: readonly string[]
  readonly items: ReadonlyMap<string, Json>
}

/** Live items with the same key are not merged with a configured item, so they are null here. */
function indexed(list: List, all: readonly Json[]): Indexed {
  const order: string[] = []
  const items = new Map<string, Json>()
  for (const item of all) {
    const element = itemElement(list, item)
    items.set(element, items.has(element) ? null : item)
    order.push(element)
  }
  return { order, items }
}
