import { z } from 'zod'
import { PROBLEM_STATUSES } from './http-problem.ts'
import { ROUTES, type Route } from './routes.ts'
import { problem } from './schemas.ts'

const json = (schema: z.ZodType) => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return { 'application/json': { schema: described } }
}

const answerOf = ({ answer }: Route) =>
  answer === 'events' ? { 'text/event-stream': { schema: { type: 'string' } } } : json(answer)

const parametersOf = ({ path, query = {} }: Route) => [
  ...(path.includes('{id}')
    ? [
        {
          name: 'id',
          in: 'path',
          required: true,
          description: 'Our id or the runtime’s own.',
          schema: { type: 'string' },
        },
      ]
    : []),
  ...Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  })),
]

const described = (operationId: string, route: Route, agents: readonly string[]) => ({
  operationId,
  summary: route.summary,
  ...(route.access === 'open' ? { security: [] } : { description: `Needs the ${route.access} token.` }),
  parameters: parametersOf(route),
  ...(route.body !== undefined && {
    requestBody: { required: true, content: json(typeof route.body === 'function' ? route.body(agents) : route.body) },
  }),
  responses: {
    [route.status ?? 200]: { description: 'Done.', content: answerOf(route) },
    default: { description: `A problem: ${PROBLEM_STATUSES.join(', ')}.`, content: json(problem) },
  },
})

/** The OpenAPI document of the service, made from the routes it has. */
export const openApiDocument = (version: string, agents: readonly string[]) => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [operation, route] of Object.entries(ROUTES as Readonly<Record<string, Route>>)) {
    paths[route.path] ??= {}
    Object.assign(paths[route.path] ?? {}, { [route.method]: described(operation, route, agents) })
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Batonpass service',
      version,
      description: 'Terminal sessions on this machine: their windows, signals, turns and handoffs. Loopback only.',
    },
    servers: [{ url: 'http://127.0.0.1' }],
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}
