/**
 * A recorded conversation with one thing changed. What is put in is taken from the conversations of
 * the same family where it can be, so that it is of the kind that recordings hold. Pure: a seed and
 * a conversation make the steps.
 */
import { type Body, isMap } from './base-objects.ts'
import { mangle } from './conversations.ts'
import type { Random } from './random.ts'

export interface RecordedStep {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The user; `admin` if not specified. */
  readonly as?: string
  /** How long to wait before, in milliseconds. */
  readonly pause?: number
}

/** What conversations of a family hold that can be put elsewhere. */
export interface ComparedResponse {
  readonly bodies: readonly Body[]
  readonly parameters: readonly string[]
  readonly types: readonly string[]
  readonly accepts: readonly string[]
  readonly identities: readonly string[]
}

const parametersBeside = [
  'dryRun=All',
  'fieldManager=other',
  'force=true',
  'resourceVersion=0',
  'limit=1',
  'pretty=true',
  'labelSelector=a%3Db',
  'fieldSelector=metadata.name%3Da',
  'timeoutSeconds=1',
  'gracePeriodSeconds=0',
  'propagationPolicy=Orphan',
]

export function seenIn(steps: readonly RecordedStep[]): ComparedResponse {
  const headersOf = (name: string) => steps.flatMap(({ headers }) => headers?.[name] ?? [])
  const distinct = (values: readonly string[]) => [...new Set(values)]
  return {
    bodies: steps.flatMap(({ body }) => (isMap(body as never) ? [body as Body] : [])),
    parameters: distinct([
      ...steps.flatMap(({ path }) => path.split('?')[1]?.split('&') ?? []),
      ...parametersBeside,
    ]),
    types: distinct([...headersOf('content-type'), 'application/json', 'application/yaml']),
    accepts: distinct([...headersOf('accept'), 'application/json', 'application/yaml', '*/*']),
    identities: ['admin', 'alice', 'bob', 'anonymous', 'nobody'],
  }
}

type Change = (step: RecordedStep, random: Random, seen: ComparedResponse) => RecordedStep

const inBody: Change = (step, random) =>
  isMap(step.body as never) ? { ...step, body: mangle(step.body as Body, random) } : step

/** A field of the body becomes what another conversation has in its place. */
const crossed: Change = (step, random, { bodies }) => {
  if (!isMap(step.body as never) || bodies.length === 0) return step
  const copy = structuredClone(step.body as Body)
  let [into, from] = [copy, random.pick(bodies)]
  for (;;) {
    const names = Object.keys(from).filter((name) => !['apiVersion', 'kind', 'name'].includes(name))
    if (names.length === 0) return step
    const name = random.pick(names)
    const [mine, theirs] = [into[name], from[name]]
    if (isMap(mine as never) && isMap(theirs as never) && random.chance(0.7)) {
      into = mine as Body
      from = theirs as Body
      continue
    }
    into[name] = structuredClone(theirs) as never
    return { ...step, body: copy }
  }
}

const withParameters = (path: string, parameters: readonly string[]): string => {
  const [plain = ''] = path.split('?')
  return parameters.length === 0 ? plain : `${plain}?${parameters.join('&')}`
}

const inQuery: Change = (step, random, { parameters }) => {
  const had = step.path.split('?')[1]?.split('&') ?? []
  const isWatch = had.some((one) => one.startsWith('watch'))
  const kept = had.filter((one) => one.startsWith('timeoutSeconds') || random.chance(0.8))
  const added = random.pick(parameters)
  const name = added.split('=')[0] ?? ''
  // A watch without an end would be waited for.
  if (name === 'watch' || (isWatch && name === 'timeoutSeconds')) return step
  const others = kept.filter((one) => !one.startsWith(`${name}=`))
  return { ...step, path: withParameters(step.path, [...others, added]) }
}

const inHeaders: Change = (step, random, { types, accepts }) => {
  const headers = { ...step.headers }
  if (step.body !== undefined && random.chance(0.5)) headers['content-type'] = random.pick(types)
  else headers.accept = random.pick(accepts)
  return { ...step, headers }
}

const inPath: Change = (step, random) => {
  const [path = '', query] = step.path.split('?')
  const parts = path.split('/')
  switch (random.below(5)) {
    case 0:
      parts.push(random.pick(['status', 'scale', 'x', 'log', 'token', 'finalize', 'approval']))
      break
    case 1:
      parts.pop()
      break
    case 2:
      parts[parts.length - 1] = random.pick(['missing', 'a', 'plain', 'UPPER', 'x%2Fy', ''])
      break
    case 3:
      return {
        ...step,
        path: step.path.replace(/\/v1(?=\/)/, random.pick(['/v1beta1', '/v2', '/v9'])),
      }
    default:
      return {
        ...step,
        path: step.path.replace('/namespaces/{id}', random.pick(['', '/namespaces/none'])),
      }
  }
  return { ...step, path: parts.join('/') + (query === undefined ? '' : `?${query}`) }
}

const inMethod: Change = (step, random) => ({
  ...step,
  method: random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']),
})

const inIdentity: Change = (step, random, { identities }) => ({
  ...step,
  as: random.pick(identities),
})

const changes: readonly Change[] = [
  inBody,
  inBody,
  inBody,
  crossed,
  crossed,
  crossed,
  inQuery,
  inHeaders,
  inPath,
  inMethod,
  inIdentity,
]

/** Whether a request with this method ends: a watch would not. */
const ends = ({ path }: RecordedStep): boolean =>
  !/[?&]watch=/.test(path) || path.includes('timeoutSeconds=')

/** One step changed, left out, repeated or moved. */
export function changeOne(
  recorded: readonly RecordedStep[],
  random: Random,
  seen: ComparedResponse,
): RecordedStep[] {
  const steps = [...recorded]
  const at = random.below(steps.length)
  const step = steps[at] as RecordedStep
  switch (random.below(12)) {
    case 0:
      if (steps.length > 1) steps.splice(at, 1)
      break
    case 1:
      steps.splice(at, 0, step)
      break
    case 2:
      steps.splice(at, 1)
      steps.splice(random.below(steps.length + 1), 0, step)
      break
    default:
      steps[at] = random.pick(changes)(step, random, seen)
  }
  return steps.filter(ends)
}
