/** The owner of a file in a volume. */
import type { FieldError } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { userId } from '#api/names.ts'
import { each } from '#kinds/all-kinds/checks.ts'

export const checkUser = (user: number | null | undefined, path: FieldPath): FieldError[] =>
  user === undefined || user === null ? [] : each(path, user, userId(user))
