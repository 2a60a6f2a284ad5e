/**
 * What the expressions of a release can use: macros, functions, types and checks.
 *
 * There are two environments. An expression that a client writes may use what the previous release
 * knows, so that the previous release can read it after a downgrade. An expression that is stored
 * may use all that this release knows.
 *
 *   celEnvironment(releaseOf(37), 'new')      no list.includes(…), which 1.37 adds
 *   celEnvironment(releaseOf(37), 'stored')   with list.includes(…)
 */
import type { EstimateRules } from './estimate/call-estimate.ts'
import { type ReleaseChange, change, type Release, releaseOf } from '#api/releases/change.ts'
import { type CelType, type FunctionDeclaration, opaqueType, type Overload } from './cel-type.ts'
import { mergeFunctions } from './check/declared-names.ts'
import { authorizerFunctions, authorizerSelectorFunctions } from './declarations/authorizer.ts'
import {
  extendedListFunctions,
  listFunctions,
  listIncludesFunctions,
  mapInsertFunctions,
  setFunctions,
} from './declarations/collections.ts'
import {
  cidrFunctions,
  cidrType,
  formatFunctions,
  ipFunctions,
  ipType,
  quantityFunctions,
  semverFunctions,
  urlFunctions,
} from './declarations/kubernetes.ts'
import { optionalFunctions, optionalListFunctions } from './declarations/optional.ts'
import { crossTypeComparison, standardFunctions, standardTypes } from './declarations/standard.ts'
import { regexFunctions, stringFormatFunctions, stringFunctions } from './declarations/text.ts'
import { implementations } from './functions/implementations.ts'
import { preparedPatterns } from './functions/prepared-patterns.ts'
import { singleImplementations } from './functions/standard.ts'
import {
  type Macro,
  optionalMacros,
  sortMacros,
  standardMacros,
  twoVariableMacros,
} from './parse/macros.ts'
import { macrosByKey, type ParseOptions } from './parse/parse.ts'
import type { CallEnvironment } from './plan-call.ts'

export type EnvironmentKind = 'new' | 'stored'

export interface CelEnvironment {
  /** The release whose expressions it accepts. */
  readonly compatible: Release
  readonly parsing: ParseOptions
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly types: ReadonlyMap<string, CelType>
  isDisabled(overload: Overload): boolean
  /**
   * Whether lists and maps of several types are errors of the checker rather than of a later check.
   */
  readonly homogeneousLiterals: boolean
  /** Whether durations, patterns and the like that can never work are errors of the compiler. */
  readonly checksLiterals: boolean
  readonly calls: CallEnvironment
  readonly estimates: EstimateRules
  /** Errors show types as they are encoded: 'primitive:STRING'. */
  readonly showsEncodedTypes: boolean
  /** `&&` and `||` are checked as other calls are, and unknown methods have no type. */
  readonly checksOperatorsAsCalls: boolean
}

const usesOlderEnvironment = change(
  'new CEL expressions may use only what the previous release knows',
  { since: 28 },
)
const comparesAcrossTypes = change('CEL compares an int with a double', { since: 28 })
const checksLiterals = change('CEL rejects literals that can never work', { since: 29 })
const checksElementsLater = change('CEL allows elements of several types in calls of format()', {
  since: 29,
})
const hasOptionals = change('CEL has optional values and fields', { since: 28 })
const hasOptionalLists = change('CEL has first(), last() and unwrapOpt() of lists', { since: 33 })
const namesOptionalType = change('CEL expressions can name the type optional_type', { since: 31 })
const hasTwoVariables = change('CEL macros can have two variables', { since: 32 })
const hasExtendedLists = change('CEL has sort(), slice() and flatten() of lists', { since: 34 })

const knowsResults = change('CEL costs know the size of lists and maps that macros make', {
  since: 29,
})
const comparesAtOnce = change(
  'CEL costs of comparing quantities, addresses and the like are fixed',
  {
    since: 32,
  },
)
const knowsElements = change('CEL costs know the sizes of elements that expressions make', {
  since: 33,
})
const showsTypes = change('errors of CEL name types, such as string for primitive:STRING', {
  since: 29,
})
const checksOperands = change('CEL checks each operand of && and || by itself', { since: 29 })
const showsBounds = change('CEL errors of a list of an expression show the index alone', {
  since: 28,
})
const knowsOptionalSyntax = change('CEL reports ?. and [? as unsupported, not as wrong syntax', {
  since: 28,
})
const namesArgumentTypes = change('errors of CEL calls name the types of the arguments', {
  since: 29,
})

/** Libraries by the change that added them. */
const libraries: readonly (readonly [ReleaseChange, ...(readonly FunctionDeclaration[])[]])[] = [
  [change('CEL has the variable authorizer', { since: 27 }), authorizerFunctions],
  [change('CEL has quantities', { since: 28 }), quantityFunctions],
  [hasOptionals, optionalFunctions],
  [change('CEL has format() and quote() of strings', { since: 29 }), stringFormatFunctions],
  [change('CEL has functions of sets', { since: 29 }), setFunctions],
  [change('CEL has IP addresses and CIDR blocks', { since: 30 }), ipFunctions, cidrFunctions],
  [change('CEL has named formats', { since: 31 }), formatFunctions],
  [
    change('CEL authorizers accept field and label selectors', { since: 31 }),
    authorizerSelectorFunctions,
  ],
  [hasTwoVariables, mapInsertFunctions],
  [change('CEL has semantic versions', { since: 33 }), semverFunctions],
  [hasExtendedLists, extendedListFunctions],
  [change('CEL has includes() of lists', { since: 37 }), listIncludesFunctions],
]

const hasAddressTypes = libraries.find(([, first]) => first === ipFunctions)?.[0] as ReleaseChange

/** What came with a version of cel-go, and so to new expressions at once. */
const withCelGo: readonly (readonly [ReleaseChange, readonly FunctionDeclaration[]])[] = [
  [hasOptionalLists, optionalListFunctions],
]

const known = new Map<string, CelEnvironment>()

export function celEnvironment(release: Release, kind: EnvironmentKind): CelEnvironment {
  const key = `${release.minor} ${kind}`
  let environment = known.get(key)
  if (environment === undefined) {
    environment = makeEnvironment(release, kind)
    known.set(key, environment)
  }
  return environment
}

function makeEnvironment(release: Release, kind: EnvironmentKind): CelEnvironment {
  const isOlder = kind === 'new' && release.has(usesOlderEnvironment)
  const compatible = isOlder ? releaseOf(release.minor - 1) : release
  const optionals = compatible.has(hasOptionals)
  const functions = mergeFunctions(
    standardFunctions,
    stringFunctions,
    urlFunctions,
    regexFunctions,
    listFunctions,
    ...libraries.flatMap(([added, ...declared]) => (compatible.has(added) ? declared : [])),
    ...(optionals ? withCelGo : []).flatMap(([added, declared]) =>
      release.has(added) ? [declared] : [],
    ),
  )
  const crossTypes = compatible.has(comparesAcrossTypes)
  return {
    compatible,
    parsing: {
      macros: macrosByKey(...macrosOf(compatible)),
      optionalSyntax: optionals,
      optionalTokens: release.has(knowsOptionalSyntax),
      escapedIdentifiers: false,
    },
    functions,
    types: typesByName([
      ...(compatible.has(hasAddressTypes) ? [ipType, cidrType] : []),
      ...(release.has(namesOptionalType) ? [opaqueType('optional_type')] : []),
    ]),
    isDisabled: ({ id }) => !crossTypes && crossTypeComparison.test(id),
    homogeneousLiterals: !release.has(checksElementsLater),
    checksLiterals: compatible.has(checksLiterals),
    calls: callsOf(functions, {
      namesTypes: release.has(namesArgumentTypes),
      showsListSize: !release.has(showsBounds),
    }),
    estimates: {
      knowsResults: release.has(knowsResults),
      knowsElements: release.has(knowsElements),
      comparesAtOnce: release.has(comparesAtOnce),
    },
    showsEncodedTypes: !release.has(showsTypes),
    checksOperatorsAsCalls: !release.has(checksOperands),
  }
}

function macrosOf(compatible: Release): (readonly Macro[])[] {
  return [
    standardMacros,
    ...(compatible.has(hasOptionals) ? [optionalMacros] : []),
    ...(compatible.has(hasTwoVariables) ? [twoVariableMacros] : []),
    ...(compatible.has(hasExtendedLists) ? [sortMacros] : []),
  ]
}

const typesByName = (more: readonly CelType[]): ReadonlyMap<string, CelType> =>
  new Map([...standardTypes, ...more].map((type) => [type.name, type]))

function callsOf(
  functions: ReadonlyMap<string, FunctionDeclaration>,
  texts: Pick<CallEnvironment, 'namesTypes' | 'showsListSize'>,
): CallEnvironment {
  return {
    ...texts,
    overloadsOf: (name) => functions.get(name)?.overloads ?? [],
    implementations,
    singleImplementations,
    prepared: preparedPatterns,
  }
}

/** The environment with more functions, such as those of mutations. */
export function withFunctions(
  environment: CelEnvironment,
  ...added: (readonly FunctionDeclaration[])[]
): CelEnvironment {
  const functions = mergeFunctions([...environment.functions.values()], ...added)
  return { ...environment, functions, calls: callsOf(functions, environment.calls) }
}

/** The environment with more macros, such as those of device selectors. */
export function withMacros(environment: CelEnvironment, added: readonly Macro[]): CelEnvironment {
  const { parsing } = environment
  const macros = new Map([...parsing.macros, ...macrosByKey(added)])
  return { ...environment, parsing: { ...parsing, macros } }
}
