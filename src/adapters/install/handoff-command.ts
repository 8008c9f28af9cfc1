/** The words in the shipped command file that start our program. */
const PROGRAM = /\bbaton(?= handoff\b)/g

/** The file of `/baton:handoff` for a program that is started in another way. */
export const handoffCommand = (shipped: string, program: string): string =>
  program === 'baton' ? shipped : shipped.replaceAll(PROGRAM, () => program)

/** Whether a text is that file, whatever its program is. */
export const isHandoffCommand = (shipped: string, text: string): boolean => {
  const around = shipped.split(PROGRAM)
  let rest = text
  for (const [at, part] of around.entries()) {
    const found = at === 0 ? (rest.startsWith(part) ? 0 : -1) : rest.indexOf(part)
    if (found === -1 || /\n/.test(rest.slice(0, found))) return false
    rest = rest.slice(found + part.length)
  }
  return rest === ''
}
