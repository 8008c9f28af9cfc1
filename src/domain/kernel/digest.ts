/** SHA-256. Given from outside: the domain has no way to compute it. */
export type Sha256 = (data: Uint8Array) => Uint8Array

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Bytes as lower-case hexadecimal. */
export const toHex = (bytes: Uint8Array): string => {
  let hex = ''
  for (const byte of bytes) hex += HEX[byte]
  return hex
}
