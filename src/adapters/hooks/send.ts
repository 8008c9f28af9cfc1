import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isSafeAddress } from '../../domain/hooks/hook-address.ts'
import type { AllowedNetworks } from './allowed-networks.ts'
import { CappedOutput } from './capped-output.ts'
import type { Deadline } from './deadline.ts'
import { failed, type Outcome } from './outcome.ts'
import { type AddressLookup, AddressRefused, checkedLookup, literalAddress, mayReach } from './safe-lookup.ts'

/** One request, with every variable filled in. */
export interface HookRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Values that must not show in a result. */
  readonly secrets: readonly string[]
}

/** How names become addresses, and which private ones may be reached. */
export interface NetworkAccess {
  readonly lookup: AddressLookup
  readonly allowed: AllowedNetworks
}

/** An answer longer than this is not read to its end. */
const MOST_BYTES = 256 * 1024

/** Sends a request once, follows no redirect, and answers with what came back. */
export const sendRequest = async (
  request: HookRequest,
  deadline: Deadline,
  access: NetworkAccess,
): Promise<Outcome> => {
  const wrong = addressProblem(request.url, access.allowed)
  if (wrong !== undefined) return failed('hook.address_refused', wrong)
  if (deadline.signal.aborted) return deadline.outcome()
  try {
    return await post(new URL(request.url), request, deadline.signal, access)
  } catch (error) {
    if (deadline.signal.aborted) return deadline.outcome()
    if (error instanceof AddressRefused) return failed('hook.address_refused', PRIVATE)
    // Only the code: a message from below may name the address, which is often a secret itself.
    return failed('hook.unreachable', `The server could not be reached (${codeOf(error)}).`)
  }
}

const PRIVATE = 'Its address leads into a private network that is not allowed (allowNetworks, --allow-network).'

/** Why nothing may be sent to an address; what a name stands for is looked up and checked at the connection. */
export const addressProblem = (address: string, allowed: AllowedNetworks): string | undefined => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !isSafeAddress(url)) return 'Its address is not https, and is not on this machine.'
  // A host that is an address already is never looked up.
  const literal = literalAddress(url.hostname)
  return literal === undefined || mayReach(url.hostname, literal, allowed) ? undefined : PRIVATE
}

const codeOf = (error: unknown): string => {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : 'no reason given'
}

const post = async (url: URL, request: HookRequest, signal: AbortSignal, access: NetworkAccess): Promise<Outcome> => {
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest
  const sent = open(url, {
    method: request.method,
    headers: { ...request.headers, host: url.host, 'content-length': Buffer.byteLength(request.body) },
    lookup: checkedLookup(url.hostname, access.lookup, access.allowed),
    agent: false, // a connection of its own: one that is kept was checked for somebody else
    signal,
  })
  const response = await answerTo(sent, request.body)
  return outcomeOf(response, await bodyOf(response), request.secrets)
}

const answerTo = (sent: ClientRequest, body: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('response', resolve)
    sent.on('error', reject)
    // A server that wants another protocol gives no response, and a connection may close without one.
    sent.on('upgrade', (_, socket) => socket.destroy())
    sent.on('close', () => reject(new Error('There was no response.')))
    sent.end(body)
  })

const bodyOf = async (response: IncomingMessage): Promise<CappedOutput> => {
  const output = new CappedOutput()
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    output.add(chunk)
    bytes += chunk.length
    if (bytes <= MOST_BYTES) continue
    output.stopHere()
    break // which also closes the connection
  }
  return output
}

const outcomeOf = (response: IncomingMessage, body: CappedOutput, secrets: readonly string[]): Outcome => {
  const httpStatus = response.statusCode ?? 0
  const trace = { output: body.text(secrets), httpStatus }
  if (httpStatus >= 200 && httpStatus < 300) return trace
  if (httpStatus >= 300 && httpStatus < 400) {
    return failed('hook.redirected', `The server sent it elsewhere (${httpStatus}); redirects are not followed.`, trace)
  }
  return failed('hook.http_status', `The server answered with status ${httpStatus}.`, trace)
}
