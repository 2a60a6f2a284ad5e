/** What the operations of a built-in kind describe, on both sides of changes. */
import { type BoundaryRow, checkBoundaries } from '#api/releases/boundary.suite.ts'
import { facts, kindsOfRelease } from '#discovery/kinds-of-facts.suite.ts'
import { kindOperations } from './kind-operations.ts'
import type { OpenApiOperation } from './operation.ts'

function operationsOf(release: number, plural: string): OpenApiOperation[] {
  const kinds = kindsOfRelease(release)
  const kind = kinds.find((one) => one.plural === plural && one.version === 'v1')
  if (kind === undefined) throw new Error(`1.${release} has no ${plural}`)
  const source = { facts, release, kinds, groups: new Map(), applies: true }
  return kindOperations({ ...source, schemaOf: () => undefined }, kind)
}

/** The operation for one object of a kind. */
const operationOf = (release: number, plural: string, method: string) =>
  operationsOf(release, plural).find((one) => one.method === method && one.path.endsWith('{name}'))

const parts = {
  'parameters of reading a pod': (release) =>
    operationOf(release, 'pods', 'get')?.parameters.map(({ name }) => name),
  'the result of deleting a pod': (release) => operationOf(release, 'pods', 'delete')?.answer,
  'the result of deleting a namespace': (release) =>
    operationOf(release, 'namespaces', 'delete')?.answer,
  'codes of a patch': (release) => operationOf(release, 'pods', 'patch')?.codes,
} satisfies Record<string, (release: number) => unknown>

type Part = keyof typeof parts
const row = (
  part: Part,
  boundary: [number, number],
  before: unknown,
  since: unknown,
): BoundaryRow<Part, unknown> => [part, boundary, part, before, since]

const names = ['namespace', 'name', 'pretty']
const status = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status'

checkBoundaries<Part, unknown>(
  (release, part) => parts[part](release),
  [
    row('the result of deleting a pod', [17, 18], status, 'io.k8s.api.core.v1.Pod'),
    row('the result of deleting a namespace', [17, 18], status, status),
    row(
      'parameters of reading a pod',
      [20, 21],
      ['namespace', 'name', 'export', 'exact', 'pretty'],
      names,
    ),
    row('codes of a patch', [21, 22], [200], [200, 201]),
  ],
)
