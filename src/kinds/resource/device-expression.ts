/**
 * Expressions that select devices. They read one variable, the device:
 *
 *   device.attributes["dra.example.com"].model == "a" && device.capacity["x"].size.isGreaterThan(…)
 */
import { releaseOf } from '#api/releases/change.ts'
import {
  anyType,
  boolType,
  type CelType,
  dynType,
  isSameType,
  mapOf,
  objectType,
  stringType,
  typeText,
} from '#cel/cel-type.ts'
import { compile, type Declarations, Issues } from '#cel/compile.ts'
import { quantityType } from '#cel/declarations/kubernetes.ts'
import { celEnvironment, withMacros } from '#cel/environment.ts'
import type { SizeOf } from '#cel/estimate/call-estimate.ts'
import { bindMacros } from '#cel/parse/macros.ts'
import { PlanError } from '#cel/plan-error.ts'
import type { Context } from '#kinds/kind.ts'

/** Worst cost of one expression. */
const costMax = 1_000_000

const deviceType = objectType('kubernetes.DRADevice')

/** Maximum sizes: names, the number of attributes of a device, and one value. */
const sizes = { driver: 63, domain: 63, id: 32, entries: 32, value: 64 }

/** With the feature gate, an attribute can be a list, over which macros can run. */
const attributeTypeOf = ({ feature }: Pick<Context, 'feature'>): CelType =>
  feature('DRAListTypeAttributes') ? dynType : anyType

function declarationsFor(context: Pick<Context, 'feature'>): Declarations {
  const byDomain = (value: CelType) => mapOf(stringType, mapOf(stringType, value))
  const fields = new Map<string, CelType>([
    ['driver', stringType],
    ['attributes', byDomain(attributeTypeOf(context))],
    ['capacity', byDomain(quantityType)],
  ])
  if (context.feature('DRAConsumableCapacity')) fields.set('allowMultipleAllocations', boolType)
  return {
    variables: new Map([['device', deviceType]]),
    types: {
      findType: (name) => (name === deviceType.name ? deviceType : undefined),
      findField: (type, field) => (type === deviceType.name ? fields.get(field) : undefined),
    },
  }
}

const upTo = (max: number) => ({ min: 0, max })

/** `device.attributes` maps domains to maps of names. */
const sizeOf: SizeOf = ({ path: [root, field, ...below] }) => {
  if (root !== 'device') return undefined
  if (field === 'driver') return upTo(sizes.driver)
  if (field === 'allowMultipleAllocations') return upTo(1)
  if (field !== 'attributes' && field !== 'capacity') return undefined
  const last = below.at(-1)
  if (below.length <= 1) return upTo(last === '@keys' ? sizes.domain : sizes.entries)
  if (last === '@keys') return upTo(sizes.id)
  return field === 'attributes' ? upTo(sizes.value) : undefined
}

export type SelectorProblem = { invalid: string } | { tooComplex: true } | undefined

/** The error in a CEL expression that selects devices. */
export function selectorProblem(text: string, context: Context): SelectorProblem {
  const environment = withMacros(celEnvironment(releaseOf(context.release), 'new'), bindMacros)
  const compiled = compile(text, environment, declarationsFor(context))
  if (compiled instanceof Issues) return { invalid: `compilation failed: ${compiled.text}` }
  const { type } = compiled
  if (!isSameType(type, boolType) && !isSameType(type, attributeTypeOf(context))) {
    return { invalid: `must evaluate to bool or the unknown type, not ${typeText(type)}` }
  }
  try {
    compiled.program()
  } catch (error) {
    if (!(error instanceof PlanError)) throw error
    return { invalid: `program instantiation failed: ${error.message}` }
  }
  return compiled.estimate(sizeOf).max > costMax ? { tooComplex: true } : undefined
}
