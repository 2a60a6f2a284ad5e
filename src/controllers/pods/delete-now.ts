/** A pod deleted without grace: no kubelet runs that would use the time. */
import type { ApiClient } from '#client/client.ts'
import { unlessOvertaken } from '#controllers/queue-for.ts'
import { pods } from '#controllers/resources.ts'

/** Deletes exactly this pod. The uid precondition protects a new pod with the same name. */
export async function deleteNow(
  client: ApiClient,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
): Promise<void> {
  await unlessOvertaken(client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 }))
}
