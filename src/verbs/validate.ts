/**
 * Collects all validation errors of an object: metadata first, then schema, then the kind's own
 * rules.
 */
import { type FieldError, problemsOf } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain, nameIsPathSegment } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import {
  validateMetaNames,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '#api/object-meta-rules.ts'
import { inWordsOf } from '#api/release-words.ts'
import { releaseOf } from '#api/releases/change.ts'
import { invalidObject } from '#api/status-error.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import {
  type Context,
  type DeclaredWrite,
  type Kind,
  type NamespaceRule,
  rulesFor,
} from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { fromHub } from './decode.ts'
import { nameOf } from './server.ts'

const metadataPath = FieldPath.of('metadata')

/** Adds the errors of the declarative rules of the kind's fields to `errors`. */
function withDeclared(kind: Kind, write: DeclaredWrite, errors: FieldError[]): FieldError[] {
  if (kind.withDeclared === undefined) return errors
  const { declaredOption } = kind.resource.behaviour
  if (declaredOption === undefined) return kind.withDeclared(write, errors)
  const feature = (gate: string) => declaredOption(gate, write.old) ?? write.feature(gate)
  return kind.withDeclared({ ...write, feature }, errors)
}

/** The errors of a rule that compares the object with its namespace. */
function namespaceErrors(
  rule: NamespaceRule | undefined,
  next: KubeObject,
  old: KubeObject | undefined,
  context: Context,
  reader: ObjectReader | undefined,
): Awaitable<FieldError[]> {
  const check = rule?.(next, old, context)
  if (check === undefined) return []
  const { namespace = '' } = next.metadata
  return after(reader?.get('', 'namespaces', '', namespace), (found) => check(found))
}

export function refuseInvalidNew(
  kind: Kind,
  object: KubeObject,
  context: Context,
  reader?: ObjectReader,
): Awaitable<void> {
  const { namespaceRule } = kind.resource.behaviour
  return after(namespaceErrors(namespaceRule, object, undefined, context, reader), (first) =>
    kind.validateSchema === undefined
      ? refuseNew(kind, object, context, first)
      : after(fromHub(kind, object), (shown) => refuseNew(kind, object, context, first, shown)),
  )
}

/**
 * `first`: the errors found before. `shown`: the object in the form that its schema validates, if
 * it has one.
 */
function refuseNew(
  kind: Kind,
  object: KubeObject,
  context: Context,
  first: readonly FieldError[],
  shown = object,
): void {
  const { hub, behaviour } = kind.resource
  const named = { group: kind.resource.errorGroup, kind: hub.kind }
  const nameRule =
    behaviour.nameRuleOf?.(object, context) ?? behaviour.nameRule ?? nameIsDnsSubdomain
  const { metadataLast, metadataLastIn } = behaviour
  const isMetadataLast =
    metadataLast || (metadataLastIn !== undefined && releaseOf(context.release).has(metadataLastIn))
  const rule = { namespaced: kind.namespaced, nameRule }
  const found = problemsOf(() => {
    const metadataErrors = isMetadataLast
      ? []
      : validateObjectMeta(object.metadata, rule, metadataPath)
    return [
      ...first,
      ...metadataErrors,
      ...(kind.validateSchema?.(shown, { metadataErrors }) ?? []),
      ...(behaviour.validateCreate?.(object, context) ?? []),
    ]
  })
  // Check the name as a path segment too. Other metadata was checked before, unless the kind checks
  // it last.
  const asPath = { namespaced: kind.namespaced, nameRule: nameIsPathSegment }
  const write = { next: object, subresource: '', feature: context.feature }
  const declared = problemsOf(() => withDeclared(kind, write, found))
  const errors = problemsOf(() =>
    declared.length > 0
      ? declared
      : isMetadataLast
        ? validateObjectMeta(object.metadata, asPath, metadataPath)
        : validateMetaNames(object.metadata, nameIsPathSegment, metadataPath),
  )
  if (errors.length === 0) return
  throw invalidObject(named, nameOf(object), inWordsOf(errors, context.release))
}

export function refuseInvalidUpdate(
  kind: Kind,
  subresource: string,
  next: KubeObject,
  old: KubeObject,
  context: Context,
  warnings: string[] = [],
  reader?: ObjectReader,
): Awaitable<void> {
  const rule = subresource === '' ? undefined : rulesFor(kind, subresource)?.namespaceRule
  return after(namespaceErrors(rule, next, old, context, reader), (first) =>
    kind.validateSchema === undefined
      ? refuseUpdate(kind, subresource, next, old, context, first)
      : after(fromHub(kind, next), (shown) =>
          refuseUpdate(kind, subresource, next, old, context, first, shown, warnings),
        ),
  )
}

function refuseUpdate(
  kind: Kind,
  subresource: string,
  next: KubeObject,
  old: KubeObject,
  context: Context,
  first: readonly FieldError[],
  shown = next,
  warnings: string[] = [],
): void {
  const { hub } = kind.resource
  const meta = next.metadata
  const rules = rulesFor(kind, subresource)
  const errors = problemsOf(() =>
    withDeclared(kind, { next, old, subresource, feature: context.feature }, [
      ...first,
      ...validateObjectMeta(
        meta,
        { namespaced: kind.namespaced, nameRule: nameIsPathSegment },
        metadataPath,
      ),
      ...validateObjectMetaUpdate(meta, old.metadata, metadataPath),
      ...(kind.validateSchema?.(shown, { old, subresource, warn: (text) => warnings.push(text) }) ??
        []),
      ...(rules?.validateUpdate?.(next, old, context) ?? []),
    ]),
  )
  if (errors.length > 0) {
    throw invalidObject(
      { group: kind.resource.errorGroup, kind: hub.kind },
      nameOf(next),
      inWordsOf(errors, context.release),
    )
  }
}
