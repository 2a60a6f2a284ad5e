/**
 * JSON Patch (RFC 6902) as kube-apiserver 1.22 applies it, which is laxer than the RFC. `replace`
 * adds a missing member, and `test` of a missing member for null succeeds. A negative index counts
 * from the end in `add` and `remove`. The document and the patch are not changed.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { ApiError, badRequest, tooLarge } from '#api/status-error.ts'
import { nestingDepthMax } from '#codec/json.ts'
import { copyValue, equalValues, isMap, type JsonMap, ownValue, setMember } from './json-map.ts'

/** kube-apiserver's limit. Each operation walks its path again, so their number must be limited. */
const jsonPatchOperationsMax = 10_000

type Operation = JsonMap
type Container = Json[] | JsonMap

/** kube-apiserver's limit for the bytes that copy operations add; each can double the document. */
const copiedBytesMax = 3 * 1024 * 1024

/**
 * Parts of values that move operations may check when they move values to a deeper level. Each move
 * checks all parts, at no cost for the client. The limit equals a few of the largest bodies.
 */
const movedPartsMax = 1_000_000

/** The failure of one operation. Clients only see that the patch failed. */
export class OperationError extends Error {}

/** A `test` operation found a different value. */
export class TestFailed extends OperationError {}

const missing = 'missing value'

/**
 * Throws ApiError: 400 for an invalid patch, 413 for too many operations, 422 if it cannot be
 * applied.
 */
export function applyJsonPatch(document: Json, patch: Json, release: number): Json {
  const operations = decode(patch, release)
  if (operations.length > jsonPatchOperationsMax) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${operations.length}`,
    )
  }
  try {
    return applyOperations(document, operations, release)
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    const answer = new ApiError(
      422,
      'Invalid',
      'the server rejected our request due to an error in our request',
      {},
    )
    answer.cause = error
    throw answer
  }
}

const comparesWholeObjects = change('the operation test of a JSON patch compares whole objects', {
  since: 16,
})

function decode(patch: Json, release: number): Operation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonKind(patch)} into Go value of type jsonpatch.Patch`,
    )
  }
  return patch.map((operation) => {
    if (operation === null) return {}
    if (isMap(operation)) return operation
    throw badRequest(
      `json: cannot unmarshal ${jsonKind(operation)} into Go value of type jsonpatch.${releaseOf(release).has(comparesWholeObjects) ? 'Operation' : 'operation'}`,
    )
  })
}

/** JSON of a value; integers that a double cannot represent are bigint. */
const writtenJson = (value: Json): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))

const jsonKind = (value: Json): string => {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** Throws OperationError with the message of kube-apiserver's library. */
function applyOperations(document: Json, operations: readonly Operation[], release: number): Json {
  const root = copyValue(document)
  const equal = releaseOf(release).has(comparesWholeObjects) ? equalValues : isContained
  const progress: Progress = { copiedBytes: 0, movedParts: 0, equal }
  if (root === null || typeof root !== 'object') return root
  for (const operation of operations) {
    const op = ownValue(operation, 'op')
    const apply = typeof op === 'string' && Object.hasOwn(appliers, op) ? appliers[op] : undefined
    if (apply === undefined) {
      throw new OperationError(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`)
    }
    apply(root, operation, progress)
  }
  return root
}

interface Progress {
  copiedBytes: number
  movedParts: number
  /** Whether `value` equals the value of a `test` operation. */
  readonly equal: (value: Json, wanted: Json) => boolean
}

/** The older library checks only that the members of the found object are in the expected one. */
function isContained(value: Json, wanted: Json): boolean {
  if (Array.isArray(value) && Array.isArray(wanted)) {
    return value.length === wanted.length && value.every((one, i) => isContained(one, wanted[i]))
  }
  if (!isMap(value) || !isMap(wanted)) return equalValues(value, wanted)
  return Object.entries(value).every(
    ([key, one]) => Object.hasOwn(wanted, key) && isContained(one, wanted[key]),
  )
}

/** Resolves a path; throws if its container does not exist. */
function sought(root: Container, path: string, words: string, shown = path): Found {
  const found = find(root, path)
  if (found === undefined) throw new OperationError(`${words}: ${shown}: ${missing}`)
  return found
}

/** Applies `act` at the path of an operation; throws if its container does not exist. */
function atPlace(
  root: Container,
  operation: Operation,
  name: string,
  act: (found: Found) => void,
): void {
  const path = pathOf(operation, 'path', `${name} operation failed to decode path`, true)
  const words = `${name} operation does not apply: doc is missing path`
  const found = sought(root, path, words, `"${path}"`)
  within(`error in ${name} for path: '${path}'`, () => act(found))
}

const appliers: Record<
  string,
  (root: Container, operation: Operation, progress: Progress) => void
> = {
  add(root, operation) {
    atPlace(root, operation, 'add', (found) => put(found, valueOf(operation)))
  },
  remove(root, operation) {
    atPlace(root, operation, 'remove', (found) => remove(found))
  },
  replace(root, operation) {
    const path = pathOf(operation, 'path', 'replace operation failed to decode path')
    const found = sought(root, path, 'replace operation does not apply: doc is missing path')
    within(
      `replace operation does not apply: doc is missing key: ${path}`,
      () => get(found.container, found.key),
      missing,
    )
    const { container, key, depth } = found
    const value = valueOf(operation)
    requireShallow(value, nestingDepthMax - depth)
    if (Array.isArray(container)) container[indexOf(key)] = value
    else setMember(container, key, value)
  },
  move(root, operation, progress) {
    const from = pathOf(operation, 'from', 'move operation failed to decode from')
    const source = sought(root, from, 'move operation does not apply: doc is missing from path')
    const value = within(`error in move for path: '${source.key}'`, () => {
      const moved = get(source.container, source.key)
      remove(source)
      return moved
    })
    const path = pathOf(operation, 'path', 'move operation failed to decode path')
    const target = sought(
      root,
      path,
      'move operation does not apply: doc is missing destination path',
    )
    if (target.depth > source.depth) {
      progress.movedParts += requireShallow(value ?? null, nestingDepthMax - target.depth)
      if (progress.movedParts > movedPartsMax) throw new OperationError('moved too much')
    }
    within(`error in move for path: '${path}'`, () => lay(target, value ?? null))
  },
  copy(root, operation, progress) {
    const from = pathOf(operation, 'from', 'copy operation failed to decode from')
    const source = sought(root, from, 'copy operation does not apply: doc is missing from path')
    const value = within(`error in copy for from: '${from}'`, () =>
      get(source.container, source.key),
    )
    const path = pathOf(operation, 'path', 'copy operation failed to decode path', true)
    const target = sought(
      root,
      path,
      'copy operation does not apply: doc is missing destination path',
    )
    progress.copiedBytes += value === undefined ? 0 : Buffer.byteLength(writtenJson(value))
    if (progress.copiedBytes > copiedBytesMax) {
      throw new OperationError(
        `Unable to complete the copy, the accumulated size increase of copy is ${progress.copiedBytes}, exceeding the limit ${copiedBytesMax}`,
      )
    }
    within('error while adding value during copy', () => put(target, copyValue(value ?? null)))
  },
  test(root, operation, { equal }) {
    const path = pathOf(operation, 'path', 'test operation failed to decode path')
    const found = sought(root, path, 'test operation does not apply: is missing path')
    const value = within(`error in test for path: '${path}'`, () => get(found.container, found.key))
    const wanted = ownValue(operation, 'value')
    if (wanted === undefined || !equal(value ?? null, wanted)) {
      throw new TestFailed(`testing value ${path} failed: test failed`)
    }
  },
}

/** `brief`: the library's message does not describe the faulty member. */
function pathOf(
  operation: Operation,
  member: 'path' | 'from',
  context: string,
  brief = false,
): string {
  const path = ownValue(operation, member)
  if (typeof path === 'string') return path
  if (brief) throw new OperationError(`${context}: ${missing}`)
  if (path === undefined || path === null) {
    const what =
      member === 'path' ? 'operation missing path field' : 'operation, missing from field'
    throw new OperationError(`${context}: ${what}: ${missing}`)
  }
  throw new OperationError(
    `${context}: json: cannot unmarshal ${jsonKind(path)} into Go value of type string`,
  )
}

const valueOf = (operation: Operation): Json => copyValue(ownValue(operation, 'value') ?? null)

interface Found {
  container: Container
  key: string
  /** The number of containers around the key. */
  depth: number
}

/** Finds the container of the last segment; undefined if a container on the path is missing. */
function find(root: Container, path: string): Found | undefined {
  const parts = path.split('/')
  if (parts.length < 2) return undefined
  let container = root
  for (const part of parts.slice(1, -1)) {
    const next = step(container, unescapePart(part))
    if (next === null || typeof next !== 'object') return undefined
    container = next
  }
  return { container, key: unescapePart(parts.at(-1) as string), depth: parts.length - 1 }
}

const unescapePart = (part: string): string =>
  part.replace(/~1|~0/g, (code) => (code === '~1' ? '/' : '~'))

function step(container: Container, key: string): Json {
  try {
    return get(container, key) ?? null
  } catch (error) {
    if (error instanceof OperationError) return null
    throw error
  }
}

function get(container: Container, key: string): Json | undefined {
  if (!Array.isArray(container)) return ownValue(container, key)
  const index = indexOf(key)
  if (index >= container.length || index < 0) throw invalidIndex(index)
  return container[index]
}

/**
 * Rejects values that would exceed the nesting limit, because several operations can build deeper
 * values than a body may have. Returns the number of parts.
 */
function requireShallow(value: Json, depthLeft: number): number {
  let parts = 1
  if (value === null || typeof value !== 'object') return parts
  if (depthLeft <= 0) throw new OperationError('exceeded max depth')
  for (const name in value) parts += requireShallow((value as JsonMap)[name] as Json, depthLeft - 1)
  return parts
}

function put(found: Found, value: Json): void {
  requireShallow(value, nestingDepthMax - found.depth)
  lay(found, value)
}

function lay({ container, key }: Found, value: Json): void {
  if (!Array.isArray(container)) {
    setMember(container, key, value)
    return
  }
  if (key === '-') {
    container.push(value)
    return
  }
  const index = within(`value was not a proper array index: '${key}'`, () => indexOf(key))
  const length = container.length + 1
  if (index >= length || index < -length) throw invalidIndex(index)
  container.splice(index < 0 ? index + length : index, 0, value)
}

function remove({ container, key }: Found): void {
  if (!Array.isArray(container)) {
    if (!Object.hasOwn(container, key)) {
      throw new OperationError(`Unable to remove nonexistent key: ${key}: ${missing}`)
    }
    delete container[key]
    return
  }
  const index = indexOf(key)
  if (index >= container.length || index < -container.length) throw invalidIndex(index)
  container.splice(index, 1)
}

const invalidIndex = (index: number) =>
  new OperationError(`Unable to access invalid index: ${index}: invalid index referenced`)

/** Parses like strconv.Atoi. */
function indexOf(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) {
    throw new OperationError(`strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`)
  }
  const index = Number(key)
  if (!Number.isSafeInteger(index)) {
    throw new OperationError(`strconv.Atoi: parsing ${goQuote(key)}: value out of range`)
  }
  return index
}

/** Prefixes errors of `action` with the context; `instead` replaces their message. */
function within<T>(context: string, action: () => T, instead?: string): T {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(`${context}: ${instead ?? error.message}`)
  }
}
