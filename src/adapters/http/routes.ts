import { z } from 'zod'
import * as schemas from './schemas.ts'

/** Who may ask: anybody, a program with the token of that session, or only one with the master token. */
export type RouteAccess = 'open' | 'session' | 'master'

/** One route. The application and its OpenAPI document are made from the same table. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** With `{id}` for the session: our id, or the runtime's own. */
  readonly path: string
  readonly summary: string
  readonly access: RouteAccess
  /** Some bodies name a terminal agent, so they depend on which there are. */
  readonly body?: z.ZodType | ((agents: readonly string[]) => z.ZodType)
  /** The largest body, where it may be larger than others: a long text grows when it is put into JSON. */
  readonly mostBytes?: number
  readonly query?: Readonly<Record<string, string>>
  /** The status and the body of an answer; a stream of events has no schema. */
  readonly status?: 201
  readonly answer: z.ZodType | 'events'
}

/** Every route there is. */
export const ROUTES = {
  health: {
    method: 'get',
    path: '/health',
    summary: 'Says that the service runs; with the master token, also which program and process it is.',
    access: 'open',
    answer: z.object({ status: z.literal('ok'), program: z.string().optional(), pid: z.int().optional() }),
  },
  prove: {
    method: 'get',
    path: '/proof',
    summary:
      'Proves that this server knows the master token, before a client sends it anything: an HMAC over the nonce, the address, the port and the start of the machine.',
    access: 'open',
    query: { nonce: '64 hexadecimal digits, made by the client for this question' },
    answer: z.object({ proof: z.string() }),
  },
  openapi: {
    method: 'get',
    path: '/openapi.json',
    summary: 'This document.',
    access: 'master',
    answer: z.looseObject({ openapi: z.string() }),
  },
  takeEvent: {
    method: 'post',
    path: '/hooks/events',
    summary: 'Takes an event of a hook, and answers with what the session is to be told.',
    access: 'session',
    body: schemas.hookEventBody,
    answer: schemas.hookAnswer,
  },
  takeUsage: {
    method: 'post',
    path: '/hooks/context-usage',
    summary: 'Takes a sample of a window, or that it was compacted or emptied.',
    access: 'session',
    body: schemas.contextUsageBody,
    answer: schemas.contextUsageAnswer,
  },
  registerSession: {
    method: 'post',
    path: '/sessions',
    summary: 'Registers a terminal session, or finds it again.',
    access: 'session',
    body: schemas.registerBody,
    status: 201,
    answer: schemas.sessionAnswer,
  },
  listSessions: {
    method: 'get',
    path: '/sessions',
    summary: 'Lists sessions, newest first.',
    access: 'master',
    query: {
      after: 'the `next` of the page before',
      limit: 'at most so many, 1 to 1000',
      working_in: 'only those that work in the workspace of this folder now; all of them',
      handing_in: 'the same; where none works there, the one that ended there last',
    },
    answer: schemas.sessionList,
  },
  showSession: {
    method: 'get',
    path: '/sessions/{id}',
    summary: 'Shows a session, its window and its newest handoff.',
    access: 'session',
    answer: schemas.sessionAnswer,
  },
  recordTurns: {
    method: 'post',
    path: '/sessions/{id}/turns',
    summary: 'Records turns, all or none.',
    access: 'session',
    body: schemas.turnsBody,
    answer: schemas.turnsAnswer,
  },
  watchSession: {
    method: 'put',
    path: '/sessions/{id}/monitor',
    summary: 'Watches the window of a session; switching it on and other milestones arm it anew.',
    access: 'session',
    body: schemas.monitorBody,
    answer: schemas.monitorAnswer,
  },
  unwatchSession: {
    method: 'delete',
    path: '/sessions/{id}/monitor',
    summary: 'Stops watching: readings are kept, and nothing is signalled.',
    access: 'session',
    answer: schemas.monitorAnswer,
  },
  listSignals: {
    method: 'get',
    path: '/sessions/{id}/signals',
    summary: 'Lists the signals that wait for a session.',
    access: 'session',
    answer: z.object({ signals: z.array(schemas.signal) }),
  },
  acknowledgeSignals: {
    method: 'post',
    path: '/sessions/{id}/signals/ack',
    summary: 'Says that a session was told.',
    access: 'session',
    body: schemas.ackBody,
    answer: z.object({ acknowledged: z.int() }),
  },
  requestHandoff: {
    method: 'post',
    path: '/sessions/{id}/handoff',
    summary: 'Leaves a document for the next session of the workspace, or begins a handoff to another agent.',
    access: 'session',
    body: schemas.handoffBody,
    mostBytes: 8 * 1024 * 1024,
    status: 201,
    answer: schemas.handoffAnswerSchema,
  },
  withdrawDocument: {
    method: 'delete',
    path: '/sessions/{id}/handoff',
    summary: 'Takes the document back that waits for the next session.',
    access: 'session',
    answer: schemas.pendingAnswer,
  },
  followEvents: {
    method: 'get',
    path: '/events',
    summary: 'Streams milestones, compactions, handoffs and sessions as they happen (server-sent events).',
    access: 'master',
    answer: 'events',
  },
} as const satisfies Readonly<Record<string, Route>>

/** The name of a route. */
export type Operation = keyof typeof ROUTES
