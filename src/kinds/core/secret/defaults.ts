/** Defaults of Secret. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { setKey } from '#schema/user-key.ts'

/** Text is another way to write data, and is never read back. */
const secret: Defaulter = (value) => {
  value.type ||= 'Opaque'
  const text: Record<string, string> | undefined = value.stringData
  if (text === undefined) return
  delete value.stringData
  if (text === null || Object.keys(text).length === 0) return
  value.data ??= {}
  for (const key of Object.keys(text)) {
    setKey(value.data, key, Buffer.from(text[key] as string).toString('base64'))
  }
}

export const secretDefaults: Defaulters = { 'io.k8s.api.core.v1.Secret': secret }
