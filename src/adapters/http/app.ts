import { type Context, Hono } from 'hono'
import type { Logger } from '../../ports/logger.ts'
import type { AuditService } from '../../services/audit-service.ts'
import { type EventStreamOptions, EventStreams } from './event-stream.ts'
import { Bearer, mustBeForUs, noToken } from './guards.ts'
import { type Call, type HandlerDeps, handlersFor, sessionNamedIn } from './handlers.ts'
import { openApiDocument } from './openapi.ts'
import { HttpProblem, problemFrom } from './problems.ts'
import { readJson } from './read-body.ts'
import { type Operation, ROUTES, type Route } from './routes.ts'
import { bearerIn } from './tokens.ts'

/** The parts of the application. */
export interface AppDeps extends HandlerDeps {
  readonly audit: AuditService
  readonly logger: Logger
  readonly master: string
  /** The version of the program. */
  readonly program: string
  /** The port that is listened on, once it is. */
  readonly port: () => number
  readonly events?: EventStreamOptions
}

/** The application, and its streams. */
export interface App {
  readonly hono: Hono
  readonly streams: EventStreams
}

/** Puts the routes together. Each is guarded in the same order: host, origin, token, body, session. */
export const appOf = (deps: AppDeps): App => {
  const { requests, master, program, logger, port } = deps
  const hono = new Hono()
  const streams = new EventStreams(deps.audit, deps.events)
  const answers = {
    ...handlersFor(deps),
    health: async () => ({ status: 'ok', program, pid: process.pid }),
    openapi: async () => openApiDocument(program),
  }
  const handle = async (operation: Operation, route: Route, context: Context): Promise<Response> => {
    const bearer = route.access === 'open' ? undefined : bearerOf(context, master)
    if (route.access === 'master') bearer?.mustBeMaster()
    const body = route.body === undefined ? undefined : await readJson(context.req.raw, route.mostBytes)
    const id = context.req.param('id') ?? ''
    if (route.access === 'session' && id !== '') await bearer?.mustOpen(id, requests)
    else if (route.access === 'session') bearer?.mustOpenProvider(sessionNamedIn(operation, body))
    if (operation === 'followEvents') return streams.open(context)
    const isMaster = bearer?.isMaster === true
    const call: Call = { id, body, isMaster, query: (name) => context.req.query(name) }
    return context.json((await answers[operation](call)) as object, route.status ?? 200)
  }
  hono.use(async (context, next) => {
    mustBeForUs(context.req.raw.headers, port())
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
    if (problem === undefined) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      logger.error({ path: context.req.routePath, problem: why }, 'a request failed')
    }
    return answerWith(context, problem ?? failed())
  })
  return { hono, streams }
}

const bearerOf = (context: Context, master: string): Bearer => {
  const token = bearerIn(context.req.header('authorization'))
  if (token === undefined) throw noToken()
  return new Bearer(token, master)
}

const noRoute = (): HttpProblem =>
  new HttpProblem(404, 'route.unknown', 'There is nothing here. GET /openapi.json lists what there is.')

const failed = (): HttpProblem =>
  new HttpProblem(500, 'service.failed', 'The service could not do this. Its log says more.')

const answerWith = (context: Context, { status, code, message }: HttpProblem): Response => {
  // What is left of a body that was refused is not waited for.
  if (status === 413) context.header('connection', 'close')
  return context.json({ error: { code, message } }, status)
}
