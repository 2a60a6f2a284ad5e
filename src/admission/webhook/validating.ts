/** Calls all validating webhooks concurrently. The request continues if none of them rejects it. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { askHook, type DispatchParts, judge } from './dispatch.ts'
import { meetsConditions } from './conditions-once-set.ts'
import { HookSource } from './hook-source.ts'
import { inSelectedNamespace, type Invocation, invocationOf, isExempt } from './invocation.ts'
import { Versioned } from './versioned.ts'

const recordsIgnoredValidators = change(
  'the audit log records failed validating webhooks that are ignored',
  { since: 22 },
)

export function validatingWebhooks(
  parts: DispatchParts,
  source = new HookSource('validatingwebhookconfigurations'),
): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    start: (reader) => source.follow(reader),
    validate(request, reader) {
      const { hooks } = source
      if (hooks.length === 0 || isExempt(request, parts.skipsReviews)) return
      const possible = hooks
        .map((hook) => invocationOf(hook, request))
        .filter((one) => one !== undefined)
      if (possible.length === 0) return
      return callAll(parts, possible, request, reader)
    },
  }
}

async function callAll(
  parts: DispatchParts,
  possible: readonly Invocation[],
  request: AdmissionRequest,
  reader: ObjectReader,
): Promise<void> {
  const invocations: Invocation[] = []
  const versions = new Map<Kind, Versioned>()
  for (const one of possible) {
    if (one.byNamespace && !(await inSelectedNamespace(one, request, reader))) continue
    const versioned =
      versions.get(one.kind) ?? (await Versioned.of(request, one.kind, parts.release))
    versions.set(one.kind, versioned)
    const isCalled = await meetsConditions(parts, 'validating', one.hook, request, versioned)
    if (isCalled) invocations.push(one)
  }
  const outcomes = await Promise.all(
    invocations.map((one, i) =>
      callOne(parts, one, i, request, versions.get(one.kind) as Versioned, reader),
    ),
  )
  const refused = outcomes.find((error) => error !== undefined)
  if (refused !== undefined) throw refused
}

/** The error that ends the request, or undefined. */
async function callOne(
  parts: DispatchParts,
  { hook }: Invocation,
  index: number,
  request: AdmissionRequest,
  versioned: Versioned,
  reader: ObjectReader,
): Promise<unknown> {
  const began = performance.now()
  const failure = await askHook(parts, hook, request, versioned, reader, false).then(
    () => undefined,
    (error: unknown) => error,
  )
  const { error, ignored } = judge(parts, 'validating', hook, request, began, failure)
  if (ignored && releaseOf(parts.release).has(recordsIgnoredValidators)) {
    const key = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`
    request.auditAnnotations.set(key, hook.name)
  }
  return error
}
