import { type Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Logger } from '../../ports/system/logger.ts'
import { NONCE, serviceProofOf } from '../../ports/terminal/service-proof.ts'
import type { AuditService } from '../../services/audit/audit-service.ts'
import { type EventStreamOptions, EventStreams } from './event-stream.ts'
import { Bearer, bearerIn, mustBeForUs, noToken } from './guards.ts'
import { type Call, type HandlerDeps, handlersFor } from './handlers.ts'
import { HttpProblem, problemFrom } from './http-problem.ts'
import { LOOPBACK, type RequestDoor } from './http-server.ts'
import { openApiDocument } from './openapi.ts'
import { readJson } from './read-body.ts'
import { bodiesFor, sessionNamedIn } from './request-bodies.ts'
import { type Operation, ROUTES, type Route } from './routes.ts'

/** The parts of the application. */
export interface AppDeps extends HandlerDeps {
  readonly audit: AuditService
  /** The terminal agents there are, by their names. */
  readonly agents: readonly string[]
  readonly logger: Logger
  readonly master: string
  /** The version of the program. */
  readonly program: string
  /** The start of this machine, which a proof names; empty where the system does not tell. */
  readonly bootId: string
  readonly events?: EventStreamOptions
}

type Env = { readonly Bindings: RequestDoor }

/** The application, and its streams. */
export interface App {
  readonly hono: Hono<Env>
  readonly streams: EventStreams
}

/** Puts the routes together. Each is guarded in the same order: host, origin, token, body, session. */
export const appOf = (deps: AppDeps): App => {
  const { requests, agents, master, program, logger } = deps
  const bodyIn = bodiesFor(agents)
  const hono = new Hono<Env>()
  const streams = new EventStreams(deps.audit, deps.events)
  const answers = { ...handlersFor(deps), openapi: async () => openApiDocument(program, agents) }
  const handle = async (operation: Operation, route: Route, context: Context<Env>): Promise<Response> => {
    if (operation === 'health') return context.json(health(context, deps))
    if (operation === 'prove') return context.json({ proof: proofFor(context, deps) })
    const bearer = bearerOf(context, master)
    if (route.access === 'master') bearer.mustBeMaster()
    // Before the body is read: who has this token may take its time.
    if (bearer.isMaster) context.env.trust()
    const json = route.body === undefined ? undefined : await readJson(context.req.raw, route.mostBytes)
    const id = context.req.param('id') ?? ''
    // Without a token for this very session nobody learns which field of a body is wrong.
    if (route.access === 'session' && id !== '') {
      await bearer.mustOpen(id, requests)
      context.env.trust()
    }
    const body = bodyIn(operation, json)
    if (route.access === 'session' && id === '')
      bearer.mustOpenProvider(sessionNamedIn(body as Parameters<typeof sessionNamedIn>[0]))
    context.env.trust()
    if (operation === 'followEvents') return streams.open(context)
    const isMaster = bearer?.isMaster === true
    const answer = answers[operation] as (call: Call) => Promise<object>
    const call: Call = { id, body, isMaster, query: (name) => context.req.query(name) }
    return context.json(await answer(call), route.status ?? 200)
  }
  hono.use(async (context, next) => {
    mustBeForUs(context.req.raw.headers, context.env.port)
    await next()
    context.header('cache-control', 'no-store')
    context.header('x-content-type-options', 'nosniff')
  })
  for (const [operation, route] of Object.entries(ROUTES as Readonly<Record<Operation, Route>>))
    hono.on(route.method.toUpperCase(), route.path.replace('{id}', ':id'), (context) =>
      handle(operation as Operation, route, context),
    )
  hono.notFound((context) => answerWith(context, noRoute()))
  hono.onError((thrown, context) => {
    const problem = problemFrom(thrown)
    if (problem === undefined || problem.status === 500) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      logger.error({ path: context.req.routePath, problem: why }, 'a request failed')
    }
    return answerWith(context, problem ?? failed())
  })
  return { hono, streams }
}

const bearerIfAny = (context: Context<Env>, master: string): Bearer | undefined => {
  const token = bearerIn(context.req.header('authorization'))
  return token === undefined ? undefined : new Bearer(token, master)
}

const bearerOf = (context: Context<Env>, master: string): Bearer => {
  const bearer = bearerIfAny(context, master)
  if (bearer === undefined) throw noToken()
  return bearer
}

/** A stranger learns no more than that somebody answers, which connecting has told already. */
const health = (context: Context<Env>, { master, program }: AppDeps): z.output<typeof ROUTES.health.answer> => {
  if (bearerIfAny(context, master)?.isMaster !== true) return { status: 'ok' }
  context.env.trust()
  return { status: 'ok', program, pid: process.pid }
}

/** The proof for the port that the question came in at, and no other. Over the socket, where nobody asks for one, there is none. */
const proofFor = (context: Context<Env>, { master, bootId }: AppDeps): string => {
  const { port } = context.env
  const nonce = context.req.query('nonce') ?? ''
  if (port === undefined || !NONCE.test(nonce))
    throw new HttpProblem(400, 'input.invalid', 'Send a nonce of 64 hexadecimal digits to the port of the service.')
  return serviceProofOf(master, nonce, { host: LOOPBACK, port, bootId })
}

const noRoute = (): HttpProblem =>
  new HttpProblem(404, 'route.unknown', 'There is nothing here. GET /openapi.json lists what there is.')

const failed = (): HttpProblem =>
  new HttpProblem(500, 'service.failed', 'The service could not do this. Its log says more.')

const answerWith = (context: Context<Env>, { status, code, message }: HttpProblem): Response => {
  // What is left of a body that was refused is not waited for, and who has no token need not stay.
  if (status === 413 || status === 401) context.header('connection', 'close')
  return context.json({ error: { code, message } }, status)
}
