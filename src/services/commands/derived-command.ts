import { type Sha256, toHex } from '../../domain/kernel/digest.ts'
import { type CommandId, commandId } from '../../domain/kernel/ids.ts'

/** The same command id for the same words, in every process and however often it is asked for (a UUID of version 8). */
export const derivedCommand = (sha256: Sha256, ...words: readonly (string | number)[]): CommandId => {
  const hex = toHex(sha256(new TextEncoder().encode(words.join('\n'))).slice(0, 16))
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/.exec(hex) ?? []
  return commandId(`${a}-${b}-8${c}-8${d}-${e}`)
}
