/** The spec of a priority level, member by member, as kube-apiserver holds it inside. */
import { form } from '#kinds/all-kinds/internal-form.ts'

export const levelSpecForm = form({
  Type: 'text',
  Limited: form({
    NominalConcurrencyShares: 'number',
    LimitResponse: {
      inline: form({
        Type: 'text',
        Queuing: form({ Queues: 'number', HandSize: 'number', QueueLengthLimit: 'number' }),
      }),
    },
    LendablePercent: 'any',
    BorrowingLimitPercent: 'any',
  }),
  Exempt: form({ NominalConcurrencyShares: 'any', LendablePercent: 'any' }),
})
