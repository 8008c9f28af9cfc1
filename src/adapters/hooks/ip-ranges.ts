import { BlockList, isIP } from 'node:net'

/** Ranges of addresses of both families. */
export interface Ranges {
  has(address: string): boolean
}

/** Ranges from texts such as `10.0.0.0/8`. A text that is no address is in no range, and neither is one with a zone. */
export const rangesOf = (networks: readonly string[]): Ranges => {
  const list = new BlockList()
  for (const network of networks) {
    const [base = '', bits] = network.split('/')
    list.addSubnet(base, Number(bits), isIP(base) === 6 ? 'ipv6' : 'ipv4')
  }
  return {
    has: (address) => isPlainIP(address) && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  }
}

const isPlainIP = (address: string): boolean => isIP(address) !== 0 && !address.includes('%')

/** The IPv4 address that an IPv4-mapped IPv6 address stands for; any other address is itself. */
export const unmapped = (address: string): string => {
  const groups = isIP(address) === 6 && !address.includes('%') ? groupsOf(address) : []
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.length === 8 && groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.') : address
}

/** The eight groups of an IPv6 address, however it is written. */
const groupsOf = (address: string): readonly number[] => {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1) // without dots, one `::` at most
  const [before = '', after] = written.split('::')
  const [head, tail] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const gap = after === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0')
  return [...head, ...gap, ...tail].map((group) => Number.parseInt(group, 16))
}

/** Whether only zeros stand behind the first bits of an address. */
export const isBase = (address: string, bits: number): boolean => {
  const parts = isIP(address) === 6 ? groupsOf(address) : address.split('.').map(Number)
  const width = isIP(address) === 6 ? 16 : 8
  return parts.every((part, at) => {
    const own = Math.min(width, Math.max(0, bits - at * width))
    return part % 2 ** (width - own) === 0
  })
}
