/**
 * A set of paths into an object, in the format of managedFields. It is a tree whose members are
 * path elements (path-element.ts), in order.
 *
 *   {"f:spec": {"f:replicas": {}, "f:template": {".": {}, "f:metadata": {}}}}
 *     contains .spec.replicas, .spec.template and .spec.template.metadata, but not .spec
 *
 * A subtree without elements is a path itself, and is always the one value `leaf`. A subtree with
 * elements is a path only if it has the member ".". Sets are immutable and share subtrees.
 */
import { canonicalElement, compareElements, fieldElement } from './path-element.ts'

export interface FieldSet {
  readonly [element: string]: FieldSet
}
type Building = { [element: string]: FieldSet }

/** The nesting limit of a decoded set, as in Go's decoder. */
const depthMax = 10_000

/** The subtree of a path that has no paths below it. */
export const leaf: FieldSet = Object.freeze({})
export const emptySet: FieldSet = leaf

export const isEmptySet = (set: FieldSet): boolean => set === emptySet

/** Whether the subtree of an element is a path itself. */
export const isMember = (subtree: FieldSet): boolean => subtree === leaf || '.' in subtree

export const hasChildren = (subtree: FieldSet): boolean => subtree !== leaf

/** Makes a set from paths of field names: makeFieldSet([['status'], ['metadata', 'labels']]). */
export function makeFieldSet(paths: readonly (readonly string[])[]): FieldSet {
  return setOfPaths(paths.map((path) => path.map(fieldElement)))
}

/** Makes a set from paths of elements. */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  let set = emptySet
  for (const path of paths) {
    if (path.length === 0) continue
    let subtree = leaf
    for (let i = path.length - 1; i >= 0; i--) subtree = { [path[i] as string]: subtree }
    set = union(set, subtree)
  }
  return set
}

/** Parses fieldsV1 of an entry. Throws a plain Error if it is invalid. */
export function parseFieldSet(fieldsV1: unknown): FieldSet {
  return parseLevel(fieldsV1, 0) ?? emptySet
}

/** Returns undefined if there are no paths below. */
function parseLevel(tree: unknown, depth: number): FieldSet | undefined {
  if (tree === null) return undefined
  if (typeof tree !== 'object' || Array.isArray(tree)) throw new Error('ReadMapCB: expect { or n')
  const steps = Object.keys(tree)
  if (steps.length === 0) return undefined
  if (depth > depthMax) throw new Error('ReadMapCB: exceeded max depth')
  let out: Building | undefined
  let previous = ''
  let sorted = true
  for (const written of steps) {
    if (written === '.') continue
    const element = canonicalElement(written)
    if (element === undefined) continue
    const subtree = (tree as Record<string, unknown>)[written]
    const below = parseLevel(subtree, depth + 1)
    out ??= {}
    if (below === undefined) out[element] = leaf
    else out[element] = '.' in (subtree as object) ? { '.': leaf, ...below } : below
    if (sorted && previous !== '') sorted = compareElements(previous, element) < 0
    previous = element
  }
  return out === undefined || sorted ? out : inOrder(out)
}

function inOrder(tree: FieldSet): FieldSet {
  const out: Building = {}
  for (const element of Object.keys(tree).sort(compareElements))
    out[element] = tree[element] as FieldSet
  return out
}

/** Makes a subtree from elements in any order. They must not contain duplicates. */
export function levelOf(steps: [element: string, subtree: FieldSet][], member: boolean): FieldSet {
  if (steps.length === 0) return leaf
  if (steps.length > 1) steps.sort(([a], [b]) => compareElements(a, b))
  const out: Building = member ? { '.': leaf } : {}
  for (const [element, subtree] of steps) out[element] = subtree
  return out
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a
  if (isEmptySet(a)) return b
  return unionInto({}, a, b)
}

function unionBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  return unionInto(isMember(a) || isMember(b) ? { '.': leaf } : {}, a, b)
}

/** Both sets are sorted, so merging them keeps the order. */
function unionInto(out: Building, a: FieldSet, b: FieldSet): FieldSet {
  const left = childSteps(a)
  const right = childSteps(b)
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const x = left[i] as string
    const y = right[j] as string
    if (x === y) {
      out[x] = unionBelow(a[x] as FieldSet, b[x] as FieldSet)
      i++
      j++
    } else if (compareElements(x, y) < 0) {
      out[x] = a[x] as FieldSet
      i++
    } else {
      out[y] = b[y] as FieldSet
      j++
    }
  }
  for (; i < left.length; i++) out[left[i] as string] = a[left[i] as string] as FieldSet
  for (; j < right.length; j++) out[right[j] as string] = b[right[j] as string] as FieldSet
  return out
}

function childSteps(tree: FieldSet): string[] {
  const steps = Object.keys(tree)
  if (steps[0] === '.') steps.shift()
  return steps
}

/** The paths in both sets. It walks along `a`, so `a` should be the smaller set. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet =>
  (a === b ? a : shared(a, b, false)) ?? emptySet

/** The paths of `a` that are not in `b`; paths below a path of `b` remain. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet =>
  (b === emptySet ? a : without(a, b, false)) ?? emptySet

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet =>
  (b === emptySet ? a : withoutBelow(a, b, false)) ?? emptySet

// Each of the following functions makes the subtree of an element. `self` means that the element is
// a path itself. undefined means that no path is left.

function shared(a: FieldSet, b: FieldSet, self: boolean): FieldSet | undefined {
  let out: Building | undefined
  for (const element of Object.keys(a)) {
    const other = element === '.' ? undefined : b[element]
    if (other === undefined) continue
    const mine = a[element] as FieldSet
    const below = shared(mine, other, isMember(mine) && isMember(other))
    if (below !== undefined) out = put(out, element, below, self)
  }
  return out ?? (self ? leaf : undefined)
}

function without(a: FieldSet, b: FieldSet, self: boolean): FieldSet | undefined {
  if (!haveCommonStep(b, a)) return withSelf(a, self)
  let out: Building | undefined
  for (const element of Object.keys(a)) {
    if (element === '.') continue
    const mine = a[element] as FieldSet
    const other = b[element]
    const below =
      other === undefined ? mine : without(mine, other, isMember(mine) && !isMember(other))
    if (below !== undefined) out = put(out, element, below, self)
  }
  return out ?? (self ? leaf : undefined)
}

function withoutBelow(a: FieldSet, b: FieldSet, self: boolean): FieldSet | undefined {
  if (!haveCommonStep(b, a)) return withSelf(a, self)
  let out: Building | undefined
  for (const element of Object.keys(a)) {
    if (element === '.') continue
    const mine = a[element] as FieldSet
    const other = b[element]
    if (other !== undefined && isMember(other)) continue
    const below = other === undefined ? mine : withoutBelow(mine, other, isMember(mine))
    if (below !== undefined) out = put(out, element, below, self)
  }
  return out ?? (self ? leaf : undefined)
}

function put(out: Building | undefined, element: string, below: FieldSet, self: boolean): Building {
  const level = out ?? (self ? { '.': leaf } : {})
  level[element] = below
  return level
}

/** Detects disjoint sets with a walk along the set that is usually small. */
function haveCommonStep(small: FieldSet, large: FieldSet): boolean {
  for (const element in small) if (element !== '.' && element in large) return true
  return false
}

function withSelf(subtree: FieldSet, self: boolean): FieldSet | undefined {
  if (subtree === leaf) return self ? leaf : undefined
  if (self === '.' in subtree) return subtree
  return self ? { '.': leaf, ...subtree } : withoutSelf(subtree)
}

/** The paths below an element, without the element's own path. */
export function withoutSelf(subtree: FieldSet): FieldSet {
  if (!('.' in subtree)) return subtree
  const { '.': _, ...children } = subtree
  return children
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  const elements = Object.keys(a)
  if (elements.length !== Object.keys(b).length) return false
  for (const element of elements) {
    const other = b[element]
    if (other === undefined || !equalSets(a[element] as FieldSet, other)) return false
  }
  return true
}

/** Whether `b` contains every path of `a`. */
export function isSubset(a: FieldSet, b: FieldSet): boolean {
  for (const element of Object.keys(a)) {
    if (element === '.') continue
    const mine = a[element] as FieldSet
    const other = b[element]
    if (other === undefined) return false
    if (isMember(mine) && !isMember(other)) return false
    if (!isSubset(mine, other)) return false
  }
  return true
}

export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let subtree: FieldSet | undefined = set
  for (const element of path) {
    subtree = subtree[element]
    if (subtree === undefined) return false
  }
  return path.length > 0 && isMember(subtree)
}
