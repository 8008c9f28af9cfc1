const MASK = '***'

/** Passwords in addresses of servers, whatever text they stand in. */
const IN_ADDRESS = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/]*:)[^\s@/]+@/gi

/** Tokens of the service are 64 hexadecimal characters; nothing else that is shown looks like that. */
const TOKEN = /\b[0-9a-f]{64}\b/gi

/** Makes what hides secrets in a text: those that are known, and everything that looks like one. */
export const hidingSecrets = (given: readonly string[]): ((text: string) => string) => {
  const secrets = given.filter((secret) => secret.length >= 3)
  return (text) =>
    secrets
      .reduce((shown, secret) => shown.replaceAll(secret, MASK), text)
      .replaceAll(IN_ADDRESS, `$1${MASK}@`)
      .replaceAll(TOKEN, MASK)
}

/** The secrets in the address of a server, as it is written and as it is meant. */
export const secretsIn = (address: string | undefined): readonly string[] => {
  // Several hosts are no URL; here they do not matter.
  const single = address?.replace(/^([a-z]+:\/\/(?:[^/?#]*@)?)[^/?#@]*,[^/?#@]*/i, '$1hosts')
  if (single === undefined || !URL.canParse(single)) return []
  const { password, searchParams } = new URL(single)
  const named = [...searchParams].flatMap(([name, value]) => (/pass|secret|token|key/i.test(name) ? [value] : []))
  return [password, decoded(password), ...named].filter((secret) => secret !== '')
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
