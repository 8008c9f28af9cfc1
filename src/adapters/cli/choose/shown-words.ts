import { HANDOFF_KINDS, type HandoffKind } from '../../../domain/handoff/handoff.ts'
import { kindWord } from '../tree/words.ts'

/** A kind from its own word, or from the one that tables show. @throws TypeError when it is neither */
export const kindFrom = (text: string): HandoffKind => {
  const found = HANDOFF_KINDS.find((kind) => kind === text || kindWord(kind) === text)
  if (found !== undefined) return found
  const words = HANDOFF_KINDS.map((kind) => (kindWord(kind) === kind ? kind : `${kindWord(kind)} (${kind})`))
  throw new TypeError(`it must be one of ${words.join(', ')}.`)
}
