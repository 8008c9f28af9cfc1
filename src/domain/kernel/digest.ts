/** SHA-256. Given from outside: the domain has no way to compute it. */
export type Sha256 = (data: Uint8Array) => Uint8Array

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Bytes as base64 without padding: 43 characters for a SHA-256, where hexadecimal takes 64. */
export const toBase64 = (bytes: Uint8Array): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second, third] = bytes.subarray(at, at + 3)
    text += BASE64.charAt(first >> 2) + BASE64.charAt(((first & 3) << 4) | ((second ?? 0) >> 4))
    if (second !== undefined) text += BASE64.charAt(((second & 15) << 2) | ((third ?? 0) >> 6))
    if (third !== undefined) text += BASE64.charAt(third & 63)
  }
  return text
}

/** Bytes as lower-case hexadecimal. */
export const toHex = (bytes: Uint8Array): string => {
  let hex = ''
  for (const byte of bytes) hex += HEX[byte]
  return hex
}
