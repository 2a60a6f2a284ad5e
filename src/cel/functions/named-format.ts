/** Named formats: `format.dns1123Label().validate('a_b')` returns what is wrong, if anything is. */
import {
  labelValue,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  qualifiedName,
} from '#api/names.ts'
import { ArrayList } from '#cel/collections.ts'
import { requestUriProblem } from '#cel/functions/url.ts'
import type { Implementation } from '#cel/plan-call.ts'
import type { SizedFormat } from '#cel/runtime-cost.ts'
import { type CelError, OpaqueValue, Optional, overloadError, type Value } from '#cel/values.ts'
import { formatCheck } from '#schema/structural/formats.ts'

class NamedFormat extends OpaqueValue implements SizedFormat {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly regexSize: number
  readonly problems: (text: string) => string[]
  constructor(name: string, regexSize: number, problems: (text: string) => string[]) {
    super()
    this.name = name
    this.regexSize = regexSize
    this.problems = problems
  }
  equals(other: Value): boolean | CelError {
    return other instanceof NamedFormat ? this.name === other.name : overloadError(other)
  }
}

const byCheck = (format: string, problem: string) => {
  const holds = formatCheck(format)
  return (text: string) => (holds?.(text) === false ? [problem] : [])
}

const uriProblems = (text: string): string[] => {
  const problem = requestUriProblem(text)
  return problem === undefined ? [] : [problem]
}

/** Sizes are those of the regular expressions that Kubernetes assumes for the cost. */
const rows: readonly (readonly [string, NamedFormat])[] = [
  ['dns1123Label', new NamedFormat('DNS1123Label', 30, (text) => nameIsDnsLabel(text, false))],
  [
    'dns1123Subdomain',
    new NamedFormat('DNS1123Subdomain', 60, (text) => nameIsDnsSubdomain(text, false)),
  ],
  ['dns1035Label', new NamedFormat('DNS1035Label', 30, (text) => nameIsDns1035Label(text, false))],
  ['qualifiedName', new NamedFormat('QualifiedName', 60, qualifiedName)],
  [
    'dns1123LabelPrefix',
    new NamedFormat('DNS1123LabelPrefix', 30, (text) => nameIsDnsLabel(text, true)),
  ],
  [
    'dns1123SubdomainPrefix',
    new NamedFormat('DNS1123SubdomainPrefix', 60, (text) => nameIsDnsSubdomain(text, true)),
  ],
  [
    'dns1035LabelPrefix',
    new NamedFormat('DNS1035LabelPrefix', 30, (text) => nameIsDns1035Label(text, true)),
  ],
  ['labelValue', new NamedFormat('LabelValue', 40, labelValue)],
  ['uri', new NamedFormat('URI', 1103, uriProblems)],
  ['uuid', new NamedFormat('uuid', 70, byCheck('uuid', 'does not match the UUID format'))],
  ['byte', new NamedFormat('byte', 84, byCheck('byte', 'invalid base64'))],
  ['date', new NamedFormat('date', 71, byCheck('date', 'invalid date'))],
  ['datetime', new NamedFormat('datetime', 71, byCheck('datetime', 'invalid datetime'))],
]

const formats = new Map(rows)

function validate(format: Value, text: Value): Value {
  if (!(format instanceof NamedFormat)) return overloadError(format)
  const problems = format.problems(text as string)
  return problems.length === 0 ? Optional.none : new Optional(new ArrayList(problems))
}

export const formatImplementations: readonly (readonly [string, Implementation])[] = [
  ['format-validate', validate],
  [
    'format-named',
    (name) => {
      const format = formats.get(name as string)
      return format === undefined ? Optional.none : new Optional(format)
    },
  ],
  ...rows.map(([name, format]): readonly [string, Implementation] => [
    `format.${name}`,
    () => format,
  ]),
]
