/**
 * The stored form of a RangeAllocation: decoded from JSON or protobuf, and encoded like other
 * objects. The kind is not served, so the catalog does not contain it.
 */
import type { Loose } from '#api/object-meta.ts'
import { decodeJson } from '#codec/json.ts'
import { decodeMessage, encodeObject, openEnvelope } from '#codec/protobuf.ts'
import type { Type } from '#schema/type.ts'
import type { AllocationForm } from './range-claims.ts'

/** The first byte of JSON; the protobuf envelope starts with another byte. */
const brace = 0x7b

const header = { kind: 'RangeAllocation', apiVersion: 'v1' }

export const allocationForm = (type: Type, writesProtobuf: boolean): AllocationForm => ({
  parse(bytes) {
    const { range = '', data = '' } =
      bytes[0] === brace
        ? (decodeJson(bytes) as Loose)
        : decodeMessage(type, openEnvelope(bytes).raw)
    return { range, data: Buffer.from(data, 'base64') }
  },
  encode({ range, data }) {
    const allocation = { ...header, metadata: {}, range, data: data.toString('base64') }
    return writesProtobuf
      ? encodeObject(type, allocation)
      : Buffer.from(`${JSON.stringify(allocation)}\n`)
  },
})
