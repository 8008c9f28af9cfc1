import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A certificate and its key, as PEM. */
export interface Certified {
  readonly certificate: string
  readonly key: string
}

/** Somebody who signs certificates. */
export interface Authority extends Certified {
  /** A certificate of a server under this name. */
  issue(host: string): Certified
}

/** DER, by hand: a tag, a length, and what is in it. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const { length } = body
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const list = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value))

const ECDSA_SHA256 = list(objectId('2a8648ce3d040302'))
const COMMON_NAME = objectId('550403')
const BASIC_CONSTRAINTS = objectId('551d13')
const ALTERNATIVE_NAMES = objectId('551d11')
const TRUE = der(0x01, Buffer.from([0xff]))

const named = (name: string): Buffer => list(der(0x31, list(COMMON_NAME, text(0x0c, name))))

let serial = 0

const signed = (
  about: { readonly subject: string; readonly issuer: string; readonly extension: Buffer },
  publicKey: KeyObject,
  signer: KeyObject,
): string => {
  serial += 1
  const body = list(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([serial])),
    ECDSA_SHA256,
    named(about.issuer),
    list(text(0x17, '200101000000Z'), text(0x17, '491231235959Z')),
    named(about.subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, list(about.extension)),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, signer))
  const base64 = list(body, ECDSA_SHA256, signature).toString('base64').replace(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** An authority of this test's own. No program is needed: the certificates are written here, byte by byte. */
export const makeAuthority = (name: string): Authority => {
  const own = newKeys()
  const isAuthority = list(BASIC_CONSTRAINTS, TRUE, der(0x04, list(TRUE)))
  return {
    key: pem(own.privateKey),
    certificate: signed({ subject: name, issuer: name, extension: isAuthority }, own.publicKey, own.privateKey),
    issue: (host) => {
      const theirs = newKeys()
      const extension = list(ALTERNATIVE_NAMES, der(0x04, list(text(0x82, host))))
      const certificate = signed({ subject: host, issuer: name, extension }, theirs.publicKey, own.privateKey)
      return { certificate, key: pem(theirs.privateKey) }
    },
  }
}
