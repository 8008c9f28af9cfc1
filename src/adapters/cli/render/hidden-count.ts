import type { RedactionCounts } from '../../../domain/secrets/redaction-settings.ts'

/** How much was hidden, as a sentence. Nothing where nothing was. */
export const hiddenText = ({ hidden, withheld }: RedactionCounts): string | undefined => {
  const parts = [
    ...(hidden === 0 ? [] : [`${hidden} ${hidden === 1 ? 'secret was' : 'secrets were'} hidden`]),
    ...(withheld === 0 ? [] : [`${withheld} ${withheld === 1 ? 'text was' : 'texts were'} withheld`]),
  ]
  return parts.length === 0 ? undefined : `${parts.join(', ')}, and kept out of the record.`
}
