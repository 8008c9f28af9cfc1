import { isSameToken, sessionToken } from '../../ports/terminal/service-proof.ts'
import type { TerminalRequests } from '../../services/terminal/terminal-requests.ts'
import { HttpProblem } from './http-problem.ts'

const HOSTS = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Refuses a request that was meant for another host: a page of some site may have been led here under its own name. Over
 * the socket, where no page comes, the host is one without a port, and there is no origin.
 */
export const mustBeForUs = (headers: Headers, port: number | undefined): void => {
  const names = port === undefined ? HOSTS : HOSTS.map((name) => `${name}:${port}`)
  const host = headers.get('host')?.toLowerCase() ?? ''
  if (!names.includes(host))
    throw new HttpProblem(
      421,
      'host.foreign',
      'This service answers to 127.0.0.1 and localhost only. Use that address.',
    )
  const origin = headers.get('origin')?.toLowerCase()
  const isOwn = port !== undefined && names.some((name) => origin === `http://${name}`)
  if (origin !== undefined && !isOwn)
    throw new HttpProblem(403, 'origin.foreign', 'Pages of other sites may not use this service.')
}

/** The refusal of a request without a token. */
export const noToken = (): HttpProblem =>
  new HttpProblem(401, 'token.missing', 'Send the header authorization: Bearer TOKEN. The token is in service.token.')

const wrongToken = (): HttpProblem =>
  new HttpProblem(403, 'token.wrong', 'That token does not open this. A session’s token opens that session only.')

const TOKEN = /^Bearer ([0-9a-f]{64})$/i

/** The token in an `Authorization` header, if it has the shape of one. */
export const bearerIn = (header: string | undefined): string | undefined => TOKEN.exec(header ?? '')?.[1]?.toLowerCase()

/** The bearer of a token, and what it opens. */
export class Bearer {
  readonly #token: string
  readonly #master: string

  constructor(token: string, master: string) {
    this.#token = token
    this.#master = master
  }

  /** Whether it is the master token, which no agent is given. */
  get isMaster(): boolean {
    return isSameToken(this.#token, this.#master)
  }

  /** @throws HttpProblem unless it is the master token */
  mustBeMaster(): void {
    if (!this.isMaster) throw wrongToken()
  }

  /** @throws HttpProblem unless it opens the session with this name of its runtime */
  mustOpenProvider(providerSessionId: string): void {
    const isSession = isSameToken(this.#token, sessionToken(this.#master, providerSessionId))
    if (!this.isMaster && !isSession) throw wrongToken()
  }

  /** @throws HttpProblem unless it opens the session with this id, ours or the runtime's */
  async mustOpen(id: string, requests: TerminalRequests): Promise<void> {
    const session = await requests.find(id)
    this.mustOpenProvider(session === undefined ? id : (session.providerSessionId ?? ''))
  }
}
