/** PUT: the whole object anew, for the main resource and for subresources that speak its kind. */
import type { Answer } from './answer.ts'
import { decodeBody, requireMatchingName, toHub } from './decode.ts'
import { dedupOwnerReferences } from './owner-references.ts'
import { claimFields } from './ownership.ts'
import type { Server, WriteRequest } from './server.ts'
import { writeOver } from './write-over.ts'

export async function update(server: Server, request: WriteRequest): Promise<Answer> {
  const { kind } = request.target
  const { behaviour } = kind.resource
  const body = await toHub(kind, decodeBody(request))
  requireMatchingName(body, request)
  dedupOwnerReferences(body, request.warnings, false)
  return writeOver(server, request, {
    uidIsPrecondition: true,
    creates: behaviour.createOnUpdate ?? false,
    unconditional: behaviour.unconditionalUpdate ?? true,
    async make(live) {
      const next = structuredClone(body)
      await claimFields(server, request, next, live)
      return next
    },
  })
}
