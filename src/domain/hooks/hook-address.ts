const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

/** Whether a host's name can only mean this machine. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK.test(hostname)

/** Where a hook may send to: https, or this machine, where nobody listens in between. */
export const isSafeAddress = ({
  protocol,
  hostname,
}: {
  readonly protocol: string
  readonly hostname: string
}): boolean => protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
