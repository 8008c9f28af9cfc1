import { randomBytes } from 'node:crypto'
import type { Agent, RequestOptions } from 'node:http'
import { isRecord } from '../../domain/kernel/record.ts'
import { isSameToken, type ProvenPlace, serviceProofOf } from '../../ports/terminal/service-proof.ts'
import type { ServiceAddress } from './service-address.ts'

/** The server on the port did not show that it knows the secret. It was sent nothing but a random number. */
export class Unproven extends Error {
  override readonly name = 'Unproven'
}

const MOST_BYTES = 4_096

/**
 * The options of a request that reaches the service and nobody else. At a socket the kernel vouches for that; at a port the
 * server proves it first, and the request goes over that same connection or not at all.
 *
 * @throws Unproven before any token is sent
 */
export const wayToService = async ({ door, master }: ServiceAddress, ms: number): Promise<RequestOptions> => {
  if ('socket' in door) return { socketPath: door.socket, agent: false }
  const { host, port } = door
  const agent = await oneConnection(door)
  try {
    const nonce = randomBytes(32).toString('hex')
    const proof = await proofFrom({ host, port, agent }, nonce, ms)
    if (!isSameToken(proof, serviceProofOf(master, nonce, door))) throw new Unproven('it does not know the secret')
    return { host, port, agent }
  } catch (problem) {
    agent.destroy()
    throw problem
  }
}

/** An agent that connects once: after a proof nobody is connected to again, who may be somebody else. */
const oneConnection = async ({ host, port }: ProvenPlace): Promise<Agent> => {
  const [http, { connect, Socket }] = await Promise.all([import('node:http'), import('node:net')])
  let isConnected = false
  class OneConnection extends http.Agent {
    override createConnection() {
      if (!isConnected) {
        isConnected = true
        return connect({ host, port })
      }
      const none = new Socket()
      // Once the request listens for what happens to it.
      setImmediate(() => none.destroy(new Unproven('it hung up after its proof')))
      return none
    }
  }
  return new OneConnection({ keepAlive: true, maxSockets: 1 })
}

const proofFrom = async (options: RequestOptions, nonce: string, ms: number): Promise<string> => {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const asking = request({ ...options, path: `/proof?nonce=${nonce}` }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.length > MOST_BYTES) asking.destroy(new Unproven('it answered with something else'))
      })
      response.once('error', reject)
      // After the connection was given back, so that the next request finds it.
      response.once('end', () => setImmediate(() => resolve(proofIn(text))))
    })
    const timer = setTimeout(() => asking.destroy(new Unproven('it did not prove itself in time')), ms)
    asking.once('error', reject)
    asking.once('close', () => clearTimeout(timer))
    asking.end()
  })
}

const proofIn = (text: string): string => {
  try {
    const answer: unknown = JSON.parse(text)
    return isRecord(answer) && typeof answer.proof === 'string' ? answer.proof : ''
  } catch {
    return ''
  }
}
