/**
 * The words of a thrown value, for a person. Anything can be thrown: an error without a message, an error of another realm
 * or of a compiled program, an object, a text.
 */
export const describeThrown = (thrown: unknown): string => {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  const { message, code, errors, name } = thrown as Readonly<Record<string, unknown>>
  if (typeof message === 'string' && message.trim() !== '') return message
  // Several tries, each with its own reason, as when a host has several addresses.
  if (Array.isArray(errors) && errors.length > 0) return errors.map(describeThrown).join('; ')
  if (typeof code === 'string' && code !== '') return code
  const named = typeof name === 'string' && name !== '' ? name : 'something'
  return `${named} ${contentOf(thrown)}`.trim()
}

const contentOf = (thrown: object): string => {
  try {
    const content = JSON.stringify({ ...thrown, name: undefined })
    return content === '{}' ? '' : content
  } catch {
    return ''
  }
}
