import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openApiFile } from '../../scripts/openapi.ts'
import { openApiDocument } from '../../src/adapters/http/openapi.ts'
import { ROUTES, type Route } from '../../src/adapters/http/routes.ts'
import { ServiceStage } from './stage.ts'

describe('the OpenAPI document', () => {
  it('stands in the documents as the routes have it', () => {
    // Otherwise run npm run docs and npm run format.
    const written = JSON.parse(readFileSync(openApiFile, 'utf8'))
    const { version } = written.info
    expect(written).toEqual(JSON.parse(JSON.stringify(openApiDocument(version, ['claude', 'codex']))))
  })

  it('has every route and no other, each with its body and its answer', async () => {
    await using stage = await ServiceStage.open()
    const { json } = await stage.ask('GET', '/openapi.json')
    const { paths } = json as unknown as { readonly paths: Record<string, Record<string, { requestBody?: object }>> }
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody }]) => `${method} ${path} ${requestBody !== undefined}`),
    )
    const known = Object.values(ROUTES as Readonly<Record<string, Route>>)
    expect(listed.toSorted()).toEqual(
      known.map(({ method, path, body }) => `${method} ${path} ${body !== undefined}`).toSorted(),
    )
  })

  it('is true of what is answered', async () => {
    await using stage = await ServiceStage.open()
    const id = 'p-described'
    const answers = {
      takeEvent: await stage.hook(id, 'session-start', { source: 'startup' }),
      showSession: await stage.ask('GET', `/sessions/${id}`),
      listSessions: await stage.ask('GET', '/sessions'),
      watchSession: await stage.ask('PUT', `/sessions/${id}/monitor`, { body: {} }),
      listSignals: await stage.ask('GET', `/sessions/${id}/signals`),
      health: await stage.ask('GET', '/health'),
    }
    for (const [operation, { json }] of Object.entries(answers)) {
      const { answer } = ROUTES[operation as keyof typeof answers]
      expect(answer.parse(json)).toEqual(json)
    }
  })
})
